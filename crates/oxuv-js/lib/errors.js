// Errors with a code, and stack traces that begin with name and message.
'use strict';

const kIsNodeError = Symbol('kIsNodeError');

// A class of errors: named as its base, with a code, and a message from its arguments.
function make(code, Base, message) {
  return class NodeError extends Base {
    constructor(...args) {
      super(message(...args));
      Object.defineProperty(this, kIsNodeError, { value: true });
      this.code = code;
      Object.defineProperty(this, 'name', { value: `${Base.name} [${code}]`, enumerable: false, writable: true, configurable: true });
      captureStack(this, NodeError);
      delete this.name;
    }

    toString() {
      return `${this.name} [${code}]: ${this.message}`;
    }
  };
}

class UnhandledPromiseRejection extends Error {}
Object.defineProperty(UnhandledPromiseRejection.prototype, 'name', { value: 'UnhandledPromiseRejection', writable: true, configurable: true });

function captureStack(error, above) {
  if (Error.stackTraceLimit > 0) Error.captureStackTrace(error, above);
}

// How a value that was not wanted is told of.
function received(value) {
  if (value === null || value === undefined) return ` Received ${value}`;
  if (typeof value === 'function' && value.name) return ` Received function ${value.name}`;
  if (typeof value === 'object') {
    if (value.constructor?.name) return ` Received an instance of ${value.constructor.name}`;
    return ` Received ${require('util').inspect(value, { depth: -1 })}`;
  }
  let text = typeof value === 'string' ? `'${value}'` : String(value);
  if (text.length > 28) text = `${text.slice(0, 25)}...`;
  return ` Received type ${typeof value} (${text})`;
}

function invalidArgType(name, expected, actual) {
  const kinds = Array.isArray(expected) ? expected : [expected];
  const what = name.endsWith(' argument') || name.includes('.') ? `The ${name.includes('.') && !name.endsWith(' argument') ? `"${name}" property` : name}` : `The "${name}" argument`;
  const types = kinds.map((kind) => (kind === 'Function' ? 'function' : kind));
  const isType = (kind) => /^[a-z]/.test(kind);
  const primitives = types.filter(isType);
  const classes = types.filter((kind) => !isType(kind));
  const parts = [];
  if (primitives.length > 0) parts.push(`${primitives.length > 1 ? 'one of type' : 'of type'} ${list(primitives)}`);
  if (classes.length > 0) parts.push(`an instance of ${list(classes)}`);
  return `${what} must be ${parts.join(' or ')}.${received(actual)}`;
}

function list(words) {
  if (words.length < 3) return words.join(' or ');
  return `${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`;
}

const codes = {
  ERR_INVALID_ARG_TYPE: make('ERR_INVALID_ARG_TYPE', TypeError, invalidArgType),
  ERR_UNHANDLED_REJECTION: make('ERR_UNHANDLED_REJECTION', UnhandledPromiseRejection, (reason) =>
    'This error originated either by throwing inside of an async function without a catch block, ' +
    'or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason ' +
    `"${typeof reason === 'object' && reason !== null ? '#<Object>' : String(reason)}".`),
};

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

function prepare(error, sites) {
  if (typeof prepareByScript === 'function') return prepareByScript.call(Error, error, sites);
  let text = header(error);
  let first = 0;
  while (first < sites.length && isConstructor(error, sites[first])) first++;
  for (let at = first; at < sites.length; at++) text += frame(sites[at]);
  return text;
}

function install() {
  const own = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  own.set.call(Error, prepare);
  Object.defineProperty(Error, 'prepareStackTrace', {
    get: () => prepareByScript,
    set: (value) => { prepareByScript = value; },
    enumerable: false,
    configurable: true,
  });
}

module.exports = { codes, install, captureStack, make, header, shifts };
