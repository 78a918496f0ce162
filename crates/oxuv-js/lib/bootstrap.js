// Makes the globals, and gives the loop's side the functions that it calls. Runs once, before the script.
'use strict';

const bindings = new Map();
function binding(name) {
  let found = bindings.get(name);
  if (found === undefined) bindings.set(name, found = native.binding(name));
  return found;
}

// The modules of the library. Each is loaded when it is first required. Packages of others know each other by other names.
const FILES = {
  '__proto__': null,
  'base64-js': 'vendor/base64-js',
  'ieee754': 'vendor/ieee754',
  'module': 'modules',
};
const engine = binding('engine');
const loaded = new Map();
function requireLibrary(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  if (name === 'safe-buffer') return requireLibrary('buffer');
  const compiled = engine.library(FILES[name] ?? name);
  if (compiled === undefined || compiled === null) return undefined;
  const module = { id: name, exports: {} };
  loaded.set(name, module);
  let isDone = false;
  try {
    compiled.call(module.exports, module.exports, requireLibrary, module, binding);
    isDone = true;
  } finally {
    // Memory or stack was short; there may be more the next time.
    if (!isDone) loaded.delete(name);
  }
  return module.exports;
}

function define(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

// A global that is made when it is first looked at.
function defineLazy(name, make, isEnumerable = false) {
  Object.defineProperty(globalThis, name, {
    get() {
      const value = make();
      Object.defineProperty(globalThis, name, { value, writable: true, enumerable: isEnumerable, configurable: true });
      return value;
    },
    set(value) { define(name, value); },
    enumerable: isEnumerable,
    configurable: true,
  });
}

requireLibrary('errors').install();
define('global', globalThis);
const process = requireLibrary('process');
define('process', process);
const own = process._own;
const ticks = requireLibrary('ticks');
const timers = requireLibrary('timers');
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate']) {
  Object.defineProperty(globalThis, name, { value: timers[name], writable: true, enumerable: true, configurable: true });
}
Object.defineProperty(globalThis, 'queueMicrotask', { value: ticks.queueMicrotask, writable: true, enumerable: true, configurable: true });
defineLazy('console', () => requireLibrary('console'));
for (const name of ['Buffer', 'atob', 'btoa', 'Blob', 'File']) defineLazy(name, () => requireLibrary('buffer')[name]);
for (const name of ['URL', 'URLSearchParams']) defineLazy(name, () => requireLibrary('internal/url')[name]);
for (const name of ['TextEncoder', 'TextDecoder']) defineLazy(name, () => requireLibrary('internal/encoding')[name]);
defineLazy('DOMException', () => requireLibrary('internal/dom_exception'));
for (const name of ['Event', 'CustomEvent', 'EventTarget']) defineLazy(name, () => requireLibrary('internal/event_target')[name]);
for (const name of ['AbortController', 'AbortSignal']) defineLazy(name, () => requireLibrary('internal/abort_controller')[name]);
for (const name of ['Performance', 'PerformanceEntry', 'PerformanceMark', 'PerformanceMeasure']) {
  defineLazy(name, () => requireLibrary('internal/performance')[name]);
}
defineLazy('performance', () => requireLibrary('internal/performance').performance, true);
defineLazy('MessageChannel', () => requireLibrary('internal/message_port').MessageChannel);
defineLazy('MessagePort', () => requireLibrary('internal/message_port').MessagePort);
defineLazy('MessageEvent', () => requireLibrary('internal/message_event').MessageEvent);
defineLazy('BroadcastChannel', () => requireLibrary('internal/broadcast_channel').BroadcastChannel);
defineLazy('structuredClone', () => requireLibrary('internal/structured_clone').structuredClone, true);

// The engine's own gives its error no message.
const { any } = { any(iterable) { return requireLibrary('internal/promise_any')(this, iterable); } };
Object.defineProperty(Promise, 'any', { value: any, writable: true, enumerable: false, configurable: true });

const flags = binding('process').flags();
if (flags.length > 0) requireLibrary('internal/flags').apply(flags);

return {
  runTimers: timers.internal.runTimers,
  runImmediates: timers.internal.runImmediates,
  drain: () => { ticks.drain(); timers.internal.flush(); },
  rejection: ticks.rejection,
  // A script may have taken the function away; the code for that is Node's.
  uncaught: (error) => {
    try {
      return typeof process._fatalException === 'function' ? process._fatalException(error, false) : own.die(error, 6);
    } finally {
      timers.internal.flush();
    }
  },
  beforeExit: () => process.emit('beforeExit', process.exitCode || 0),
  // Ticks are no longer taken, but promises are kept to the last.
  exit: () => { process._emitExit(); ticks.drain(); return process._emitExit(); },
  observing: () => requireLibrary('internal/observing'),
  loadModules: () => requireLibrary('esm'),
  start: (kind, text) => requireLibrary('internal/start').start(kind, text),
};
