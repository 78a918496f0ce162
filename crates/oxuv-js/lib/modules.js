// CommonJS modules, and the module `module`.
'use strict';

const process = require('process');
const engine = binding('engine');
const files = binding('files');
const {
  absolute, asFileOrFolder, dirname, inImports, inNodeModules, isFile, nodeModulePaths, packageOf,
} = require('resolve');
const errors = require('errors');
const { make, shifts, bodies } = errors;

const ERR_UNKNOWN_BUILTIN_MODULE = make('ERR_UNKNOWN_BUILTIN_MODULE', Error, (name) =>
  `No such built-in module: ${name}${require('internal/missing')(name)}`);
const ERR_INVALID_ARG_VALUE = make('ERR_INVALID_ARG_VALUE', TypeError, (name, value) =>
  `The argument '${name}' must be a non-empty string. Received '${value}'`);
const ERR_REQUIRE_ASYNC_MODULE = make('ERR_REQUIRE_ASYNC_MODULE', Error, () =>
  'require() cannot be used on an ESM graph with top-level await. Use import() instead.');
const ERR_DLOPEN_DISABLED = make('ERR_DLOPEN_DISABLED', Error, (path) => `Cannot load native addon: ${path}`);

const CONDITIONS = new Set(['node', 'require', 'node-addons']);

// The built-in modules that scripts may require.
const builtinModules = engine.publicModules();
const builtins = new Set(builtinModules);

function isBuiltin(name) {
  return builtins.has(name.startsWith('node:') ? name.slice(5) : name);
}

function loadBuiltin(name) {
  const bare = name.startsWith('node:') ? name.slice(5) : name;
  if (!builtins.has(bare)) throw new ERR_UNKNOWN_BUILTIN_MODULE(name);
  return bare === 'module' ? Module : bare === 'process' ? process : require(bare);
}

class Module {
  constructor(id = '', parent) {
    this.id = id;
    this.path = dirname(id);
    this.exports = {};
    Object.defineProperty(this, 'parent', { value: parent, writable: true, configurable: true });
    this.filename = null;
    this.loaded = false;
    this.children = [];
    parent?.children?.push(this);
  }

  require(name) {
    if (typeof name !== 'string') throw new errors.codes.ERR_INVALID_ARG_TYPE('id', 'string', name);
    if (name === '') throw new ERR_INVALID_ARG_VALUE('id', name);
    return Module._load(name, this, false);
  }

  load(filename) {
    this.filename = filename;
    this.paths = nodeModulePaths(dirname(filename));
    Module._extensions[extensionOf(filename)](this, filename);
    this.loaded = true;
  }

  _compile(source, filename) {
    const body = compile(source, filename);
    bodies.add(body);
    return Reflect.apply(body, this.exports, [this.exports, makeRequire(this), this, filename, dirname(filename)]);
  }
}

// The longest that somebody knows: a script may add `.test.js`.
function extensionOf(filename) {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  for (let at = name.indexOf('.', 1); at > 0; at = name.indexOf('.', at + 1)) {
    if (Module._extensions[name.slice(at)]) return name.slice(at);
  }
  return '.js';
}

function compile(source, filename) {
  const { last } = compile;
  compile.last = undefined;
  if (last?.source === source && last.filename === filename) return last.body;
  shifts.set(filename, Module.wrapper[0].length);
  try {
    return engine.compileFunction(plain(source), filename, 'exports, require, module, __filename, __dirname');
  } catch (error) {
    const [, line] = /:(\d+):\d+/.exec(String(error.stack).slice(String(error).length)) ?? [];
    const word = /^\s*(import|export)\b/.exec(source.split('\n')[line - 1])?.[1];
    const message = error.message;
    if (word === 'import') error.message = 'Cannot use import statement outside a module';
    else if (word === 'export') error.message = "Unexpected token 'export'";
    if (word !== undefined) error.stack = error.stack.replace(message, () => error.message);
    throw error;
  }
}

