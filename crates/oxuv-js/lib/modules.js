// CommonJS modules, the module `module`, and the start of the script.
'use strict';

const engine = binding('engine');
const files = binding('files');
const {
  absolute, asFileOrFolder, dirname, inImports, inNodeModules, nodeModulePaths, packageOf,
} = require('resolve');
const errors = require('errors');
const { make, shifts, sources } = errors;

const ERR_UNKNOWN_BUILTIN_MODULE = make('ERR_UNKNOWN_BUILTIN_MODULE', Error, (name) => `No such built-in module: ${name}`);
const ERR_INVALID_ARG_VALUE = make('ERR_INVALID_ARG_VALUE', TypeError, (name, value) =>
  `The argument '${name}' must be a non-empty string. Received '${value}'`);
const ERR_REQUIRE_ESM = make('ERR_REQUIRE_ESM', Error, (path, base) =>
  `require() of ES Module ${path}${base ? ` from ${base}` : ''} not supported.\nInstead change the require of ${path.slice(path.lastIndexOf('/') + 1)} ` +
  'to a dynamic import() which is available in all CommonJS modules.');

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
    const extension = /[^/](\.[^./]*)$/.exec(filename)?.[1];
    const load = Module._extensions[extension] ?? Module._extensions['.js'];
    load(this, filename);
    this.loaded = true;
  }

  _compile(source, filename) {
    shifts.set(filename, Module.wrapper[0].length);
    const body = engine.compileFunction(source.replace(/^#!.*/, ''), filename, 'exports, require, module, __filename, __dirname');
    return Reflect.apply(body, this.exports, [this.exports, makeRequire(this), this, filename, dirname(filename)]);
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
    if (packageOf(filename)?.type === 'module') throw new ERR_REQUIRE_ESM(filename, module.parent?.filename);
    module._compile(files.readText(filename), filename);
  },
  '.json'(module, filename) {
    try {
      module.exports = JSON.parse(files.readText(filename).replace(/^\uFEFF/, ''));
    } catch (error) {
      error.message = `${filename}: ${error.message}`;
      throw error;
    }
  },
  '.mjs'(module, filename) {
    throw new ERR_REQUIRE_ESM(filename, module.parent?.filename);
  },
});
Object.defineProperty(Module._extensions, '.cjs', {
  value(module, filename) { module._compile(files.readText(filename), filename); }, writable: true, configurable: true,
});

Module._load = (request, parent, isMain) => {
  if (request.startsWith('node:')) return loadBuiltin(request);
  const filename = Module._resolveFilename(request, parent, isMain);
  const cached = Module._cache[filename];
  if (cached !== undefined) {
    if (parent && !parent.children?.includes(cached)) parent.children?.push(cached);
    return cached.exports;
  }
  if (builtins.has(filename)) return loadBuiltin(filename);
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
    if (found !== undefined) return files.realPath(found);
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
  if (request.startsWith('#')) return inImports(request, base ?? `${folder}/x`, CONDITIONS);
  if (/^(\/|\.\.?(\/|$))/.test(request)) {
    return asFileOrFolder(absolute(request, folder), extensions, /(^|\/)\.{0,2}$/.test(request));
  }
  return inNodeModules(request, folder, CONDITIONS, base, (place) =>
    asFileOrFolder(`${place}/${request}`, extensions, request.endsWith('/')));
}

function notFound(request, parent) {
  const stack = [];
  for (let at = parent; at; at = at.parent) stack.push(at.filename ?? at.id);
  const more = stack.length > 0 ? `\nRequire stack:\n- ${stack.join('\n- ')}` : '';
  const error = new Error(`Cannot find module '${request}'${more}`);
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

// Runs the script of the command line.
function start(kind, text) {
  if (kind === 'prompt') return require('prompt');
  if (kind === 'file') {
    const path = Module._findPath(absolute(text)) || absolute(text);
    process.argv.splice(1, 0, path);
    if (files.kind(path) < 0) throw notFound(path);
    if (isModule(path)) require('esm').runMain(path);
    else Module._load(path, null, true);
    return undefined;
  }
  const name = kind === 'eval' ? '[eval]' : '[stdin]';
  const module = new Module(name);
  module.filename = absolute(name);
  module.paths = nodeModulePaths(process.cwd());
  const globals = { module, exports: module.exports, require: makeRequire(module), __filename: name, __dirname: '.' };
  for (const [key, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, key, { value, writable: true, enumerable: true, configurable: true });
  }
  sources.set(name, kind === 'eval' ? text : files.readText(''));
  const value = engine.runScript(sources.get(name), name);
  if (binding('process').print()) console.log(value);
  return undefined;
}

module.exports = Module;
Object.defineProperty(Module, '_start', { value: start });
Object.defineProperty(Module, '_loadBuiltin', { value: loadBuiltin });
