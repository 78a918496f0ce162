// Where a specifier leads: Node's rules for files, folders, node_modules and the fields of package.json.
'use strict';

const process = require('process');
const files = binding('files');
const { make } = require('errors');

const ERR_PACKAGE_PATH_NOT_EXPORTED = make('ERR_PACKAGE_PATH_NOT_EXPORTED', Error, (folder, subpath, base) => {
  const from = base ? ` imported from ${base}` : '';
  return subpath === '.' ? `No "exports" main defined in ${folder}package.json${from}` :
    `Package subpath '${subpath}' is not defined by "exports" in ${folder}package.json${from}`;
});
const ERR_PACKAGE_IMPORT_NOT_DEFINED = make('ERR_PACKAGE_IMPORT_NOT_DEFINED', TypeError, (name, folder, base) =>
  `Package import specifier "${name}" is not defined${folder ? ` in package ${folder}package.json` : ''} imported from ${base}`);
const ERR_INVALID_MODULE_SPECIFIER = make('ERR_INVALID_MODULE_SPECIFIER', TypeError, (name, why, base) =>
  `Invalid module "${name}" ${why}${base ? ` imported from ${base}` : ''}`);
const ERR_INVALID_PACKAGE_TARGET = make('ERR_INVALID_PACKAGE_TARGET', Error, (folder, key, target, isImport) =>
  `Invalid ${isImport ? '"imports"' : '"exports"'} target ${JSON.stringify(target)} defined for '${key}' in the package config ${folder}package.json` +
  `${!isImport && typeof target === 'string' && !target.startsWith('./') ? '; targets must start with "./"' : ''}`);
const ERR_INVALID_PACKAGE_CONFIG = make('ERR_INVALID_PACKAGE_CONFIG', Error, (path, message) =>
  `Invalid package config ${path}.${message ? ` ${message}` : ''}`);

function dirname(path) {
  const at = path.lastIndexOf('/');
  return at <= 0 ? '/' : path.slice(0, at);
}

