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

// Where errors were emitted that nobody listened to.
const emitted = new WeakMap();

// The bodies of modules, which have no name of their own.
const bodies = new WeakSet();

function columnOf(site, file, line) {
  const column = site.getColumnNumber();
  return line === 1 && shifts.has(file) ? Math.max(1, column - shifts.get(file)) : column;
}

function frame(site) {
  const file = site.getFileName();
  const line = site.getLineNumber();
  const place = file === null ? 'native' : `${file}:${line}:${columnOf(site, file, line)}`;
  let name = site.getFunctionName();
  if (!name && bodies.has(site.getFunction())) name = 'Object.<anonymous>';
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

const START = /^node:internal\/(?:bootstrap|modules|esm|start|ticks)$/;
const isStart = (site) => site.getFileName() === null || START.test(site.getFileName());

// The frames without those that say nothing: the making of the error, and, below the script's own, the start of the script.
function worthSaying(error, sites) {
  let first = 0;
  while (first < sites.length && isConstructor(error, sites[first])) first++;
  let end = sites.length;
  while (end > first && isStart(sites[end - 1])) end--;
  if (end === first) end = sites.length;
  return sites.slice(first, end);
}

function textOf(error, sites) {
  if (typeof prepareByScript === 'function') return require('internal/call_site').prepare(prepareByScript, error, worthSaying(error, sites));
  let text = header(error);
  for (const site of worthSaying(error, sites)) text += frame(site);
  return text;
}

// Taken now: the engine makes its functions when they are first looked at, and if memory is short then, it never has them.
const { isArray } = Array;
const nativeStack = Object.getOwnPropertyDescriptor(Error.prototype, 'stack').get;

// The engine keeps the frames of an error until somebody looks: as in Node, name and message are those of that time.
function stackOf(error) {
  if (Object.hasOwn(error, 'stack')) return error.stack;
  const sites = nativeStack.call(error);
  if (!isArray(sites)) return sites;
  if (!Object.hasOwn(sites, 'text')) {
    // An error of whoever prepares it must not come again and again.
    sites.text = undefined;
    sites.text = textOf(error, sites);
    sites.length = 0;
  }
  return sites.text;
}

const nativeCapture = Error.captureStackTrace;

// Here an own property is wanted, with the text as of now.
function captureStackTrace(object, above) {
  nativeCapture(object, typeof above === 'function' ? above : captureStackTrace);
  const own = Object.getOwnPropertyDescriptor(object, 'stack')?.value;
  if (isArray(own)) {
    Object.defineProperty(object, 'stack', { __proto__: null, value: textOf(object, own), writable: true, enumerable: false, configurable: true });
  }
}

function install() {
  Object.defineProperty(Error, 'captureStackTrace', { value: captureStackTrace, writable: true, enumerable: false, configurable: true });
  const own = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  // No function of a script: that would find no room after endless recursion.
  own.set.call(Error, binding('engine').keepSites);
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

// Puts a frame in front of the others.
function addFrame(error, place) {
  const text = String(error.stack);
  const at = text.search(/\n {4}at /);
  error.stack = at < 0 ? `${text}\n    at ${place}` : `${text.slice(0, at)}\n    at ${place}${text.slice(at)}`;
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
  bodies,
  emitted,
  columnOf,
  addFrame,
  stackOf,
  get codes() { return internal().codes; },
  make,
  get plainText() { return internal().plainText; },
};
