// What is to be seen of a script, for --trace, --warn-slow, --why-alive and --metrics: where in it callbacks come from, what keeps
// its loop alive, and where it is.
'use strict';

const native = binding('observing');
const { _own: own } = require('process');

// A frame of a trace that is none of the library's: where it is.
const FRAME = /(?:\(|at )((?!node:)[^()\s][^()]*:\d+:\d+)\)?$/;

// The frames of the script's that this is called from, the innermost first.
function scriptFrames() {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = undefined;
  Error.stackTraceLimit = 50;
  const lines = String(new Error().stack).split('\n');
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  return lines.filter((line) => FRAME.test(line));
}

// Where in the script this is called; empty if it is not the script that does.
function place() {
  const [frame] = scriptFrames();
  return frame === undefined ? '' : FRAME.exec(frame)[1];
}

const frames = () => scriptFrames().map((line) => line.replace(/^\s*at /, ''));

// The loop's side hears of each timer and immediate that is called. With `keepsPlaces` these remember where they were made: or
// if the library has done so, where what it did that for was. That is
// also known of what is done in a function that is `caused`.
function begin(keepsPlaces) {
  own.begin = native.begin;
  if (!keepsPlaces) return;
  own.kPlace = Symbol('place');
  own.place = () => place() || native.cause();
  own.caused = (callback) => {
    const cause = own.place();
    return (...args) => {
      native.setCause(cause);
      callback(...args);
    };
  };
}

const from = (of) => (of[own.kPlace] ? `, from ${of[own.kPlace]}` : '');

// A line for each timer and immediate that keeps the loop alive.
function keepers() {
  const { thatKeep, now } = require('timers').internal;
  const [timers, immediates] = thatKeep();
  const lines = timers.map((timer) => {
    const dueIn = Math.max(timer._idleStart + timer._idleTimeout - now(), 0);
    const repeat = timer._repeat ? `, every ${timer._repeat} ms` : '';
    return `${timer._repeat ? 'interval' : 'timeout'}: due in ${dueIn} ms${repeat}${from(timer)}`;
  });
  return lines.concat(immediates.map((immediate) => `immediate: due now${from(immediate)}`));
}

// Before `process.exit()` ends the process, something is said of what would have gone on.
function tellAtExit() {
  own.exit = native.exit;
}

module.exports = { begin, place, frames, keepers, tellAtExit };