// Without what stands in front for others: the mark of the byte order, the line for the shell.
function plain(source) {
  return source.replace(/^\uFEFF/, '').replace(/^#!.*/, '');
}

// Whether a file without a word on what it is holds an ES module.
const MODULE_WORDS = /^\s*(?:import\b\s*[\w$*{"']|export\b\s*[\w$*{])|\bimport\.meta\b|\bawait\b/m;
function isModuleText(source, filename) {
  if (!MODULE_WORDS.test(source)) return false;
  try {
    const body = compile(source, filename);
    compile.last = { source, filename, body };
    return false;
  } catch {
    try {
      engine.checkModule(plain(source), filename);
      return true;
    } catch {
      // Which of the two errors is said matters: that of what it was meant to be.
      return /^\s*(?:import\b\s*[\w$*{"']|export\b\s*[\w$*{])/m.test(source);
    }
  }
}

Module.Module = Module;
Module._cache = Object.create(null);
Module._pathCache = Object.create(null);
Module.builtinModules = builtinModules;
Module.isBuiltin = isBuiltin;
Module.globalPaths = [];
Module._nodeModulePaths = nodeModulePaths;
Module.wrapper = ['(function (exports, require, module, __filename, __dirname) { ', '\n});'];
Module.wrap = (script) => Module.wrapper[0] + script + Module.wrapper[1];

Module._extensions = Object.assign(Object.create(null), {
  '.js'(module, filename) {
    const type = packageOf(filename)?.type;
    if (type === 'module') {
      requireModule(module, filename);
      return;
    }
    const source = files.readText(filename);
    if (type === undefined && isModuleText(source, filename)) requireModule(module, filename);
    else module._compile(source, filename);
  },
  '.json'(module, filename) {
    const source = files.readText(filename);
    try {
      module.exports = JSON.parse(source.replace(/^\uFEFF/, ''));
    } catch (error) {
      error.message = `${filename}: ${error.message}`;
      error.stack = String(error.stack).replace('at <input>:', `at ${filename}:`);
      throw error;
    }
  },
  '.node'(module, filename) {
    throw new ERR_DLOPEN_DISABLED(filename);
  },
});
// Not for those who list the extensions, as in Node.
Object.defineProperty(Module._extensions, '.mjs', { value: requireModule, writable: true, configurable: true });
Object.defineProperty(Module._extensions, '.cjs', {
  value(module, filename) { module._compile(files.readText(filename), filename); }, writable: true, configurable: true,
});

// An ES module, or the main script that is one: that may take its time.
function requireModule(module, filename) {
  const esm = require('esm');
  if (process.mainModule === module && module.id === '.') {
    process.mainModule = undefined;
    delete Module._cache[filename];
    esm.runMain(filename);
    return;
  }
  let all = importNow(esm.toUrl(filename));
  if (Object.hasOwn(all, 'default') && !Object.hasOwn(all, '__esModule')) all = importNow(esm.markedUrl(filename));
  module.exports = Object.hasOwn(all, 'module.exports') ? all['module.exports'] : all;
}

function importNow(url) {
  let all;
  const promise = engine.importSync(url, (value) => { all = value; });
  const [state, reason] = binding('util').promiseDetails(promise);
  promise.catch(() => {});
  if (state === 2) throw reason;
  if (state === 0) throw new ERR_REQUIRE_ASYNC_MODULE();
  return all;
}

Module._load = (request, parent, isMain) => {
  if (request.startsWith('node:')) return loadBuiltin(request);
  const filename = Module._resolveFilename(request, parent, isMain);
  const cached = Module._cache[filename];
  if (cached !== undefined) {
    if (parent && !parent.children?.includes(cached)) parent.children?.push(cached);
    return cached.exports;
  }
  if (isBuiltin(filename)) return loadBuiltin(filename);
  const module = new Module(filename, parent);
  if (isMain) {
    process.mainModule = module;
    module.id = '.';
  }
  Module._cache[filename] = module;
  let done = false;
  try {
    module.load(filename);
    done = true;
  } finally {
    if (!done) {
      delete Module._cache[filename];
      const at = parent?.children?.indexOf(module) ?? -1;
      if (at >= 0) parent.children.splice(at, 1);
    }
  }
  return module.exports;
};

Module._resolveFilename = (request, parent, isMain, options) => {
  if (isBuiltin(request)) return request;
  const folders = options?.paths ? options.paths.map((path) => absolute(path)) : [parent?.filename ? dirname(parent.filename) : process.cwd()];
  for (const folder of folders) {
    const found = find(request, folder, parent?.filename ?? null);
    if (found === undefined) continue;
    if (isBuiltin(found)) return found;
    // What a package says leads to may not be there.
    if (!isFile(found)) throw notFound(found, parent);
    return files.realPath(found);
  }
  throw notFound(request, parent);
};

Module._findPath = (request, paths) => {
  for (const folder of paths ?? ['']) {
    const found = asFileOrFolder(absolute(request, folder || undefined), Object.keys(Module._extensions), request.endsWith('/'));
    if (found !== undefined) return files.realPath(found);
  }
  return false;
};

Module._resolveLookupPaths = (request, parent) => {
  if (isBuiltin(request)) return null;
  if (/^\.\.?(\/|$)/.test(request)) return [parent?.filename ? dirname(parent.filename) : '.'];
  return parent?.paths ?? nodeModulePaths(process.cwd());
};

function find(request, folder, base) {
  const extensions = Object.keys(Module._extensions);
  if (/^(\/|\.\.?(\/|$))/.test(request)) {
    return asFileOrFolder(absolute(request, folder), extensions, /(^|\/)\.{0,2}$/.test(request));
  }
  const bare = (name, from) => (isBuiltin(name) ? name : inNodeModules(name, from, CONDITIONS, base, (place) =>
    asFileOrFolder(`${place}/${name}`, extensions, name.endsWith('/'))));
  return request.startsWith('#') ? inImports(request, base ?? `${folder}/x`, CONDITIONS, bare) : bare(request, folder);
}

function notFound(request, parent) {
  const stack = [];
  for (let at = parent; at; at = at.parent) stack.push(at.filename ?? at.id);
  const more = stack.length > 0 ? `\nRequire stack:\n- ${stack.join('\n- ')}` : '';
  const error = new Error(`Cannot find module '${request}'${require('internal/missing')(request)}${more}`);
  error.code = 'MODULE_NOT_FOUND';
  error.requireStack = stack;
  return error;
}

function makeRequire(module) {
  const require = (path) => module.require(path);
  require.resolve = (request, options) => {
    if (typeof request !== 'string') throw new errors.codes.ERR_INVALID_ARG_TYPE('request', 'string', request);
    return Module._resolveFilename(request, module, false, options);
  };
  require.resolve.paths = (request) => Module._resolveLookupPaths(request, module);
  require.main = process.mainModule;
  require.extensions = Module._extensions;
  require.cache = Module._cache;
  return require;
}

Module.createRequire = (path) => {
  let filename = path;
  if (typeof path === 'object' && path !== null && typeof path.href === 'string') filename = path.href;
  if (typeof filename !== 'string' || (!filename.startsWith('/') && !filename.startsWith('file://'))) {
    throw new ERR_INVALID_FILENAME(path);
  }
  if (filename.startsWith('file://')) filename = decodeURIComponent(filename.slice(7));
  const module = new Module(filename);
  module.filename = filename.endsWith('/') ? `${filename}x` : filename;
  module.paths = nodeModulePaths(dirname(module.filename));
  return makeRequire(module);
};
const ERR_INVALID_FILENAME = make('ERR_INVALID_ARG_VALUE', TypeError, (value) =>
  `The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received ${typeof value === 'string' ? `'${value}'` : String(value)}`);

// Whether a file is an ES module: by its extension, or its package.
function isModule(path) {
  if (path.endsWith('.mjs')) return true;
  return path.endsWith('.js') && packageOf(path)?.type === 'module';
}

Module._initPaths = () => {};
Module._preloadModules = (requests) => {
  if (!Array.isArray(requests)) return;
  const parent = new Module('internal/preload', null);
  parent.paths = nodeModulePaths(process.cwd());
  for (const request of requests) parent.require(request);
};
Module.syncBuiltinESMExports = () => {};
Module.runMain = (path = process.argv[1]) => Module._load(path, null, true);
Module.findSourceMap = () => undefined;

module.exports = Module;
// For the library.
Object.defineProperty(Module, 'internal', {
  value: { compile, isModule, isModuleText, loadBuiltin, makeRequire, notFound, plain },
});
Object.defineProperty(Module, '_loadBuiltin', { value: loadBuiltin });
