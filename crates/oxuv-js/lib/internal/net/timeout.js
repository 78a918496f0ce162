// Time-outs of streams: a timer that does not keep the program running, put off by whatever the stream does.
'use strict';

const { codes: { ERR_OUT_OF_RANGE } } = require('internal/codes');
const { validateFunction, validateNumber } = require('internal/validators');
const { setTimeout, clearTimeout } = require('timers');

const LONGEST = 2 ** 31 - 1;
const kTimeout = Symbol('timeout');

function durationOf(value, name) {
  validateNumber(value, name);
  if (value < 0 || !Number.isFinite(value)) throw new ERR_OUT_OF_RANGE(name, 'a non-negative finite number', value);
  if (value <= LONGEST) return value;
  process.emitWarning(`${value} does not fit into a 32-bit signed integer.\nTimer duration was truncated to ${LONGEST}.`,
    'TimeoutOverflowWarning');
  return LONGEST;
}

// The method `setTimeout` of sockets.
function setStreamTimeout(msecs, callback) {
  if (this.destroyed) return this;
  this.timeout = msecs;
  msecs = durationOf(msecs, 'msecs');
  clearTimeout(this[kTimeout]);
  if (callback !== undefined) validateFunction(callback, 'callback');
  if (msecs === 0) {
    this[kTimeout] = null;
    if (callback !== undefined) this.removeListener('timeout', callback);
  } else {
    this[kTimeout] = setTimeout(() => this._onTimeout(), msecs).unref();
    if (callback !== undefined) this.once('timeout', callback);
  }
  return this;
}

module.exports = { kTimeout, durationOf, setStreamTimeout };
