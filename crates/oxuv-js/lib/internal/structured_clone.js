// structuredClone: a copy of a value, circles and all, without functions.
'use strict';

const types = require('internal/types');
const { kClone } = require('internal/transferable');

const fail = (value) => {
  const text = typeof value === 'function' ? Function.prototype.toString.call(value)
    : typeof value === 'symbol' ? Symbol.prototype.toString.call(value) : `#<${value?.constructor?.name ?? 'Object'}>`;
  throw new (globalThis.DOMException)(`${text} could not be cloned.`, 'DataCloneError');
};

const ERRORS = new Set(['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']);

function clone(value, known) {
  if (typeof value === 'function' || typeof value === 'symbol') fail(value);
  if (value === null || typeof value !== 'object') return value;
  const copied = known.get(value);
  if (copied !== undefined) return copied;
  const keep = (copy) => { known.set(value, copy); return copy; };
  if (isForeignProxy(value)) fail(value);
  if (Array.isArray(value)) {
    const copy = keep(new Array(value.length));
    for (const key of Object.keys(value)) copy[key] = clone(value[key], known);
    return copy;
  }
  if (types.isDate(value)) return keep(new Date(Date.prototype.getTime.call(value)));
  if (types.isRegExp(value)) return keep(new RegExp(value.source, value.flags));
  if (types.isBoxedPrimitive(value)) {
    if (types.isSymbolObject(value)) fail(value);
    return keep(Object(value.valueOf()));
  }
  if (types.isMap(value)) {
    const copy = keep(new Map());
    // Those that are there now: a getter may add others.
    for (const [key, each] of [...Map.prototype.entries.call(value)]) copy.set(clone(key, known), clone(each, known));
    return copy;
  }
  if (types.isSet(value)) {
    const copy = keep(new Set());
    for (const each of [...Set.prototype.values.call(value)]) copy.add(clone(each, known));
    return copy;
  }
  if (types.isSharedArrayBuffer(value)) return keep(value);
  if (types.isArrayBuffer(value)) return keep(cloneBuffer(value));
  if (ArrayBuffer.isView(value)) return keep(cloneView(value, known));
  if (types.isNativeError(value)) return cloneError(value, known, keep);
  if (isPlatformObject(value)) fail(value);
  if (typeof value[kClone] === 'function') return keep(cloneOwn(value, known));
  const copy = keep({});
  for (const key of Object.keys(value)) copy[key] = clone(value[key], known);
  return copy;
}

function cloneBuffer(buffer) {
  if (buffer.detached) throw new (globalThis.DOMException)('An ArrayBuffer is detached and could not be cloned.', 'DataCloneError');
  if (!buffer.resizable) return buffer.slice(0);
  const copy = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength });
  new Uint8Array(copy).set(new Uint8Array(buffer));
  return copy;
}

function cloneView(view, known) {
  const buffer = clone(view.buffer, known);
  const Class = types.isDataView(view) ? DataView : globalThis[types.internal.typedArrayName(view)];
  return new Class(buffer, view.byteOffset, types.isDataView(view) ? view.byteLength : view.length);
}

function cloneError(error, known, keep) {
  const name = `${error.name}`;
  const made = keep(new (globalThis[ERRORS.has(name) ? name : 'Error'])());
  const message = Object.getOwnPropertyDescriptor(error, 'message');
  if (message !== undefined && 'value' in message) {
    Object.defineProperty(made, 'message', { value: `${message.value}`, writable: true, configurable: true, enumerable: false });
  }
  if (Object.hasOwn(error, 'cause')) {
    Object.defineProperty(made, 'cause', { value: clone(error.cause, known), writable: true, configurable: true, enumerable: false });
  }
  if (typeof error.stack === 'string') made.stack = error.stack;
  return made;
}

// Objects of the library's own that say themselves what is to be copied.
function cloneOwn(object, known) {
  const { kind, value, isShared = false } = object[kClone]();
  return require('internal/messages').MAKERS[kind](isShared ? value : clone(value, known));
}

// A proxy hides what it stands for; only the environment is known.
const isForeignProxy = (value) => types.isProxy(value) && !require('internal/process').isEnvironment(value);

// Objects whose state is hidden cannot be copied.
function isPlatformObject(value) {
  return types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value) || types.internal.isWeakRef(value) ||
    types.isGeneratorObject(value) || types.isMapIterator(value) || types.isSetIterator(value);
}

function structuredClone(value, options) {
  if (arguments.length === 0) {
    throw new (require('internal/codes').codes.ERR_MISSING_ARGS)('value');
  }
  const transfer = [...(options?.transfer ?? [])];
  const known = new Map();
  for (const each of transfer) {
    if (!types.isArrayBuffer(each)) {
      throw new (globalThis.DOMException)('Value could not be transferred.', 'DataCloneError');
    }
    if (known.has(each)) throw new (globalThis.DOMException)('Transfer list contains duplicate ArrayBuffer', 'DataCloneError');
    known.set(each, each.slice(0));
  }
  // Only when all could be cloned are the originals emptied.
  const copy = clone(value, known);
  for (const each of transfer) each.transfer();
  return copy;
}

module.exports = { structuredClone, fail, isForeignProxy, isPlatformObject };