function absolute(path, base) {
  const parts = [];
  for (const part of (path.startsWith('/') ? path : `${base ?? process.cwd()}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

const isFile = (path) => files.kind(path) === 0;
const isFolder = (path) => files.kind(path) === 1;

const packages = new Map();
// The package.json in this folder, with the folder's path; undefined if there is none.
function packageIn(folder) {
  if (packages.has(folder)) return packages.get(folder);
  const path = folder === '/' ? '/package.json' : `${folder}/package.json`;
  let found;
  if (isFile(path)) {
    try {
      const { name, main, exports, imports, type } = JSON.parse(files.readText(path));
      found = { folder, path, name, main, exports, imports, type };
    } catch (error) {
      throw new ERR_INVALID_PACKAGE_CONFIG(path, error.message);
    }
  }
  packages.set(folder, found);
  return found;
}

// The package that a file belongs to.
function packageOf(path) {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!folder.endsWith('/node_modules')) {
      const found = packageIn(folder);
      if (found !== undefined) return found;
    }
    if (folder === '/') return undefined;
  }
}

// The node_modules folders that are looked into from this one.
function nodeModulePaths(folder) {
  const paths = [];
  for (let at = folder; ; at = dirname(at)) {
    if (!at.endsWith('/node_modules')) paths.push(at === '/' ? '/node_modules' : `${at}/node_modules`);
    if (at === '/') return paths;
  }
}

function withExtension(path, extensions) {
  for (const extension of extensions) {
    if (isFile(path + extension)) return path + extension;
  }
  return undefined;
}

// What require() finds at a path: the file, the file with an extension, or the folder's main.
function asFileOrFolder(path, extensions, wantsFolder) {
  if (!wantsFolder) {
    const found = isFile(path) ? path : withExtension(path, extensions);
    if (found !== undefined) return found;
  }
  if (!isFolder(path)) return undefined;
  const main = packageIn(path)?.main;
  if (typeof main === 'string' && main !== '') {
    const target = absolute(main, path);
    const found = isFile(target) ? target : withExtension(target, extensions) ?? withExtension(`${target}/index`, extensions);
    if (found !== undefined) return found;
  }
  return withExtension(`${path}/index`, extensions);
}

// `name`, `@scope/name`, and what comes behind.
function split(specifier) {
  const match = /^((?:@[^/\\%]+\/)?[^./\\%@][^/\\%]*)(\/.*)?$/.exec(specifier);
  return match && { name: match[1], subpath: `.${match[2] ?? ''}` };
}

const INVALID_PARTS = /(^|\/)(\.\.?|node_modules)(\/|$)/;

// The target of a specifier in the field `exports` or `imports`: a path, undefined, or null where it is forbidden. `imports`
// may lead to other packages: `bare` finds them, for `exports` it is missing.
function target(folder, value, key, star, conditions, base, bare) {
  if (typeof value === 'string') {
    if (!value.startsWith('./')) {
      if (bare && !value.startsWith('../') && !value.startsWith('/')) {
        return bare(star === undefined ? value : value.replaceAll('*', star), folder);
      }
      throw new ERR_INVALID_PACKAGE_TARGET(`${folder}/`, key, value, bare !== undefined);
    }
    if (star !== undefined && INVALID_PARTS.test(star)) {
      throw new ERR_INVALID_MODULE_SPECIFIER(key.replace('*', star), `request is not a valid match in pattern "${key}" for the ` +
        `"${bare ? 'imports' : 'exports'}" resolution of ${folder}/package.json`, conditions.has('import') ? base : null);
    }
    if (INVALID_PARTS.test(value.slice(2))) {
      throw new ERR_INVALID_PACKAGE_TARGET(`${folder}/`, key, value, bare !== undefined);
    }
    return absolute(star === undefined ? value : value.replaceAll('*', star), folder);
  }
  if (Array.isArray(value)) {
    let last;
    for (const each of value) {
      try {
        const found = target(folder, each, key, star, conditions, base, bare);
        if (found !== undefined && found !== null) return found;
        last = found;
      } catch (error) {
        if (error.code !== 'ERR_INVALID_PACKAGE_TARGET') throw error;
        last = undefined;
      }
    }
    return last;
  }
  if (typeof value === 'object' && value !== null) {
    for (const [condition, each] of Object.entries(value)) {
      if (condition !== 'default' && !conditions.has(condition)) continue;
      const found = target(folder, each, key, star, conditions, base, bare);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (value === null) return null;
  throw new ERR_INVALID_PACKAGE_TARGET(`${folder}/`, key, value, bare !== undefined);
}

// Looks a key up in `exports` or `imports`: itself, or the longest pattern that fits.
function lookUp(folder, table, key, conditions, base, bare) {
  if (Object.hasOwn(table, key) && !key.includes('*')) {
    return target(folder, table[key], key, undefined, conditions, base, bare);
  }
  let best;
  for (const pattern of Object.keys(table)) {
    const star = pattern.indexOf('*');
    if (star < 0 || !key.startsWith(pattern.slice(0, star))) continue;
    const tail = pattern.slice(star + 1);
    if (key.length < pattern.length || !key.endsWith(tail)) continue;
    if (best === undefined || star > best.star || (star === best.star && pattern.length > best.pattern.length)) {
      best = { pattern, star, fill: key.slice(star, key.length - tail.length) };
    }
  }
  return best && target(folder, table[best.pattern], best.pattern, best.fill, conditions, base, bare);
}

function inExports(found, subpath, conditions, base) {
  let { exports } = found;
  if (typeof exports === 'string' || Array.isArray(exports) || !Object.keys(exports).some((key) => key.startsWith('.'))) {
    exports = { '.': exports };
  }
  const path = lookUp(found.folder, exports, subpath, conditions, base);
  if (path === undefined || path === null) {
    throw new ERR_PACKAGE_PATH_NOT_EXPORTED(`${found.folder}/`, subpath, conditions.has('import') ? base : null);
  }
  return path;
}

// A specifier that begins with `#`: only the package itself says where it leads.
function inImports(specifier, base, conditions, bare) {
  if (specifier === '#' || specifier.startsWith('#/') || specifier.endsWith('/')) {
    throw new ERR_INVALID_MODULE_SPECIFIER(specifier, 'is not a valid internal imports specifier name', base);
  }
  const found = packageOf(base);
  if (found?.imports) {
    const path = lookUp(found.folder, found.imports, specifier, conditions, base, bare);
    if (path !== undefined && path !== null) return path;
  }
  throw new ERR_PACKAGE_IMPORT_NOT_DEFINED(specifier, found && `${found.folder}/`, base);
}

// What a package says of a bare specifier by `exports`: in the package of the base itself, or in node_modules. Undefined
// if none is found. A package without `exports` is up to `loose`.
function inNodeModules(specifier, folder, conditions, base, loose) {
  const parts = split(specifier);
  if (!parts) return loose?.(specifier, folder);
  const own = packageOf(`${folder}/x`);
  if (own?.exports !== undefined && own.exports !== null && own.name === parts.name) {
    return inExports(own, parts.subpath, conditions, base);
  }
  for (const place of nodeModulePaths(folder)) {
    const path = `${place}/${parts.name}`;
    const found = isFolder(path) ? packageIn(path) : undefined;
    if (found?.exports !== undefined && found.exports !== null) return inExports(found, parts.subpath, conditions, base);
    const other = loose?.(place, parts, path, found);
    if (other !== undefined) return other;
  }
  return undefined;
}

module.exports = {
  absolute, asFileOrFolder, dirname, inImports, inNodeModules, isFile, isFolder, nodeModulePaths, packageIn, packageOf, split,
};
