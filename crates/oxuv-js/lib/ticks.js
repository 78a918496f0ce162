// Ticks, microtasks and rejected promises: the queues that are worked off after every callback.
'use strict';

const process = require('process');
const { runMicrotasks } = binding('engine');
const errors = require('errors');

// Ticks stand in chunks, each with the next one behind it, so that neither end costs more for many. A tick takes two places: the
// callback, and its arguments.
const CHUNK = 2048;
let first = { places: [], next: undefined };
let last = first;
// The place in the first chunk whose turn it is.
let at = 0;

// While the steps of the script are followed: what keeps a callback's frame, and what forgets the one of the last microtask.
let bind;
let forget;
function follow(toBind, toForget) {
  bind = toBind;
  forget = toForget;
}

function nextTick(callback, ...args) {
  if (typeof callback !== 'function') throw new errors.codes.ERR_INVALID_ARG_TYPE('callback', 'Function', callback);
  if (process._exiting) return;
  if (last.places.length === CHUNK) last = last.next = { places: [], next: undefined };
  if (bind !== undefined) callback = bind(callback);
  last.places.push(callback, args.length === 0 ? undefined : args);
}

const hasTicks = () => at !== first.places.length || first.next !== undefined;

function runTicks() {
  for (;;) {
    const { places } = first;
    while (at !== places.length) {
      const callback = places[at];
      const args = places[at + 1];
      // What is done need not stay as long as its chunk.
      places[at] = places[at + 1] = undefined;
      at += 2;
      if (args === undefined) callback();
      else callback(...args);
    }
    at = 0;
    if (first.next === undefined) {
      places.length = 0;
      return;
    }
    first = first.next;
  }
}

// The engine's own would report what the callback throws to nobody.
const enqueue = globalThis.queueMicrotask;

function queueMicrotask(callback) {
  if (typeof callback !== 'function') throw new errors.codes.ERR_INVALID_ARG_TYPE('callback', 'Function', callback);
  if (bind !== undefined) callback = bind(callback);
  enqueue(() => {
    try {
      callback();
    } catch (error) {
      process._triggerUncaught(error, false);
    }
  });
}

// Works off everything. What a tick throws leaves this; the rest is worked off the next time.
function drain() {
  if (!hasTicks() && !hasRejections()) {
    runMicrotasks();
    forget?.();
    if (!hasTicks() && !hasRejections()) return;
  }
  do {
    runTicks();
    runMicrotasks();
    forget?.();
  } while (hasTicks() || processRejections());
}

// Promises rejected without a handler: from the rejection on, until a handler comes.
// Promises that nobody has any more need not stay.
const unhandled = new WeakMap();
// Those of them that nobody has been told of yet.
let pending = [];
let told = 0;
// Those that got a handler after somebody was told.
let handledLate = [];
// What is done about a rejection that stays without a handler: the values of Node's --unhandled-rejections.
let mode = 'throw';
let lastRejection = 0;

function rejection(promise, reason, isHandled) {
  if (!isHandled) {
    unhandled.set(promise, { reason: process._own.reason(reason), number: ++lastRejection, told: false });
    pending.push(promise);
    return;
  }
  const known = unhandled.get(promise);
  if (known === undefined) return;
  unhandled.delete(promise);
  if (!known.told) return;
  // Made now, for a trace that shows where the handler came.
  const warning = warningOf('PromiseRejectionHandledWarning',
    `Promise rejection was handled asynchronously (rejection id: ${known.number})`);
  warning.id = known.number;
  handledLate.push({ promise, warning });
}

function warningOf(name, message) {
  const warning = new Error(message);
  Object.defineProperty(warning, 'name', { value: name, writable: true, configurable: true });
  return warning;
}

function hasRejections() {
  return told < pending.length || handledLate.length > 0;
}

// True if that may have added ticks or microtasks.
function processRejections() {
  let some = false;
  while (handledLate.length > 0) {
    const { promise, warning } = handledLate.shift();
    if (!process.emit('rejectionHandled', promise)) process.emitWarning(warning);
    some = true;
  }
  // Those that come meanwhile are told of after the ticks. A listener that throws leaves the others for the next time.
  const end = pending.length;
  while (told < end) {
    const promise = pending[told];
    pending[told++] = undefined;
    const known = unhandled.get(promise);
    if (known === undefined) continue;
    known.told = true;
    some = true;
    tell(promise, known);
  }
  if (told === pending.length) {
    pending = [];
    told = 0;
  }
  return some || pending.length > 0;
}

const isErrorLike = (value) => typeof value === 'object' && value !== null && (Error.isError(value) || Object.hasOwn(value, 'stack'));
const errorOf = (reason) => (isErrorLike(reason) ? reason : new errors.codes.ERR_UNHANDLED_REJECTION(reason));

function tell(promise, { reason, number }) {
  if (mode === 'strict') process._triggerUncaught(errorOf(reason), true);
  const isHandled = process.emit('unhandledRejection', reason, promise);
  if (mode === 'throw') {
    if (!isHandled) process._triggerUncaught(errorOf(reason), true);
  } else if (mode === 'warn' || ((mode === 'strict' || mode === 'warn-with-error-codes') && !isHandled)) {
    warnOf(reason, number);
    if (mode === 'warn-with-error-codes') process.exitCode = 1;
  }
}

function warnOf(reason, number) {
  const warning = warningOf('UnhandledPromiseRejectionWarning', 'Unhandled promise rejection. This error originated either by ' +
    'throwing inside of an async function without a catch block, or by rejecting a promise which was not handled with .catch(). ' +
    'To terminate the node process on unhandled promise rejection, use the CLI flag `--unhandled-rejections=strict` ' +
    `(see https://nodejs.org/api/cli.html#cli_unhandled_rejections_mode). (rejection id: ${number})`);
  if (isErrorLike(reason)) warning.stack = reason.stack;
  const text = isErrorLike(reason) ? `${reason.stack}` : errors.plainText(reason);
  process.emitWarning(text, 'UnhandledPromiseRejectionWarning');
  process.emitWarning(warning);
}

function setRejectionMode(value) {
  mode = value;
}

module.exports = { nextTick, enqueue, follow, queueMicrotask, drain, rejection, setRejectionMode };
