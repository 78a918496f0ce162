// What streams stand on: errors and small functions, by the names by which the package readable-stream knows them.
'use strict';

const { codes, AbortError } = require('internal/codes');
const { promisify } = require('internal/util_functions');
const types = require('internal/types');
const EventEmitter = require('events');

// Two errors of one matter. The second one is what the script is told of.
function aggregateTwoErrors(inner, outer) {
  if (!inner || !outer || inner === outer) return inner || outer;
  if (Array.isArray(outer.errors)) {
    outer.errors.push(inner);
    return outer;
  }
  const error = new AggregateError([outer, inner], outer.message);
  error.code = outer.code;
  return error;
}

function once(callback) {
  let isCalled = false;
  return function (...args) {
    if (isCalled) return;
    isCalled = true;
    Reflect.apply(callback, this, args);
  };
}

function createDeferredPromise() {
  const { promise, resolve, reject } = Promise.withResolvers();
  return { promise, resolve, reject };
}

// Streams tell much of themselves: nothing is loaded for it unless somebody wants to hear it.
function debuglog(section, ready) {
  return process.env.NODE_DEBUG ? require('internal/util_functions').debuglog(section, ready) : () => {};
}

module.exports = {
  AbortError,
  AbortSignalAny: (signals) => AbortSignal.any(signals),
  addAbortListener: EventEmitter.addAbortListener,
  aggregateTwoErrors,
  codes,
  createDeferredPromise,
  debuglog,
  deprecate: (original) => original,
  inspect: (...args) => require('internal/inspect').inspect(...args),
  isBlob: (value) => value instanceof Blob,
  kEmptyObject: Object.freeze({ __proto__: null }),
  once,
  promisify,
  types,
};
