// Events as promises and as an async iterator: `events.once` and `events.on`.
'use strict';

const { codes, AbortError } = require('internal/codes');
const { validateAbortSignal, validateInteger } = require('internal/validators');

function listen(target, type, listener, flags) {
  if (typeof target.on === 'function') {
    if (flags?.once) target.once(type, listener);
    else target.on(type, listener);
  } else if (typeof target.addEventListener === 'function') {
    target.addEventListener(type, listener, flags);
  } else {
    throw new codes.ERR_INVALID_ARG_TYPE('emitter', 'EventEmitter', target);
  }
}

function unlisten(target, type, listener) {
  if (typeof target.removeListener === 'function') target.removeListener(type, listener);
  else if (typeof target.removeEventListener === 'function') target.removeEventListener(type, listener);
  else throw new codes.ERR_INVALID_ARG_TYPE('emitter', 'EventEmitter', target);
}

const isEmitter = (target) => typeof target.on === 'function' || typeof target.once === 'function';

function once(emitter, name, options) {
  const signal = options?.signal;
  validateAbortSignal(signal, 'options.signal');
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  return new Promise((resolve, reject) => {
    const failed = (error) => {
      emitter.removeListener(name, came);
      signal?.removeEventListener('abort', aborted);
      reject(error);
    };
    const came = (...args) => {
      if (typeof emitter.removeListener === 'function') emitter.removeListener('error', failed);
      signal?.removeEventListener('abort', aborted);
      resolve(args);
    };
    const aborted = () => {
      unlisten(emitter, name, came);
      if (isEmitter(emitter)) unlisten(emitter, 'error', failed);
      reject(new AbortError(undefined, { cause: signal.reason }));
    };
    listen(emitter, name, came, { once: true });
    if (name !== 'error' && typeof emitter.once === 'function') emitter.once('error', failed);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

const AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);

function on(emitter, event, options = {}) {
  const { signal, close } = options;
  validateAbortSignal(signal, 'options.signal');
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  const highWaterMark = options.highWaterMark ?? options.highWatermark ?? Number.MAX_SAFE_INTEGER;
  const lowWaterMark = options.lowWaterMark ?? options.lowWatermark ?? 1;
  validateInteger(highWaterMark, 'options.highWaterMark', 1);
  validateInteger(lowWaterMark, 'options.lowWaterMark', 1);
  // Either events wait for somebody, or somebody waits for events.
  const events = [];
  const waiting = [];
  const listeners = [];
  let isPaused = false;
  let error = null;
  let isFinished = false;

  const watch = (target, type, listener, flags) => {
    listen(target, type, listener, flags);
    listeners.push([target, type, listener]);
  };
  const came = (...args) => {
    if (waiting.length > 0) {
      waiting.shift().resolve({ value: args, done: false });
      return;
    }
    events.push(args);
    if (!isPaused && events.length > highWaterMark) {
      isPaused = true;
      emitter.pause?.();
    }
  };
  const failed = (reason) => {
    if (waiting.length > 0) waiting.shift().reject(reason);
    else error = reason;
    finish();
  };
  const aborted = () => failed(new AbortError(undefined, { cause: signal.reason }));
  function finish() {
    signal?.removeEventListener('abort', aborted);
    for (const [target, type, listener] of listeners.splice(0)) unlisten(target, type, listener);
    isFinished = true;
    const done = { value: undefined, done: true };
    for (const { resolve } of waiting.splice(0)) resolve(done);
    return Promise.resolve(done);
  }

  const iterator = Object.setPrototypeOf({
    next() {
      if (events.length > 0) {
        const value = events.shift();
        if (isPaused && events.length < lowWaterMark) {
          isPaused = false;
          emitter.resume?.();
        }
        return Promise.resolve({ value, done: false });
      }
      if (error) {
        const rejected = Promise.reject(error);
        error = null;
        return rejected;
      }
      if (isFinished) return finish();
      return new Promise((resolve, reject) => { waiting.push({ resolve, reject }); });
    },
    return: () => finish(),
    throw(reason) {
      if (!reason || !(reason instanceof Error)) {
        throw new codes.ERR_INVALID_ARG_TYPE('EventEmitter.AsyncIterator', 'Error', reason);
      }
      failed(reason);
    },
    [Symbol.asyncIterator]() { return this; },
  }, AsyncIteratorPrototype);

  watch(emitter, event, came);
  if (event !== 'error' && typeof emitter.on === 'function') watch(emitter, 'error', failed);
  for (const type of close ?? []) watch(emitter, type, finish);
  signal?.addEventListener('abort', aborted, { once: true });
  return iterator;
}

function addAbortListener(signal, listener) {
  if (signal === undefined) throw new codes.ERR_INVALID_ARG_TYPE('signal', 'AbortSignal', signal);
  validateAbortSignal(signal, 'signal');
  require('internal/validators').validateFunction(listener, 'listener');
  let remove;
  if (signal.aborted) {
    queueMicrotask(() => listener());
  } else {
    signal.addEventListener('abort', listener, { once: true });
    remove = () => signal.removeEventListener('abort', listener);
  }
  return { [Symbol.dispose]() { remove?.(); } };
}

module.exports = { once, on, addAbortListener };
