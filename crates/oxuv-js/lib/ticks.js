// Ticks, microtasks and rejected promises: the queues that are worked off after every callback.
'use strict';

const { runMicrotasks } = binding('engine');
const errors = require('errors');

// Ticks stand in a list of rounds, so that neither end costs more for many.
let queue = [];
let next = 0;

function nextTick(callback, ...args) {
  if (typeof callback !== 'function') throw new errors.codes.ERR_INVALID_ARG_TYPE('callback', 'Function', callback);
  if (process._exiting) return;
  queue.push({ callback, args: args.length === 0 ? undefined : args });
}

function takeTick() {
  if (next === queue.length) return undefined;
  const tick = queue[next];
  queue[next++] = undefined;
  if (next === queue.length) {
    queue.length = next = 0;
  } else if (next === 1024) {
    queue = queue.slice(next);
    next = 0;
  }
  return tick;
}

function queueMicrotask(callback) {
  if (typeof callback !== 'function') throw new errors.codes.ERR_INVALID_ARG_TYPE('callback', 'Function', callback);
  Promise.prototype.then.call(resolved, () => {
    try {
      callback();
    } catch (error) {
      process._triggerUncaught(error, false);
    }
  });
}
const resolved = Promise.resolve();

// Works off everything. What a tick throws leaves this; the rest is worked off the next time.
function drain() {
  if (next === queue.length && !hasRejections()) {
    runMicrotasks();
    if (next === queue.length && !hasRejections()) return;
  }
  do {
    let tick;
    while ((tick = takeTick()) !== undefined) {
      const { callback, args } = tick;
      if (args === undefined) callback();
      else callback(...args);
    }
    runMicrotasks();
  } while (next !== queue.length || processRejections());
}

// Promises rejected without a handler: from the rejection on, until a handler comes.
const unhandled = new Map();
// Those of them that nobody has been told of yet.
let pending = [];
// Those that got a handler after somebody was told.
let handledLate = [];

function rejection(promise, reason, isHandled) {
  if (!isHandled) {
    unhandled.set(promise, { reason, told: false });
    pending.push(promise);
    return;
  }
  const known = unhandled.get(promise);
  if (known === undefined) return;
  unhandled.delete(promise);
  if (known.told) handledLate.push(promise);
}

function hasRejections() {
  return pending.length > 0 || handledLate.length > 0;
}

// True if that may have added ticks or microtasks.
function processRejections() {
  let some = false;
  while (handledLate.length > 0) {
    process.emit('rejectionHandled', handledLate.shift());
    some = true;
  }
  let count = pending.length;
  while (count-- > 0) {
    const promise = pending.shift();
    const known = unhandled.get(promise);
    if (known === undefined) continue;
    known.told = true;
    some = true;
    const { reason } = known;
    if (process.emit('unhandledRejection', reason, promise)) continue;
    process._triggerUncaught(reason instanceof Error ? reason : new errors.codes.ERR_UNHANDLED_REJECTION(reason), true);
  }
  return some || pending.length > 0;
}

module.exports = { nextTick, queueMicrotask, drain, rejection };
