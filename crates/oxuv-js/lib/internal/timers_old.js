// The old functions of `timers`, which make a timer of any object: `enroll` and its like.
'use strict';

const process = require('process');
const { codes } = require('internal/codes');
const { deprecate } = require('internal/util_functions');
const { start, unenroll, now, kKey, kRefed, LONGEST } = require('timers').internal;

function enroll(item, msecs) {
  require('internal/validators').validateNumber(msecs, 'msecs');
  if (msecs < 0 || !Number.isFinite(msecs)) throw new codes.ERR_OUT_OF_RANGE('msecs', 'a non-negative finite number', msecs);
  if (msecs > LONGEST) {
    process.emitWarning(`${msecs} does not fit into a 32-bit signed integer.\nTimer duration was truncated to ${LONGEST}.`,
      'TimeoutOverflowWarning');
    msecs = LONGEST;
  }
  if (item[kKey]) unenroll(item);
  item._idleTimeout = msecs;
}

function activate(item, isRefed) {
  const msecs = item._idleTimeout;
  if (msecs < 0 || msecs === undefined) return;
  // Who looks whether it is waiting looks at these.
  item._idlePrev = item._idleNext = item;
  hide(item, isRefed);
  start(item, now());
}

// What the timers need to know stays out of sight.
function hide(item, isRefed) {
  if (item[kKey] === undefined) Object.defineProperty(item, kKey, { value: 0, writable: true });
  Object.defineProperty(item, kRefed, { value: isRefed, writable: true, configurable: true });
}

module.exports = {
  enroll: deprecate(enroll, 'timers.enroll() is deprecated. Please use setTimeout instead.', 'DEP0095'),
  unenroll: deprecate(unenroll, 'timers.unenroll() is deprecated. Please use clearTimeout instead.', 'DEP0096'),
  active: deprecate((item) => activate(item, true),
    'timers.active() is deprecated. Please use timeout.refresh() instead.', 'DEP0126'),
  _unrefActive: deprecate((item) => activate(item, false),
    'timers._unrefActive() is deprecated. Please use timeout.refresh() instead.', 'DEP0127'),
};
