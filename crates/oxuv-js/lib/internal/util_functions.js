// The parts of `util` that turn functions into others.
'use strict';

const process = require('process');
const { codes } = require('internal/codes');
const { validateFunction, validateString, validateObject } = require('internal/validators');

const kCustom = Symbol.for('nodejs.util.promisify.custom');
const kNames = Symbol('customPromisifyArgs');

function promisify(original) {
  validateFunction(original, 'original');
  if (original[kCustom]) {
    const own = original[kCustom];
    validateFunction(own, 'util.promisify.custom');
    return Object.defineProperty(own, kCustom, { value: own, enumerable: false, writable: false, configurable: true });
  }
  // Some callbacks get several values; they come as an object.
  const names = original[kNames];
  function promised(...args) {
    return new Promise((resolve, reject) => {
      Reflect.apply(original, this, [...args, (error, ...values) => {
        if (error) return reject(error);
        if (names !== undefined && values.length > 1) {
          const object = {};
          names.forEach((name, i) => { object[name] = values[i]; });
          return resolve(object);
        }
        return resolve(values[0]);
      }]);
    });
  }
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  Object.defineProperty(promised, kCustom, { value: promised, enumerable: false, writable: false, configurable: true });
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = kCustom;

function callbackify(original) {
  validateFunction(original, 'original');
  function callbackified(...args) {
    const callback = args.pop();
    validateFunction(callback, 'last argument');
    const call = callback.bind(this);
    // On a tick, so that what the callback throws is an exception and no rejection.
    Reflect.apply(original, this, args).then(
      (value) => process.nextTick(call, null, value),
      (reason) => process.nextTick(rejected, reason, call));
  }
  const descriptors = Object.getOwnPropertyDescriptors(original);
  if (typeof descriptors.length.value === 'number') descriptors.length.value++;
  if (typeof descriptors.name.value === 'string') descriptors.name.value += 'Callbackified';
  return Object.defineProperties(callbackified, descriptors);
}

function rejected(reason, callback) {
  if (!reason) {
    const error = new codes.ERR_FALSY_VALUE_REJECTION();
    error.reason = reason;
    Error.captureStackTrace(error, rejected);
    reason = error;
  }
  return callback(reason);
}

function inherits(constructor, superConstructor) {
  if (constructor === undefined || constructor === null) throw new codes.ERR_INVALID_ARG_TYPE('ctor', 'Function', constructor);
  if (superConstructor === undefined || superConstructor === null) {
    throw new codes.ERR_INVALID_ARG_TYPE('superCtor', 'Function', superConstructor);
  }
  if (superConstructor.prototype === undefined) {
    throw new codes.ERR_INVALID_ARG_TYPE('superCtor.prototype', 'Object', superConstructor.prototype);
  }
  Object.defineProperty(constructor, 'super_', { value: superConstructor, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, superConstructor.prototype);
}

const warnedCodes = new Set();

function deprecate(original, message, code) {
  if (process.noDeprecation === true) return original;
  if (code !== undefined) validateString(code, 'code');
  let hasWarned = false;
  function deprecated(...args) {
    if (!hasWarned) {
      hasWarned = true;
      if (code === undefined) process.emitWarning(message, 'DeprecationWarning', deprecated);
      else if (!warnedCodes.has(code)) process.emitWarning(message, 'DeprecationWarning', code, deprecated);
      warnedCodes.add(code);
    }
    if (new.target) return Reflect.construct(original, args, new.target);
    return Reflect.apply(original, this, args);
  }
  Object.setPrototypeOf(deprecated, original);
  if (original.prototype) deprecated.prototype = original.prototype;
  return deprecated;
}

let debugged;

// Which sections the environment variable NODE_DEBUG names.
function isDebugged(section) {
  if (debugged === undefined) {
    const names = (process.env.NODE_DEBUG ?? '').trim();
    const pattern = names.replace(/[|\\{}()[\]^$+?.]/g, '\\$&').replaceAll('*', '.*').replaceAll(',', '$|^');
    debugged = names === '' ? /$^/ : new RegExp(`^${pattern}$`, 'i');
  }
  return debugged.test(section);
}

function debuglog(section, ready) {
  section = section.toUpperCase();
  let isOn;
  const enabled = () => (isOn ??= isDebugged(section));
  let log = (...args) => {
    const { formatWithOptions } = require('internal/format');
    log = (...parts) => {
      if (enabled()) process.stderr.write(`${section} ${process.pid}: ${formatWithOptions({}, ...parts)}\n`);
    };
    if (typeof ready === 'function') ready(log);
    log(...args);
  };
  const logger = (...args) => log(...args);
  return Object.defineProperty(logger, 'enabled', { get: enabled, configurable: true, enumerable: true });
}

function aborted(signal, resource) {
  if (signal === undefined) throw new codes.ERR_INVALID_ARG_TYPE('signal', 'AbortSignal', signal);
  require('internal/validators').validateAbortSignal(signal, 'signal');
  validateObject(resource, 'resource', { allowFunction: true });
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => { signal.addEventListener('abort', () => resolve(), { once: true }); });
}

module.exports = { promisify, callbackify, inherits, deprecate, debuglog, aborted, kNames };
