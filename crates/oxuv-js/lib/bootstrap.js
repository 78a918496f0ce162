// Makes the globals, and gives the loop's side the functions that it calls. Runs once, before the script.
'use strict';

const bindings = new Map();
function binding(name) {
  let found = bindings.get(name);
  if (found === undefined) bindings.set(name, found = native.binding(name));
  return found;
}

// The modules of the library. Each is loaded when it is first required.
const engine = binding('engine');
const loaded = new Map();
function requireLibrary(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const compiled = engine.library(name === 'module' ? 'modules' : name);
  if (compiled === undefined || compiled === null) return undefined;
  const module = { id: name, exports: {} };
  loaded.set(name, module);
  compiled.call(module.exports, module.exports, requireLibrary, module, binding);
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
const ticks = requireLibrary('ticks');
const timers = requireLibrary('timers');
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate']) {
  Object.defineProperty(globalThis, name, { value: timers[name], writable: true, enumerable: true, configurable: true });
}
Object.defineProperty(globalThis, 'queueMicrotask', { value: ticks.queueMicrotask, writable: true, enumerable: true, configurable: true });
defineLazy('console', () => requireLibrary('console'));
defineLazy('DOMException', () => requireLibrary('internal/dom_exception'));
for (const name of ['Event', 'CustomEvent', 'EventTarget']) defineLazy(name, () => requireLibrary('internal/event_target')[name]);
for (const name of ['AbortController', 'AbortSignal']) defineLazy(name, () => requireLibrary('internal/abort_controller')[name]);
for (const name of ['Performance', 'PerformanceEntry', 'PerformanceMark', 'PerformanceMeasure']) {
  defineLazy(name, () => requireLibrary('internal/performance')[name]);
}
defineLazy('performance', () => requireLibrary('internal/performance').performance, true);
defineLazy('structuredClone', () => requireLibrary('internal/structured_clone').structuredClone, true);
// The engine's own, but for the class of what they throw.
for (const name of ['atob', 'btoa']) {
  const native = globalThis[name];
  const wrapper = {
    [name](text) {
      if (arguments.length === 0) throw new (requireLibrary('internal/codes').codes.ERR_MISSING_ARGS)('input');
      try {
        return native(`${text}`);
      } catch (error) {
        if (error instanceof Error && error.name !== 'InvalidCharacterError') throw error;
        const why = name === 'atob' ? 'The string to be decoded is not correctly encoded.' : 'Invalid character';
        throw new globalThis.DOMException(why, 'InvalidCharacterError');
      }
    },
  }[name];
  Object.defineProperty(globalThis, name, { value: wrapper, writable: true, enumerable: true, configurable: true });
}

const flags = binding('process').flags();
if (flags.length > 0) requireLibrary('internal/flags').apply(flags);

return {
  call: timers.internal.call,
  drain: ticks.drain,
  rejection: ticks.rejection,
  uncaught: (error) => process._fatalException(error, false),
  beforeExit: () => process.emit('beforeExit', process.exitCode || 0),
  // Ticks are no longer taken, but promises are kept to the last.
  exit: () => { process._emitExit(); ticks.drain(); return process._emitExit(); },
  loadModules: () => requireLibrary('esm'),
  start: (kind, text) => requireLibrary('internal/start').start(kind, text),
};
