// ES modules: where a specifier leads, and the text of what is there. The engine does the rest.
'use strict';

const engine = binding('engine');
const files = binding('files');
const { make } = require('errors');
const { absolute, asFileOrFolder, inImports, inNodeModules, isFolder, packageOf } = require('resolve');
const Module = require('modules');
const exportsOf = require('cjs_exports');

const CONDITIONS = new Set(['node', 'import', 'node-addons']);

const ERR_MODULE_NOT_FOUND = make('ERR_MODULE_NOT_FOUND', Error, (what, base, kind) =>
  `Cannot find ${kind} '${what}' imported from ${base}`);
const ERR_UNSUPPORTED_DIR_IMPORT = make('ERR_UNSUPPORTED_DIR_IMPORT', Error, (path, base) =>
  `Directory import '${path}' is not supported resolving ES modules imported from ${base}`);
const ERR_UNKNOWN_FILE_EXTENSION = make('ERR_UNKNOWN_FILE_EXTENSION', TypeError, (extension, path) =>
  `Unknown file extension "${extension}" for ${path}`);
const ERR_UNSUPPORTED_ESM_URL_SCHEME = make('ERR_UNSUPPORTED_ESM_URL_SCHEME', Error, (scheme) =>
  `Only URLs with a scheme in: file, data, and node are supported by the default ESM loader. Received protocol '${scheme}'`);
const ERR_IMPORT_ASSERTION_TYPE_MISSING = make('ERR_IMPORT_ASSERTION_TYPE_MISSING', TypeError, (url) =>
  `Module "${url}" needs an import assertion of type "json"`);

function toUrl(path) {
  return `file://${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}`;
}

function toPath(url) {
  return decodeURIComponent(url.replace(/^file:\/\//, '').replace(/[?#].*$/s, ''));
}

// The URL that a specifier in the module or script `base` leads to.
function resolve(base, specifier) {
  const from = base.startsWith('file://') ? toPath(base) : base.startsWith('/') ? base : absolute('x');
  if (Module.isBuiltin(specifier)) return specifier.startsWith('node:') ? specifier : `node:${specifier}`;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(specifier)?.[1];
  if (scheme === 'node') return specifier;
  if (scheme === 'data') return specifier;
  if (scheme !== undefined && scheme !== 'file') throw new ERR_UNSUPPORTED_ESM_URL_SCHEME(`${scheme}:`);
  const query = /[?#].*$/s.exec(specifier)?.[0] ?? '';
  const bare = specifier.slice(0, specifier.length - query.length);
  if (scheme === 'file') return checked(toPath(bare), from, query);
  if (/^(\/|\.\.?(\/|$))/.test(bare)) return checked(absolute(decodeURIComponent(bare), from.slice(0, from.lastIndexOf('/')) || '/'), from, query);
  if (specifier.startsWith('#')) {
    const found = inImports(specifier, from, CONDITIONS);
    return found.startsWith('/') ? checked(found, from, '') : resolve(base, found);
  }
  const found = inNodeModules(bare, from.slice(0, from.lastIndexOf('/')) || '/', CONDITIONS, from, (place, parts, path) => {
    if (!isFolder(path)) return undefined;
    if (parts.subpath !== '.') return absolute(parts.subpath, path);
    return asFileOrFolder(path, ['.js', '.json', '.node'], true) ?? path;
  });
  if (found === undefined) throw new ERR_MODULE_NOT_FOUND(bare, from, 'package');
  return checked(found, from, query);
}

function checked(path, from, query) {
  const kind = files.kind(path);
  if (kind === 1) throw new ERR_UNSUPPORTED_DIR_IMPORT(path, from);
  if (kind < 0) throw new ERR_MODULE_NOT_FOUND(path, from, 'module');
  return toUrl(files.realPath(path)) + query;
}

function load(url, type) {
  if (url.startsWith('node:')) return synthetic(url, Object.keys(Module._loadBuiltin(url)), () => Module._loadBuiltin(url));
  if (url.startsWith('data:')) return data(url, type);
  const path = toPath(url);
  const extension = /[^/](\.[^./]*)$/.exec(path)?.[1] ?? '';
  switch (extension) {
    case '.mjs':
      return { source: files.readText(path).replace(/^#!.*/, '') };
    case '.json': {
      if (type !== 'json') throw new ERR_IMPORT_ASSERTION_TYPE_MISSING(url);
      return synthetic(url, [], () => Module._load(path, null, false));
    }
    case '.cjs':
      return commonJs(url, path);
    case '.js':
    case '':
      if (packageOf(path)?.type === 'module') return { source: files.readText(path).replace(/^#!.*/, '') };
      return commonJs(url, path);
    default:
      throw new ERR_UNKNOWN_FILE_EXTENSION(extension, path);
  }
}

function commonJs(url, path) {
  return synthetic(url, exportsOf(path), () => Module._load(path, null, false));
}

function data(url, type) {
  const match = /^data:([^,;]*)((?:;[^,;]*)*),(.*)$/s.exec(url);
  let body = decodeURIComponent(match[3]);
  if (match[2].includes(';base64')) body = atob(body);
  if (match[1] === 'application/json' || type === 'json') return synthetic(url, [], () => JSON.parse(body));
  return { source: body };
}

// A module with the values of something that is none.
function synthetic(url, names, make) {
  let source = 'const value = import.meta.take();\nexport default value;\n';
  let number = 0;
  for (const name of names) {
    if (name === 'default' || !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) continue;
    source += `const v${number} = value?.${name};\nexport { v${number++} as ${name} };\n`;
  }
  return { source, take: make };
}

// Makes `import.meta` of a module.
function meta(object, url, take) {
  if (take) {
    object.take = () => { delete object.take; return take(); };
    return;
  }
  object.url = url;
  object.resolve = (specifier) => resolve(url, specifier);
  if (url.startsWith('file://')) {
    object.filename = toPath(url);
    object.dirname = object.filename.replace(/\/[^/]*$/, '') || '/';
  }
}

engine.setModuleHooks(resolve, load, meta);

// The body of the main module runs as a microtask, as everything behind an await does: its microtasks come before its
// ticks.
function runMain(path) {
  const url = toUrl(path);
  process.argv[1] = path;
  let settled = false;
  Promise.resolve().then(() => engine.importModule(url)).then(
    () => { settled = true; },
    (error) => { settled = true; process._triggerUncaught(error, false); },
  );
  // A main module that waits for what never comes: Node's exit code for that is 13.
  process.on('exit', () => {
    if (!settled && process.exitCode === undefined) process.exitCode = 13;
  });
}

module.exports = { resolve, runMain };
