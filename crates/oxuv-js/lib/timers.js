// Node's timers and immediates. Which comes when is up to the loop's side; here is what they are to a script.
'use strict';

const process = require('process');
const native = binding('timers');
const errors = require('errors');

const LONGEST = 2 ** 31 - 1;
const kKey = Symbol('key');
const kRefed = Symbol('refed');
const kId = Symbol('asyncId');
const kHasPrimitive = Symbol('kHasPrimitive');

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
    this._onTimeout = callback;
    this._timerArgs = args;
    this._repeat = isRepeat ? after : null;
    this._destroyed = false;
    this[kKey] = 0;
    this[kRefed] = isRefed;
    this[kId] = ++lastId;
    this[kHasPrimitive] = false;
  }

  ref() {
    if (this[kRefed] === false) {
      this[kRefed] = true;
      if (this[kKey] !== 0) native.setReferenced(this[kKey], true);
    }
    return this;
  }

  unref() {
    if (this[kRefed]) {
      this[kRefed] = false;
      if (this[kKey] !== 0) native.setReferenced(this[kKey], false);
    }
    return this;
  }

  hasRef() {
    return !!this[kRefed];
  }

  refresh() {
    if (this._idleTimeout >= 0) {
      this._destroyed = false;
      start(this, native.now());
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
    if (!this[kHasPrimitive]) {
      this[kHasPrimitive] = true;
      byNumber.set(this[kId], this);
    }
    return this[kId];
  }
}

function start(timer, now) {
  if (timer[kKey]) native.remove(timer[kKey]);
  timer._idleStart = now;
  timer[kKey] = native.insert(timer, Math.trunc(timer._idleTimeout), now, timer[kRefed]);
}

function destroy(timer) {
  timer._destroyed = true;
  if (timer[kHasPrimitive]) {
    timer[kHasPrimitive] = false;
    byNumber.delete(timer[kId]);
  }
}

function runTimeout(timer) {
  timer[kKey] = 0;
  if (!timer._onTimeout) {
    destroy(timer);
    return;
  }
  const now = timer._repeat ? native.now() : 0;
  try {
    const args = timer._timerArgs;
    if (args === undefined) timer._onTimeout();
    else timer._onTimeout(...args);
  } finally {
    if (timer._repeat && timer._idleTimeout !== -1) {
      timer._idleTimeout = timer._repeat;
      start(timer, now);
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
  start(timer, native.now());
  return timer;
}

function setInterval(callback, repeat, ...args) {
  check(callback);
  const timer = new Timeout(callback, repeat, args.length === 0 ? undefined : args, true, true);
  start(timer, native.now());
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
  if (timer[kKey]) native.remove(timer[kKey]);
  timer[kKey] = 0;
  timer._idleTimeout = -1;
}

class Immediate {
  constructor(callback, args) {
    this._onImmediate = callback;
    this._argv = args;
    this._destroyed = false;
    this[kRefed] = true;
    this[kKey] = native.addImmediate(this, true);
  }

  ref() {
    if (this[kRefed] === false) {
      this[kRefed] = true;
      native.setImmediateReferenced(this[kKey], true);
    }
    return this;
  }

  unref() {
    if (this[kRefed] === true) {
      this[kRefed] = false;
      native.setImmediateReferenced(this[kKey], false);
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

function runImmediate(immediate) {
  immediate._destroyed = true;
  immediate[kRefed] = null;
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
  immediate[kRefed] = null;
  immediate._onImmediate = null;
  native.removeImmediate(immediate[kKey]);
}

// What the loop's side calls for a timer or an immediate that has come.
function call(task) {
  if (task instanceof Immediate) runImmediate(task);
  else runTimeout(task);
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
Object.defineProperty(module.exports, 'internal', { value: { call, start, unenroll, kKey, kRefed, LONGEST } });
