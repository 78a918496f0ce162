// What kind of object a value really is, whatever its prototype says: `util.types`.
'use strict';

const native = binding('util');
const tagOf = Function.prototype.call.bind(Object.prototype.toString);
const getPrototypeOf = Object.getPrototypeOf;

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// True if the value inherits from the class, or from nothing that is known: then only asking the value itself helps.
function mayBe(value, Class) {
  if (typeof value !== 'object' || value === null || native.isProxy(value)) return false;
  for (let at = getPrototypeOf(value), steps = 0; at !== null && steps < 1000; at = getPrototypeOf(at), steps++) {
    if (at === Class.prototype) return true;
    if (at === Object.prototype) return false;
  }
  return true;
}

// A check by a method that throws for anything but objects of its class.
function brand(Class, ask) {
  return (value) => {
    if (!mayBe(value, Class)) return false;
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      ask(value);
      return true;
    } catch {
      return false;
    } finally {
      Error.stackTraceLimit = limit;
    }
  };
}

const method = (Class, name) => Function.prototype.call.bind(Class.prototype[name]);
const getter = (Class, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(Class.prototype, name).get);

const mapHas = method(Map, 'has');
const setHas = method(Set, 'has');
const weakMapHas = method(WeakMap, 'has');
const weakSetHas = method(WeakSet, 'has');
const sourceOf = getter(RegExp, 'source');

const isMap = brand(Map, (value) => mapHas(value, 0));
const isSet = brand(Set, (value) => setHas(value, 0));
const isWeakMap = brand(WeakMap, (value) => weakMapHas(value, native));
const isWeakSet = brand(WeakSet, (value) => weakSetHas(value, native));
const isDate = brand(Date, method(Date, 'getTime'));
// The prototype itself has a source too, but is no regular expression.
const isRegExp = brand(RegExp, (value) => { if (value === RegExp.prototype) throw value; sourceOf(value); });
const isArrayBuffer = brand(ArrayBuffer, getter(ArrayBuffer, 'byteLength'));
const isSharedArrayBuffer = brand(SharedArrayBuffer, getter(SharedArrayBuffer, 'byteLength'));
const isNumberObject = brand(Number, method(Number, 'valueOf'));
const isStringObject = brand(String, method(String, 'valueOf'));
const isBooleanObject = brand(Boolean, method(Boolean, 'valueOf'));
const isBigIntObject = brand(BigInt, method(BigInt, 'valueOf'));
const isSymbolObject = brand(Symbol, method(Symbol, 'valueOf'));
const isWeakRef = brand(WeakRef, method(WeakRef, 'deref'));

const TypedArray = getPrototypeOf(Uint8Array);
const typedArrayName = getter(TypedArray, Symbol.toStringTag);
const typedArrayLength = getter(TypedArray, 'length');
const isTypedArray = (value) => ArrayBuffer.isView(value) && typedArrayName(value) !== undefined;

const isPromise = (value) => native.isPromise(value);
const isProxy = (value) => isObject(value) && native.isProxy(value);
const isNativeError = (value) => Error.isError(value);

// What only the tag tells: no method asks the value.
const hasTag = (value, tag) => isObject(value) && !native.isProxy(value) && tagOf(value) === tag;
const MapIterator = getPrototypeOf(new Map().entries());
const SetIterator = getPrototypeOf(new Set().entries());
const iterates = (value, prototype) => isObject(value) && value !== prototype && Object.prototype.isPrototypeOf.call(prototype, value);

// Functions tell by their text; those with the usual prototype need not be asked.
const isUnusual = (value) => typeof value === 'function' && !native.isProxy(value) && getPrototypeOf(value) !== Function.prototype;
const textOf = Function.prototype.call.bind(Function.prototype.toString);
const ASYNC = /^async(?:\s|\*|\()/;
const GENERATOR = /^(?:async\s*)?(?:function\s*)?\*/;

function isModuleNamespaceObject(value) {
  if (typeof value !== 'object' || value === null || native.isProxy(value)) return false;
  const tag = Object.getOwnPropertyDescriptor(value, Symbol.toStringTag);
  return tag !== undefined && tag.value === 'Module' && !tag.writable && !tag.configurable && getPrototypeOf(value) === null;
}

const types = {
  isExternal: () => false,
  isDate,
  isArgumentsObject: (value) => typeof value === 'object' && value !== null && value[Symbol.toStringTag] === undefined &&
    hasTag(value, '[object Arguments]'),
  isBigIntObject,
  isBooleanObject,
  isNumberObject,
  isStringObject,
  isSymbolObject,
  isBoxedPrimitive: (value) => isNumberObject(value) || isStringObject(value) || isBooleanObject(value) ||
    isBigIntObject(value) || isSymbolObject(value),
  isNativeError,
  isRegExp,
  isAsyncFunction: (value) => isUnusual(value) && ASYNC.test(textOf(value)),
  isGeneratorFunction: (value) => isUnusual(value) && GENERATOR.test(textOf(value)),
  isGeneratorObject: (value) => hasTag(value, '[object Generator]') || hasTag(value, '[object AsyncGenerator]'),
  isPromise,
  isMap,
  isSet,
  isMapIterator: (value) => iterates(value, MapIterator),
  isSetIterator: (value) => iterates(value, SetIterator),
  isWeakMap,
  isWeakSet,
  isArrayBuffer,
  isDataView: (value) => ArrayBuffer.isView(value) && typedArrayName(value) === undefined,
  isSharedArrayBuffer,
  isProxy,
  isModuleNamespaceObject,
  isAnyArrayBuffer: (value) => isArrayBuffer(value) || isSharedArrayBuffer(value),
  isCryptoKey: () => false,
  isKeyObject: () => false,
  isArrayBufferView: ArrayBuffer.isView,
  isTypedArray,
};
for (const kind of ['Uint8', 'Uint8Clamped', 'Uint16', 'Uint32', 'Int8', 'Int16', 'Int32', 'Float32', 'Float64', 'BigInt64', 'BigUint64']) {
  types[`is${kind}Array`] = (value) => ArrayBuffer.isView(value) && typedArrayName(value) === `${kind}Array`;
}
for (const [name, check] of Object.entries(types)) {
  if (name !== 'isArrayBufferView' && check.name !== name) Object.defineProperty(check, 'name', { value: name, configurable: true });
}

module.exports = types;
// For the library alone: names that `util.types` does not show.
// So many elements of a typed array are taken to be all that it has: the engine would name each one, which takes long, only to find
// that there is nothing else.
const MANY = 1 << 16;

Object.defineProperty(types, 'internal', { value: { isWeakRef, typedArrayName, typedArrayLength, isObject, MANY } });
