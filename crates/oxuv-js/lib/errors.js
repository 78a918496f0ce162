// Stack traces that begin with name and message.
'use strict';

// The engine's traces have frames only; scripts expect name and message in front.
let prepareByScript;

function header(error) {
  try {
    const { name = 'Error', message = '' } = error;
    return message === '' ? String(name) : name === '' ? String(message) : `${name}: ${message}`;
  } catch {
    return 'Error';
  }
}

// Scripts that are compiled as a function have its head in front of their first line: by how many columns, by file.
const shifts = new Map();
// The text of scripts that are in no file, by the name that traces have for them.
const sources = new Map();

function frame(site) {
  const file = site.getFileName();
  const line = site.getLineNumber();
  let column = site.getColumnNumber();
  if (line === 1 && shifts.has(file)) column = Math.max(1, column - shifts.get(file));
  const place = file === null ? 'native' : `${file}:${line}:${column}`;
  const name = site.getFunctionName();
  return name && name !== '<anonymous>' && name !== '<eval>' ? `\n    at ${name} (${place})` : `\n    at ${place}`;
}

// Whether this frame is the making of the error itself.
function isConstructor(error, site) {
  const made = site.getFunction();
  if (typeof made !== 'function' || !(error instanceof Error)) return false;
  for (let at = error.constructor; typeof at === 'function' && at !== Error; at = Object.getPrototypeOf(at)) {
    if (at === made) return true;
  }
  return false;
}

// The trace of an error until somebody looks: as in Node, name and message are those of that time.
class Trace {
  constructor(sites) {
    this.sites = sites;
  }
}

function textOf(error, sites) {
  let text = header(error);
  let first = 0;
  while (first < sites.length && isConstructor(error, sites[first])) first++;
  for (let at = first; at < sites.length; at++) text += frame(sites[at]);
  return text;
}

// Taken now: the engine makes its functions when they are first looked at, and if memory is short then, it never has them.
const { isError } = Error;

function prepare(error, sites) {
  if (typeof prepareByScript === 'function') return prepareByScript.call(Error, error, sites);
  return isError(error) ? new Trace(sites) : textOf(error, sites);
}

const nativeStack = Object.getOwnPropertyDescriptor(Error.prototype, 'stack').get;

function stackOf(error) {
  if (Object.hasOwn(error, 'stack')) return error.stack;
  const trace = nativeStack.call(error);
  if (!(trace instanceof Trace)) return trace;
  trace.text ??= textOf(error, trace.sites);
  trace.sites = undefined;
  return trace.text;
}

const nativeCapture = Error.captureStackTrace;

// Here an own property is wanted, with the text as of now.
function captureStackTrace(object, above) {
  nativeCapture(object, typeof above === 'function' ? above : captureStackTrace);
  const own = Object.getOwnPropertyDescriptor(object, 'stack')?.value;
  if (own instanceof Trace) {
    Object.defineProperty(object, 'stack', { __proto__: null, value: textOf(object, own.sites), writable: true, enumerable: false, configurable: true });
  }
}

function install() {
  Object.defineProperty(Error, 'captureStackTrace', { value: captureStackTrace, writable: true, enumerable: false, configurable: true });
  const own = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  own.set.call(Error, prepare);
  Object.defineProperty(Error, 'prepareStackTrace', {
    get: () => prepareByScript,
    set: (value) => { prepareByScript = value; },
    enumerable: false,
    configurable: true,
  });
  Object.defineProperty(Error.prototype, 'stack', {
    get() { return this === null || typeof this !== 'object' ? undefined : stackOf(this); },
    set(value) { Object.defineProperty(this, 'stack', { __proto__: null, value, writable: true, enumerable: false, configurable: true }); },
    enumerable: false,
    configurable: true,
  });
}

// The errors with a code are many, and most scripts throw none.
const internal = () => require('internal/codes');

// One more error with a code: made when it is first thrown.
function make(code, Base, message) {
  let Made;
  return function NodeError(...args) {
    Made ??= internal().make(code, Base, message, NodeError);
    return Made(...args);
  };
}

module.exports = {
  install,
  header,
  shifts,
  sources,
  stackOf,
  get codes() { return internal().codes; },
  make,
  get plainText() { return internal().plainText; },
};
