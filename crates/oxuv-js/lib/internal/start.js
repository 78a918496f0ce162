// The start of the script that the command line names.
'use strict';

const process = require('process');
const engine = binding('engine');
const files = binding('files');
const Module = require('modules');
const { absolute, nodeModulePaths } = require('resolve');
const { sources } = require('errors');

const { compile, isModule, isModuleText, makeRequire, notFound, plain } = Module.internal;

function start(kind, text) {
  if (kind === 'worker') return require('internal/worker_start').start();
  const options = engine.startOptions();
  const channel = binding('process').channel();
  if (channel) require('child_process')._forkChild(Number(channel[0]), channel[1]);
  if (kind === 'file') {
    const path = absolute(text);
    process.argv.splice(1, 0, path);
    process._own.script = path;
    if (options.requires.length > 0) Module._preloadModules(options.requires);
    startFile(path, options);
    return undefined;
  }
  if (options.requires.length > 0) Module._preloadModules(options.requires);
  if (kind === 'prompt') return require('prompt');
  startText(kind === 'eval' ? text : files.readText(''), `[${kind}]`, options);
  return undefined;
}

function startFile(path, options) {
  const found = Module._findPath(path);
  if (!found) throw notFound(path);
  if (options.isChecked) check(found);
  else if (isModule(found)) require('esm').runMain(found);
  else Module._load(path, null, true);
}

function check(path) {
  const source = files.readText(path);
  if (isModule(path) || (path.endsWith('.js') && isModuleText(source, path))) engine.checkModule(plain(source), require('esm').toUrl(path));
  else if (!path.endsWith('.json')) compile(source, path);
}

function startText(text, name, { isModule, isPrinted, isChecked }) {
  sources.set(name, text);
  if (isChecked) {
    compile(text, name);
  } else if (isModule || (!isPrinted && isModuleText(text, name))) {
    require('esm').runText(text, `${name.slice(0, -1)}1]`);
  } else {
    const module = new Module(name);
    let folder = '/';
    try {
      folder = process.cwd();
    } catch { /* It is gone: what is required from it is not found. */ }
    module.filename = absolute(name, folder);
    module.paths = nodeModulePaths(folder);
    global('module', module);
    global('exports', module.exports);
    global('require', makeRequire(module));
    global('__filename', name);
    global('__dirname', '.');
    globalBuiltins();
    const value = engine.runScript(plain(text), name);
    if (isPrinted) require('console').log(value);
  }
}

function global(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true });
}

// The library's modules need not be required in a line of code.
function globalBuiltins() {
  for (const name of Module.builtinModules) {
    if (name in globalThis || name.includes('/')) continue;
    Object.defineProperty(globalThis, name, {
      get() {
        const value = Module._loadBuiltin(name);
        Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
        return value;
      },
      set: (value) => { Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true }); },
      configurable: true,
    });
  }
}

module.exports = { start, startFile, startText, global, globalBuiltins };
