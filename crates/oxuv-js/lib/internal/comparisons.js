// Deep equality, strict and loose.
'use strict';

const types = require('internal/types');

const isIndex = (key) => /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
const isEnumerable = (value, key) => Object.prototype.propertyIsEnumerable.call(value, key);
const tagOf = (value) => Object.prototype.toString.call(value);
const isObject = (value) => value !== null && typeof value === 'object';
const isError = (value) => types.isNativeError(value) || value instanceof Error;

const PLAIN = 0, LIST = 1, SET = 2, MAP = 3;

const bothNaN = (one, other) => Number.isNaN(one) && Number.isNaN(other);

function isEqual(one, other, strict, seen) {
  if (one === other) return one !== 0 || !strict || Object.is(one, other);
  if (strict) {
    if (typeof one !== 'object') return typeof one === 'number' && bothNaN(one, other);
    if (!isObject(one) || !isObject(other)) return false;
    if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  } else {
    // eslint-disable-next-line eqeqeq
    if (!isObject(one)) return !isObject(other) && (one == other || bothNaN(one, other));
    if (!isObject(other)) return false;
  }
  const tag = tagOf(one);
  if (tag !== tagOf(other)) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    const keys = Object.keys(one).filter((key) => !isIndex(key));
    if (keys.length !== Object.keys(other).filter((key) => !isIndex(key)).length) return false;
    return haveEqualParts(one, other, strict, seen, LIST, keys);
  }
  if (tag === '[object Object]' && !types.isMap(one) && !types.isSet(one)) {
    return haveEqualParts(one, other, strict, seen, PLAIN);
  }
  if (types.isDate(one)) {
    if (!types.isDate(other)) return false;
    const [time, otherTime] = [one, other].map((date) => Date.prototype.getTime.call(date));
    if (time !== otherTime && !bothNaN(time, otherTime)) return false;
  } else if (types.isRegExp(one)) {
    if (!types.isRegExp(other) || one.source !== other.source || one.flags !== other.flags || one.lastIndex !== other.lastIndex) return false;
  } else if (isError(one)) {
    // Not enumerable as a rule, but what makes an error.
    if (!isError(other) || one.message !== other.message || one.name !== other.name) return false;
  } else if (ArrayBuffer.isView(one)) {
    if (!areEqualViews(one, other, strict)) return false;
    if (one.length > types.internal.MANY) return true;
    const named = (value) => Object.keys(value).filter((key) => !isIndex(key));
    const keys = named(one);
    return keys.length === named(other).length && haveEqualParts(one, other, strict, seen, PLAIN, keys);
  } else if (types.isSet(one)) {
    if (!types.isSet(other) || one.size !== other.size) return false;
    return haveEqualParts(one, other, strict, seen, SET);
  } else if (types.isMap(one)) {
    if (!types.isMap(other) || one.size !== other.size) return false;
    return haveEqualParts(one, other, strict, seen, MAP);
  } else if (types.isAnyArrayBuffer(one)) {
    if (!types.isAnyArrayBuffer(other) || !areEqualBytes(new Uint8Array(one), new Uint8Array(other))) return false;
  } else if (types.isBoxedPrimitive(one)) {
    if (!areEqualBoxes(one, other)) return false;
  } else if (Array.isArray(other) || ArrayBuffer.isView(other) || types.isSet(other) || types.isMap(other) || types.isDate(other) ||
      types.isRegExp(other) || types.isAnyArrayBuffer(other) || types.isBoxedPrimitive(other) || isError(other)) {
    return false;
  }
  return haveEqualParts(one, other, strict, seen, PLAIN);
}

// So few bytes are compared here.
const FEW = 256;

function areEqualBytes(one, other) {
  if (one.length !== other.length) return false;
  if (one.length > FEW) return binding('text').compare(one, other) === 0;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}

function areEqualViews(one, other, strict) {
  if (!ArrayBuffer.isView(other) || one.byteLength !== other.byteLength) return false;
  if (!strict && (types.isFloat32Array(one) || types.isFloat64Array(one))) {
    // Zeros of either sign are the same.
    for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
    return true;
  }
  const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  return areEqualBytes(bytes(one), bytes(other));
}

