// Signals: listeners of `process` for them, and `process.kill`.
'use strict';

const process = require('process');
const native = binding('signals');
const { codes, errnoException } = require('internal/codes');
const { signals } = require('internal/os_constants');

// Which signals are watched, each with the names by which listeners know it: some have two.
const watched = new Map();

const isSignal = (name) => Object.hasOwn(signals, name);

// A listener comes: with the first one the signal is caught.
function added(name) {
  if (!isSignal(name)) return;
  const number = signals[name];
  const names = watched.get(number);
  if (names !== undefined) {
    names.add(name);
    return;
  }
  const errno = native.start(number, emit);
  if (errno !== 0) throw errnoException(errno, 'uv_signal_start');
  watched.set(number, new Set([name]));
}

// A listener has gone: with the last one the signal has its default action again.
function removed(name) {
  if (!isSignal(name) || process.listenerCount(name) > 0) return;
  const number = signals[name];
  const names = watched.get(number);
  if (names === undefined || !names.delete(name) || names.size > 0) return;
  watched.delete(number);
  native.stop(number);
}

function emit(number) {
  for (const name of watched.get(number) ?? []) process.emit(name, name, number);
}

function kill(pid, signal) {
  // A number may come as text.
  if (pid != (pid | 0)) throw new codes.ERR_INVALID_ARG_TYPE('pid', 'number', pid); // eslint-disable-line eqeqeq
  let errno;
  if (typeof signal === 'number') {
    errno = process._kill(pid, signal);
  } else {
    signal ||= 'SIGTERM';
    if (!isSignal(signal)) throw new codes.ERR_UNKNOWN_SIGNAL(signal);
    errno = process._kill(pid, signals[signal]);
  }
  if (errno) throw errnoException(errno, 'kill');
  return true;
}

module.exports = { added, removed, kill, _kill: (pid, number) => native.kill(pid | 0, number | 0) };
