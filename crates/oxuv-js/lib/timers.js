// Node's timers and immediates. Which comes when is up to the loop's side; here is what they are to a script.
'use strict';

const process = require('process');
const own = process._own;
const native = binding('timers');
const errors = require('errors');
const { drain } = require('ticks');

const LONGEST = 2 ** 31 - 1;
// Of a timer: its number while it waits, 0 else.
const kKey = Symbol('key');
// In which turn an immediate was made.
const kTurn = Symbol('turn');
const kRefed = Symbol('refed');
// Of a timer that was turned into a number: that.
const kId = Symbol('asyncId');

// The engine's clock, which is read without leaving the engine. Whole milliseconds as the loop's side counts them.
const { performance } = globalThis;
const clock = performance.now;
const sinceBase = performance.timeOrigin - native.base;
const now = () => Math.floor(clock() + sinceBase);

let lastId = 0;
// Timers that were turned into a number, which may be cleared by it.
const byNumber = new Map();

class Timeout {
  constructor(callback, after, args, isRepeat, isRefed) {
    after *= 1;
    if (!(after >= 1 && after <= LONGEST)) {
      if (after > LONGEST) {
        process.emitWarning(`${after} does not fit into a 32-bit signed integer.\nTimeout duration was set to 1.`,
          'TimeoutOverflowWarning');
      }
      after = 1;
    }
    this._idleTimeout = after;
    this._idleStart = null;
    this._onTimeout = own.bind === undefined ? callback : own.bind(callback);
    this._timerArgs = args;
    this._repeat = isRepeat ? after : null;
    this._destroyed = false;
    this[kKey] = 0;
    this[kRefed] = isRefed;
    if (own.place !== undefined) this[own.kPlace] = own.place();
  }

  ref() {
    if (this[kRefed] === false) {
      this[kRefed] = true;
      setReferenced(this, true);
    }
    return this;
  }

  unref() {
    if (this[kRefed]) {
      this[kRefed] = false;
      setReferenced(this, false);
    }
    return this;
  }

  hasRef() {
    return !!this[kRefed];
  }

  refresh() {
    if (this._idleTimeout >= 0) {
      this._destroyed = false;
      start(this, now());
    }
    return this;
  }

  close() {
    clearTimeout(this);
    return this;
  }

  [Symbol.dispose]() {
    clearTimeout(this);
  }

  [Symbol.toPrimitive]() {
    const id = this[kId] ??= ++lastId;
    byNumber.set(id, this);
    return id;
  }
}

// The timers that the loop's side has, by their numbers, and the numbers that are free.
const byKey = [undefined];
const free = [];
// Those started since the last call to the loop's side, which costs as much for many as for one: a number and a duration for each,
// all counted from the same time.
const staged = new Int32Array(128);
let stagedEnd = 0;
let stagedFrom = 0;

function start(timer, from) {
  if (timer[kKey]) leave(timer);
  if (from !== stagedFrom || stagedEnd === 128) {
    flush();
    stagedFrom = from;
  }
  const key = free.length !== 0 ? free.pop() : byKey.length;
  byKey[key] = timer;
  timer._idleStart = from;
  timer[kKey] = key;
  staged[stagedEnd] = timer[kRefed] ? key : -key;
  staged[stagedEnd + 1] = timer._idleTimeout;
  stagedEnd += 2;
}

// Hands over what was started: before the loop's side goes on, and before it is asked of any of it.
function flush() {
  if (stagedEnd === 0) return;
  const end = stagedEnd;
  stagedEnd = 0;
  native.insert(stagedFrom, end, staged);
}

// The timers and the immediates that keep the loop alive.
function thatKeep() {
  const keeps = (each) => each !== undefined && each[kKey] !== 0 && each[kRefed];
  return [byKey.filter(keeps), running.slice(runningAt).concat(waiting).filter(keeps)];
}

function leave(timer) {
  const key = timer[kKey];
  timer[kKey] = 0;
  byKey[key] = undefined;
  // Many a timer is stopped before the loop's side has heard of it.
  if (stagedEnd !== 0 && Math.abs(staged[stagedEnd - 2]) === key) {
    stagedEnd -= 2;
    free.push(key);
    return;
  }
  flush();
  // If it is due already, its number stays taken until its turn.
  if (native.remove(key)) free.push(key);
}

function setReferenced(timer, isReferenced) {
  if (timer[kKey] === 0) return;
  flush();
  native.setReferenced(timer[kKey], isReferenced);
}

function destroy(timer) {
  timer._destroyed = true;
  if (timer[kId] !== undefined) byNumber.delete(timer[kId]);
}

// The timer whose callback runs.
let current;

// How many timers and immediates keep the loop running: a timer counts until its callback is over.
function countActive() {
  const isCalled = current !== undefined && current[kRefed] && current[kKey] === 0 && !current._destroyed;
  return { timers: thatKeep()[0].length + Number(isCalled), immediates: refedImmediates };
}

function runTimeout(timer) {
  timer[kKey] = 0;
  current = timer;
  if (!timer._onTimeout) {
    destroy(timer);
    return;
  }
  if (own.begin !== undefined) own.begin(true, timer[own.kPlace]);
  const from = timer._repeat ? now() : 0;
  try {
    const args = timer._timerArgs;
    if (args === undefined) timer._onTimeout();
    else timer._onTimeout(...args);
  } finally {
    if (timer._repeat && timer._idleTimeout !== -1) {
      timer._idleTimeout = timer._repeat;
      start(timer, from);
    } else if (timer[kKey] === 0 && !timer._destroyed) {
      destroy(timer);
    }
  }
}