function areEqualBoxes(one, other) {
  for (const [is, Class] of [[types.isNumberObject, Number], [types.isStringObject, String], [types.isBooleanObject, Boolean],
    [types.isBigIntObject, BigInt], [types.isSymbolObject, Symbol]]) {
    if (is(one)) return is(other) && Object.is(Class.prototype.valueOf.call(one), Class.prototype.valueOf.call(other));
  }
  return false;
}

function haveEqualParts(one, other, strict, seen, kind, keys) {
  if (keys === undefined) {
    keys = Object.keys(one);
    if (keys.length !== Object.keys(other).length) return false;
  }
  for (const key of keys) if (!Object.hasOwn(other, key)) return false;
  if (strict) {
    const symbols = Object.getOwnPropertySymbols(one).filter((key) => isEnumerable(one, key));
    for (const key of symbols) if (!isEnumerable(other, key)) return false;
    if (Object.getOwnPropertySymbols(other).filter((key) => isEnumerable(other, key)).length !== symbols.length) return false;
    if (symbols.length > 0) keys = [...keys, ...symbols];
  }
  // Where both are on the way already, a circle closes: it is equal if all else is.
  seen ??= { ones: new Set(), others: new Set() };
  if (seen.ones.has(one) && seen.others.has(other)) return true;
  seen.ones.add(one);
  seen.others.add(other);
  const result = areEqualContents(one, other, strict, seen, kind, keys);
  seen.ones.delete(one);
  seen.others.delete(other);
  return result;
}

function areEqualContents(one, other, strict, seen, kind, keys) {
  if (kind === SET && !areEqualSets(one, other, strict, seen)) return false;
  if (kind === MAP && !areEqualMaps(one, other, strict, seen)) return false;
  if (kind === LIST) {
    for (let i = 0; i < one.length; i++) {
      const has = Object.hasOwn(one, i);
      if (has !== Object.hasOwn(other, i)) return false;
      if (has && !isEqual(one[i], other[i], strict, seen)) return false;
    }
  }
  return keys.every((key) => isEqual(one[key], other[key], strict, seen));
}

// True if each of these finds a partner of its own among the others.
function canPair(some, others, matches) {
  const left = [...others];
  return some.every((each) => {
    const at = left.findIndex((candidate) => matches(each, candidate));
    if (at < 0) return false;
    left.splice(at, 1);
    return true;
  });
}

// Values that the other has as well need no search; a primitive may be loosely equal to others only.
const isSought = (value, strict) => isObject(value) || (!strict && typeof value !== 'symbol');

function areEqualSets(one, other, strict, seen) {
  const unmatched = [];
  for (const value of one) {
    if (isObject(value) || !other.has(value)) {
      if (!isSought(value, strict)) return false;
      unmatched.push(value);
    }
  }
  if (unmatched.length === 0) return true;
  const rest = [...other].filter((value) => isObject(value) || !one.has(value));
  return rest.length === unmatched.length && canPair(unmatched, rest, (a, b) => isEqual(a, b, strict, seen));
}

function areEqualMaps(one, other, strict, seen) {
  const unmatched = [];
  for (const [key, value] of one) {
    if (!isObject(key) && other.has(key)) {
      if (isEqual(value, other.get(key), strict, seen)) continue;
      if (strict) return false;
    }
    if (!isSought(key, strict)) return false;
    unmatched.push([key, value]);
  }
  if (unmatched.length === 0) return true;
  const rest = [...other].filter(([key]) => isObject(key) || !one.has(key) || (!strict && unmatched.some(([mine]) => mine === key)));
  return rest.length >= unmatched.length &&
    canPair(unmatched, rest, (a, b) => isEqual(a[0], b[0], strict, seen) && isEqual(a[1], b[1], strict, seen));
}

module.exports = {
  isDeepStrictEqual: (one, other) => isEqual(one, other, true),
  isDeepEqual: (one, other) => isEqual(one, other, false),
};
