// What keeps the loop alive, and where in the script it comes from: for --why-alive, --trace and --warn-slow.
'use strict';

const process = require('process');

// A frame of a trace that is none of the library's: where it is.
const FRAME = /(?:\(|at )((?!node:)[^()\s][^()]*:\d+:\d+)\)?$/;

// Where in the script this is called; empty if it is not the script that does.
function place() {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = undefined;
  Error.stackTraceLimit = 50;
  const lines = String(new Error().stack).split('\n');
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  for (const line of lines) {
    const found = FRAME.exec(line);
    if (found !== null) return found[1];
  }
  return '';
}

// Timers remember where they were made from now on.
function begin() {
  process._own.kPlace = Symbol('place');
  process._own.place = place;
}

// A line for each timer that keeps the loop alive.
function timers() {
  const { thatKeep, now } = require('timers').internal;
  return thatKeep().map((timer) => {
    const dueIn = Math.max(timer._idleStart + timer._idleTimeout - now(), 0);
    const repeat = timer._repeat ? `, every ${timer._repeat} ms` : '';
    const from = timer[process._own.kPlace] ? `, from ${timer[process._own.kPlace]}` : '';
    return `${timer._repeat ? 'interval' : 'timeout'}: due in ${dueIn} ms${repeat}${from}`;
  });
}

// Whether the script does something about a signal itself.
function listens(signal) {
  return process.listenerCount(signal) > 0;
}

module.exports = { begin, place, timers, listens };
