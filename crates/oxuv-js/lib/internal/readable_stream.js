// Loads the package readable-stream: its files name each other by their paths, and some of them are our own modules here.
'use strict';

const engine = binding('engine');

// What the package carries along of Node's inner modules is here already.
const OURS = {
  '__proto__': null,
  'abort-controller': () => require('internal/abort_controller'),
  'process/': () => require('process'),
  'string_decoder/': () => require('string_decoder'),
  'lib/internal/shims/process': () => require('process'),
  'lib/internal/validators': () => require('internal/validators'),
  'lib/ours/errors': () => require('internal/stream_base'),
  'lib/ours/util': () => require('internal/stream_base'),
};

const loaded = new Map();

// The file of the package with this path, which has no extension.
function load(path) {
  let module = loaded.get(path);
  if (module === undefined) {
    const compiled = engine.library(`vendor/readable-stream/${path}`);
    module = { id: path, exports: {} };
    loaded.set(path, module);
    let isDone = false;
    try {
      compiled.call(module.exports, module.exports, requireOf(path), module, binding);
      isDone = true;
    } finally {
      if (!isDone) loaded.delete(path);
    }
  }
  return module.exports;
}

// What the file with this path requires by. Constructors do so again and again, so places are kept.
function requireOf(path) {
  const places = new Map();
  return (name) => {
    if (name in OURS) return OURS[name]();
    if (!name.startsWith('.')) return require(name);
    let full = places.get(name);
    if (full === undefined) places.set(name, full = placeOf(path, name));
    return full in OURS ? OURS[full]() : load(full);
  };
}

function placeOf(path, name) {
  const parts = path.split('/').slice(0, -1);
  for (const part of name.replace(/\.js$/, '').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

module.exports = load;
