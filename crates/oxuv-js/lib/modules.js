// Modules: CommonJS, and the start of the script.
'use strict';

const engine = binding('engine');
const files = binding('files');

function dirname(path) {
  const at = path.lastIndexOf('/');
  return at <= 0 ? '/' : path.slice(0, at);
}

function absolute(path) {
  const parts = [];
  for (const part of (path.startsWith('/') ? path : `${process.cwd()}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

const cache = Object.create(null);

function load(path) {
  if (cache[path]) return cache[path].exports;
  const module = { id: path, filename: path, exports: {}, loaded: false };
  cache[path] = module;
  const source = files.readText(path).replace(/^#!.*/, '');
  const body = engine.compileFunction(source, path, 'exports, require, module, __filename, __dirname');
  const from = dirname(path);
  const require_ = (name) => (name.startsWith('.') || name.startsWith('/') ? load(absolute(name.startsWith('/') ? name : `${from}/${name}`)) : require(name.replace(/^node:/, '')));
  require_.cache = cache;
  body.call(module.exports, module.exports, require_, module, path, from);
  module.loaded = true;
  return module.exports;
}

function start(kind, text) {
  if (kind === 'file') {
    const path = files.realPath(absolute(text));
    process.argv.splice(1, 0, path);
    load(path);
    return;
  }
  const name = kind === 'eval' ? '[eval]' : '[stdin]';
  const value = engine.runScript(kind === 'eval' ? text : files.readText(''), name);
  if (binding('process').print()) require('console').log(value);
}

module.exports = { start };
