// AbortController and AbortSignal.
'use strict';

const { codes } = require('internal/codes');
const { Event, EventTarget, prepare, defineHandler, show, kChanged, dispatch, trusted } = require('internal/event_target');
const { kMaxEventTargetListeners: kMax } = require('events');

const custom = Symbol.for('nodejs.util.inspect.custom');
const kState = Symbol('kState');

const exception = (message, name) => new (globalThis.DOMException)(message, name);
const abortReason = () => exception('This operation was aborted', 'AbortError');

function stateOf(signal) {
  const state = signal?.[kState];
  if (state === undefined) throw new codes.ERR_INVALID_THIS('AbortSignal');
  return state;
}

class AbortSignal extends EventTarget {
  constructor() {
    throw new codes.ERR_ILLEGAL_CONSTRUCTOR();
  }

  get aborted() { return stateOf(this).isAborted; }
  get reason() { return stateOf(this).reason; }
  throwIfAborted() {
    const { isAborted, reason } = stateOf(this);
    if (isAborted) throw reason;
  }

  [custom](depth, options) {
    return depth < 0 ? this : show(this, { aborted: this.aborted }, depth, options);
  }

  static abort(reason = abortReason()) {
    return makeSignal(true, reason);
  }

  static timeout(delay) {
    require('internal/validators').validateUint32(delay, 'delay', false);
    const signal = makeSignal();
    // Nobody waits for a signal that nobody can see any more, and nothing waits for the time.
    const weak = new WeakRef(signal);
    const timer = require('timers').setTimeout(() => {
      const alive = weak.deref();
      if (alive !== undefined) abortSignal(alive, exception('The operation was aborted due to timeout', 'TimeoutError'));
    }, delay);
    timer.unref();
    keepWhileHeard(signal);
    return signal;
  }

  static any(signals) {
    if (signals === null || typeof signals !== 'object' || typeof signals[Symbol.iterator] !== 'function') {
      throw new codes.ERR_INVALID_ARG_TYPE('signals', 'Iterable', signals);
    }
    const all = [...signals];
    all.forEach((signal, i) => {
      if (signal?.[kState] === undefined) throw new codes.ERR_INVALID_ARG_TYPE(`signals[${i}]`, 'AbortSignal', signal);
    });
    const result = makeSignal();
    const aborted = all.find((signal) => signal.aborted);
    if (aborted !== undefined) {
      Object.assign(result[kState], { isAborted: true, reason: aborted.reason });
      return result;
    }
    // Signals made of others hang on those alone that can abort by themselves.
    const sources = new Set();
    for (const signal of all) for (const source of signal[kState].sources ?? [signal]) sources.add(source);
    result[kState].sources = sources;
    // A source that lives long does not keep all that were ever made of it.
    const weak = new WeakRef(result);
    for (const source of sources) source[kState].dependents.add(weak);
    forgotten.register(result, { weak, sources: [...sources].map((source) => new WeakRef(source)) });
    keepWhileHeard(result);
    return result;
  }
}

const forgotten = new FinalizationRegistry(({ weak, sources }) => {
  for (const source of sources) source.deref()?.[kState].dependents.delete(weak);
});

// Signals that somebody listens to, though perhaps nobody has them.
const heard = new Set();

function keepWhileHeard(signal) {
  signal[kChanged] = (type, count) => {
    if (type !== 'abort') return;
    if (count > 0 && !signal.aborted) heard.add(signal);
    else heard.delete(signal);
  };
}

function makeSignal(isAborted = false, reason = undefined) {
  const signal = Object.create(AbortSignal.prototype);
  prepare(signal);
  signal[kMax] = 0;
  Object.defineProperty(signal, kChanged, { value: undefined, writable: true });
  Object.defineProperty(signal, kState, { value: { isAborted, reason, dependents: new Set(), sources: undefined } });
  return signal;
}

function abortSignal(signal, reason) {
  const state = signal[kState];
  if (state.isAborted) return;
  // All that hang on it are aborted before anybody hears of it.
  const told = [signal];
  Object.assign(state, { isAborted: true, reason });
  for (const weak of state.dependents) {
    const dependent = weak.deref();
    if (dependent === undefined || dependent[kState].isAborted) continue;
    Object.assign(dependent[kState], { isAborted: true, reason });
    told.push(dependent);
  }
  state.dependents.clear();
  for (const each of told) {
    heard.delete(each);
    const event = new Event('abort');
    trusted.add(event);
    dispatch(each, event);
  }
}

class AbortController {
  #signal = makeSignal();

  static #of(value) {
    if (value === null || typeof value !== 'object' || !(#signal in value)) throw new codes.ERR_INVALID_THIS('AbortController');
    return value;
  }

  get signal() { return AbortController.#of(this).#signal; }
  abort(reason = abortReason()) { abortSignal(AbortController.#of(this).#signal, reason); }

  [custom](depth, options) {
    return depth < 0 ? this : show(this, { signal: this.signal }, depth, options);
  }
}

Object.defineProperties(AbortSignal.prototype, {
  [Symbol.toStringTag]: { value: 'AbortSignal', configurable: true },
  aborted: { enumerable: true },
  reason: { enumerable: true },
  throwIfAborted: { enumerable: true },
});
defineHandler(AbortSignal.prototype, 'abort');
Object.defineProperties(AbortController.prototype, {
  [Symbol.toStringTag]: { value: 'AbortController', configurable: true },
  signal: { enumerable: true },
  abort: { enumerable: true },
});

module.exports = { AbortController, AbortSignal };
