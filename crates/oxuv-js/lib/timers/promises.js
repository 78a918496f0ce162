// The module `timers/promises`.
'use strict';

const timers = require('timers');

const validators = () => require('internal/validators');
const aborted = (signal) => new (require('internal/codes').AbortError)(undefined, { cause: signal.reason });

// Wrong arguments reject, they do not throw.
function checked(options, name = 'options') {
  validators().validateObject(options, name);
  const { signal, ref = true } = options;
  validators().validateAbortSignal(signal, `${name}.signal`);
  validators().validateBoolean(ref, `${name}.ref`);
  return { signal, ref };
}

// A promise of `value` that `begin` starts a timer for, and `clear` gives up when the signal comes.
function wait(value, options, begin, clear) {
  let flags = { signal: undefined, ref: true };
  try {
    if (options !== undefined) flags = checked(options);
  } catch (error) {
    return Promise.reject(error);
  }
  const { signal, ref } = flags;
  if (signal?.aborted) return Promise.reject(aborted(signal));
  return new Promise((resolve, reject) => {
    const timer = begin(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    });
    if (!ref) timer.unref();
    function onAbort() {
      clear(timer);
      reject(aborted(signal));
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function setTimeout(delay, value, options) {
  return wait(value, options, (done) => timers.setTimeout(done, delay), timers.clearTimeout);
}

function setImmediate(value, options) {
  return wait(value, options, (done) => timers.setImmediate(done), timers.clearImmediate);
}

async function* setInterval(delay, value, options = {}) {
  const { signal, ref } = checked(options);
  if (signal?.aborted) throw aborted(signal);
  let wake;
  // Times that came while nobody waited.
  let missed = 0;
  const timer = timers.setInterval(() => {
    missed++;
    wake?.();
  }, delay);
  if (!ref) timer.unref();
  let fail;
  const onAbort = () => {
    timers.clearInterval(timer);
    fail?.(aborted(signal));
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal?.aborted) {
      if (missed === 0) await new Promise((resolve, reject) => { wake = resolve; fail = reject; });
      for (; missed > 0; missed--) yield value;
    }
    throw aborted(signal);
  } finally {
    timers.clearInterval(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

const kMade = Symbol('made');

class Scheduler {
  constructor(made) {
    if (made !== kMade) throw new (require('internal/codes').codes.ERR_ILLEGAL_CONSTRUCTOR)();
  }

  yield() { return setImmediate(); }
  wait(delay, options) { return setTimeout(delay, undefined, options); }
}

module.exports = { setTimeout, setImmediate, setInterval, scheduler: new Scheduler(kMade) };