function check(callback) {
  if (typeof callback !== 'function') throw new errors.codes.ERR_INVALID_ARG_TYPE('callback', 'Function', callback);
}

function setTimeout(callback, after, ...args) {
  check(callback);
  const timer = new Timeout(callback, after, args.length === 0 ? undefined : args, false, true);
  start(timer, now());
  return timer;
}

function setInterval(callback, repeat, ...args) {
  check(callback);
  const timer = new Timeout(callback, repeat, args.length === 0 ? undefined : args, true, true);
  start(timer, now());
  return timer;
}

function clearTimeout(timer) {
  if (timer && timer._onTimeout) {
    unenroll(timer);
  } else if (typeof timer === 'number' || typeof timer === 'string') {
    const known = byNumber.get(Number(timer));
    if (known !== undefined) unenroll(known);
  }
}

function unenroll(timer) {
  timer._onTimeout = null;
  if (timer._destroyed) return;
  destroy(timer);
  if (timer[kKey]) leave(timer);
  timer._idleTimeout = -1;
}

// The numbers of a list's timers whose time has come, from `dueAt` on.
let due = [];
let dueAt = 0;

// What the loop's side calls for a list of timers, with their numbers, and without any for those that an exception has left.
// True if there were any. Queues are worked off between two of them.
function runTimers(keys) {
  if (keys !== undefined) {
    due = keys;
    dueAt = 0;
  }
  const end = due.length;
  let isFirst = true;
  while (dueAt < end) {
    if (!isFirst) drain();
    isFirst = false;
    const key = due[dueAt++];
    const timer = byKey[key];
    free.push(key);
    // Else it was stopped or started anew.
    if (timer !== undefined) {
      byKey[key] = undefined;
      runTimeout(timer);
    }
  }
  flush();
  current = undefined;
  return !isFirst;
}

// Immediates that wait for the next check phase, and those whose turn it is, from `runningAt` on. To the loop's side those that
// wait are one.
let waiting = [];
let running = [];
let runningAt = 0;
let turn = 0;
// How many of those that wait keep the loop alive.
let refedImmediates = 0;

class Immediate {
  constructor(callback, args) {
    this._onImmediate = own.bind === undefined ? callback : own.bind(callback);
    this._argv = args;
    this._destroyed = false;
    this[kRefed] = true;
    this[kTurn] = turn;
    if (own.place !== undefined) this[own.kPlace] = own.place();
    if (waiting.length === 0) native.addImmediates();
    else if (refedImmediates === 0) native.setImmediatesReferenced(true);
    refedImmediates++;
    waiting.push(this);
  }

  ref() {
    if (this[kRefed] === false) {
      this[kRefed] = true;
      if (this[kTurn] === turn && ++refedImmediates === 1) native.setImmediatesReferenced(true);
    }
    return this;
  }

  unref() {
    if (this[kRefed] === true) {
      this[kRefed] = false;
      unrefImmediate(this);
    }
    return this;
  }

  hasRef() {
    return !!this[kRefed];
  }

  [Symbol.dispose]() {
    clearImmediate(this);
  }
}

function unrefImmediate(immediate) {
  if (immediate[kTurn] === turn && --refedImmediates === 0) native.setImmediatesReferenced(false);
}

// What the loop's side calls in the check phase with `true`, and again for those that an exception has left. True if there
// were any. Queues are worked off between two of them.
function runImmediates(isNew) {
  if (isNew === true) {
    running = waiting;
    runningAt = 0;
    waiting = [];
    refedImmediates = 0;
    turn++;
  }
  let isFirst = true;
  while (runningAt < running.length) {
    if (!isFirst) drain();
    isFirst = false;
    const immediate = running[runningAt];
    running[runningAt++] = undefined;
    // It may have been cleared.
    if (!immediate._destroyed) runImmediate(immediate);
  }
  return !isFirst;
}

function runImmediate(immediate) {
  immediate._destroyed = true;
  immediate[kRefed] = null;
  if (own.begin !== undefined) own.begin(false, immediate[own.kPlace]);
  try {
    const args = immediate._argv;
    if (args === undefined) immediate._onImmediate();
    else immediate._onImmediate(...args);
  } finally {
    immediate._onImmediate = null;
  }
}

function setImmediate(callback, ...args) {
  check(callback);
  return new Immediate(callback, args.length === 0 ? undefined : args);
}

function clearImmediate(immediate) {
  if (!immediate || immediate._destroyed || !(immediate instanceof Immediate)) return;
  immediate._destroyed = true;
  if (immediate[kRefed]) unrefImmediate(immediate);
  immediate[kRefed] = null;
  immediate._onImmediate = null;
}

for (const function_ of [setTimeout, setImmediate]) {
  Object.defineProperty(function_, Symbol.for('nodejs.util.promisify.custom'), {
    get: () => require('timers/promises')[function_.name], enumerable: true, configurable: true,
  });
}

// As its own function in Node, so here.
function clearInterval(timer) {
  clearTimeout(timer);
}

module.exports = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
Object.defineProperty(module.exports, 'promises', { get: () => require('timers/promises'), enumerable: true, configurable: true });
// The old ways, for objects that are timers by themselves.
for (const name of ['enroll', 'unenroll', 'active', '_unrefActive']) {
  Object.defineProperty(module.exports, name, {
    get: () => require('internal/timers_old')[name], enumerable: true, configurable: true,
  });
}
Object.defineProperty(module.exports, 'internal', {
  value: { runTimers, runImmediates, flush, now, thatKeep, start, unenroll, countActive, kKey, kRefed, LONGEST },
});
