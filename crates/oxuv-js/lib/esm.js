// ES modules: where a specifier leads, and the text of what is there. The engine does the rest.
'use strict';

const process = require('process');
const engine = binding('engine');
const files = binding('files');
const { addFrame, make, sources } = require('errors');
const { absolute, asFileOrFolder, inImports, inNodeModules, isFolder, packageOf, split } = require('resolve');
const Module = require('modules');
const exportsOf = require('cjs_exports');

const { isModuleText, plain } = Module.internal;

const CONDITIONS = new Set(['node', 'import', 'node-addons']);

const ERR_MODULE_NOT_FOUND = make('ERR_MODULE_NOT_FOUND', Error, (what, base, kind) =>
  `Cannot find ${kind} '${what}' imported from ${base}${kind === 'package' ? require('internal/missing')(what) : ''}`);
const ERR_UNSUPPORTED_DIR_IMPORT = make('ERR_UNSUPPORTED_DIR_IMPORT', Error, (path, base) =>
  `Directory import '${path}' is not supported resolving ES modules imported from ${base}`);
const ERR_UNKNOWN_FILE_EXTENSION = make('ERR_UNKNOWN_FILE_EXTENSION', TypeError, (extension, path) =>
  `Unknown file extension "${extension}" for ${path}`);
const ERR_UNSUPPORTED_ESM_URL_SCHEME = make('ERR_UNSUPPORTED_ESM_URL_SCHEME', Error, (scheme) =>
  `Only URLs with a scheme in: file, data, and node are supported by the default ESM loader. Received protocol '${scheme}'`);
const ERR_IMPORT_ASSERTION_TYPE_MISSING = make('ERR_IMPORT_ASSERTION_TYPE_MISSING', TypeError, (url) =>
  `Module "${url}" needs an import attribute of type "json"`);
const ERR_INVALID_MODULE_SPECIFIER = make('ERR_INVALID_MODULE_SPECIFIER', TypeError, (name, why, base) =>
  `Invalid module "${name}" ${why} imported from ${base}`);
const ERR_UNKNOWN_BUILTIN_MODULE = make('ERR_UNKNOWN_BUILTIN_MODULE', Error, (name) =>
  `No such built-in module: ${name}${require('internal/missing')(name)}`);
const ERR_UNKNOWN_MODULE_FORMAT = make('ERR_UNKNOWN_MODULE_FORMAT', RangeError, (format, url) =>
  `Unknown module format: ${format} for URL ${url}`);
const ERR_INVALID_URL = make('ERR_INVALID_URL', TypeError, () => 'Invalid URL');

function toUrl(path) {
  return `file://${encodeURI(path).replace(/[?#]/g, encodeURIComponent).replaceAll('%5B', '[').replaceAll('%5D', ']')}`;
}

function toPath(url) {
  return decodeURIComponent(url.replace(/^file:\/\//, '').replace(/[?#].*$/s, ''));
}

// The URL that a specifier in the module or script `base` leads to. For `import.meta.resolve` files need not be there.
let isThere = true;
function resolveAnyway(base, specifier) {
  isThere = false;
  try {
    return resolve(base, specifier);
  } finally {
    isThere = true;
  }
}

function resolve(base, specifier) {
  const from = base.startsWith('file://') ? toPath(base) : base.startsWith('/') ? base : absolute('x');
  if (Module.isBuiltin(specifier)) return specifier.startsWith('node:') ? specifier : `node:${specifier}`;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(specifier)?.[1];
  if (scheme === 'node') throw new ERR_UNKNOWN_BUILTIN_MODULE(specifier);
  if (scheme === 'data') return specifier;
  if (scheme !== undefined && scheme !== 'file') throw new ERR_UNSUPPORTED_ESM_URL_SCHEME(`${scheme}:`);
  if (sources.has(specifier)) return specifier;
  const query = /[?#].*$/s.exec(specifier)?.[0] ?? '';
  const bare = specifier.slice(0, specifier.length - query.length);
  const folder = from.slice(0, from.lastIndexOf('/')) || '/';
  if (scheme === 'file') return checked(toPath(withoutSlashes(bare, from)), from, query);
  if (/^(\/|\.\.?(\/|$))/.test(bare)) {
    return checked(absolute(decodeURIComponent(withoutSlashes(bare, from, folder)), folder), from, query);
  }
  if (!specifier.startsWith('#')) return inPackage(bare, folder, from, query);
  const found = inImports(specifier, from, CONDITIONS, (name, place) =>
    (Module.isBuiltin(name) ? resolve('', name) : inPackage(name, place, from, '')));
  return found.startsWith('/') ? checked(found, from, '') : found;
}

// A part of a path has no slash in it that it could be written with.
function withoutSlashes(path, from, folder) {
  if (!/%2f|%5c/i.test(path)) return path;
  const place = folder === undefined ? path.replace('file://', '') : absolute(path, folder);
  throw new ERR_INVALID_MODULE_SPECIFIER(place, 'must not include encoded "/" or "\\" characters', from);
}

function inPackage(name, folder, from, query) {
  if (!split(name)) {
    if (name === '' || /^@[^/]*\/$/.test(name)) throw new ERR_MODULE_NOT_FOUND(name, from, 'package');
    throw new ERR_INVALID_MODULE_SPECIFIER(name, 'is not a valid package name', from);
  }
  const found = inNodeModules(name, folder, CONDITIONS, from, (place, parts, path) => {
    if (!isFolder(path)) return undefined;
    if (parts.subpath !== '.') return absolute(parts.subpath, path);
    return asFileOrFolder(path, ['.js', '.json', '.node'], true) ?? path;
  });
  if (found === undefined) throw new ERR_MODULE_NOT_FOUND(name, from, 'package');
  return checked(withoutSlashes(found, from), from, query);
}

function checked(path, from, query) {
  const kind = files.kind(path);
  if (!isThere && kind !== 0) return toUrl(path) + query;
  if (kind === 1) throw new ERR_UNSUPPORTED_DIR_IMPORT(path, from);
  if (kind < 0) throw new ERR_MODULE_NOT_FOUND(path, from, 'module');
  return toUrl(files.realPath(path)) + query;
}

// The engine's name for a module of the library: that of its file is another module to the engine.
const BUILTIN = 'import node:';

// Where each module's specifiers lead, for messages.
const imports = [];

// What the engine asks.
function resolveForEngine(base, specifier) {
  let url;
  try {
    url = resolve(base.startsWith('node:internal/') ? '' : base, specifier);
  } catch (error) {
    const place = require('internal/import_errors').placeOf(base, specifier);
    if (place !== undefined) addFrame(error, place);
    throw error;
  }
  imports.push({ base, specifier, url });
  return url.startsWith('node:') ? `import ${url}` : url;
}

// Node 18 has the attributes of an import behind `assert`, which the engine does not know: it gets `with` in that place, unless
// the text is a module as it is. What stands in a template is no import.
const ASSERTION = /((?:^|;)[^\S\n]*(?:import|export)\b[^;'"`\n]*(["'])[^'"`\n]*\2[^\S\n]*)assert(?=[^\S\n]*\{)/gm;
function withAttributes(source, path) {
  if (!source.includes('assert') || source.search(ASSERTION) < 0) return source;
  try {
    engine.checkModule(source, path);
    return source;
  } catch {
    return source.replace(ASSERTION, (all, before, quote, at) => (source.slice(0, at).split('`').length % 2 === 0 ? all : `${before}with  `));
  }
}

function load(url, type) {
  if (url.startsWith(BUILTIN)) url = url.slice('import '.length);
  if (sources.has(url)) return { source: sources.get(url) };
  if (url.startsWith('node:')) return synthetic(url, Object.keys(Module._loadBuiltin(url)), () => Module._loadBuiltin(url));
  if (url.startsWith('data:')) return data(url, type);
  const path = toPath(url);
  const extension = /[^/](\.[^./]*)$/.exec(path)?.[1] ?? '';
  switch (extension) {
    case '.mjs':
      return { source: withAttributes(plain(files.readText(path)), path) };
    case '.json': {
      if (type !== 'json') throw new ERR_IMPORT_ASSERTION_TYPE_MISSING(url);
      return synthetic(url, [], () => Module._load(path, null, false));
    }
    case '.cjs':
      return commonJs(url, path);
    case '.js':
    case '':
      return unknown(url, path);
    default:
      throw new ERR_UNKNOWN_FILE_EXTENSION(extension, path);
  }
}

// What has no extension that tells: the package tells, or the text.
function unknown(url, path) {
  const type = packageOf(path)?.type;
  if (type === 'commonjs') return commonJs(url, path);
  const source = files.readText(path);
  return type === 'module' || isModuleText(source, path) ? { source: withAttributes(plain(source), path) } : commonJs(url, path);
}

function commonJs(url, path) {
  return synthetic(url, exportsOf(path), () => Module._load(path, null, false));
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

// Not by `atob`, which a script may have replaced.
function textOfBase64(text) {
  let bits = 0;
  let count = 0;
  let escaped = '';
  for (const digit of text) {
    const value = DIGITS.indexOf(digit);
    if (value < 0) continue;
    bits = (bits << 6 | value) & 0xffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      escaped += `%${(bits >> count & 0xff).toString(16).padStart(2, '0')}`;
    }
  }
  return decodeURIComponent(escaped);
}

function data(url, type) {
  const match = /^data:([^,;]*)((?:;[^,;]*)*),(.*)$/s.exec(url);
  if (match === null) throw new ERR_INVALID_URL();
  let body = decodeURIComponent(match[3]);
  if (/;base64$/.test(match[2])) body = textOfBase64(body);
  switch (match[1]) {
    case 'text/javascript':
      return { source: body };
    case 'application/json':
      if (type !== 'json') throw new ERR_IMPORT_ASSERTION_TYPE_MISSING(url);
      return synthetic(url, [], () => JSON.parse(body));
    default:
      throw new ERR_UNKNOWN_MODULE_FORMAT(match[1], url);
  }
}

// A module with the values of something that is none.
function synthetic(url, names, make) {
  let source = 'const value = import.meta.take();\nexport default value;\n';
  let number = 0;
  for (const name of names) {
    if (name === 'default' || !name.isWellFormed()) continue;
    const text = JSON.stringify(name);
    source += `const v${number} = value?.[${text}];\nexport { v${number++} as ${text} };\n`;
  }
  return { source, take: make };
}

// Makes `import.meta` of a module.
function meta(object, url, take) {
  if (take) {
    object.take = () => { delete object.take; return take(); };
    return;
  }
  if (url.startsWith('file://') && !sources.has(url)) {
    const filename = toPath(url);
    object.dirname = filename.replace(/\/[^/]*$/, '') || '/';
    object.filename = filename;
  }
  object.resolve = (specifier) => resolveAnyway(url, specifier);
  object.url = url;
}

engine.setModuleHooks(resolveForEngine, load, meta);

// A module with what a file exports, that says that it was an ES module: for require(), where a default export needs that.
function markedUrl(path) {
  const url = toUrl(path);
  const marked = `${url}?__esModule`;
  const text = JSON.stringify(url);
  sources.set(marked, `export * from ${text};\nexport { default } from ${text};\nexport const __esModule = true;\n`);
  return marked;
}

function runMain(path) {
  run(toUrl(files.realPath(path)));
}

// A module that is in no file.
function runText(text, name) {
  const url = toUrl(absolute(name));
  sources.set(url, text);
  run(url);
}

// The body of the main module runs as a microtask, as everything behind an await does: its microtasks come before its
// ticks.
function run(url) {
  let settled = false;
  Promise.resolve().then(() => engine.importModule(url)).then(
    () => { settled = true; },
    (error) => {
      settled = true;
      process._triggerUncaught(require('internal/import_errors').explained(error, imports), false);
    },
  );
  // A main module that waits for what never comes: Node's exit code for that is 13.
  process.on('exit', () => {
    if (!settled && process.exitCode === undefined) process.exitCode = 13;
  });
}

module.exports = { markedUrl, resolve, run, runMain, runText, toPath, toUrl };
