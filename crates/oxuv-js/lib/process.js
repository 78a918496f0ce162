// The object `process`.
'use strict';

const native = binding('process');
const EventEmitter = require('events');

const process = new EventEmitter();
module.exports = process;

process.title = 'oxuv';
process.platform = 'linux';
process.pid = native.pid;
process.execPath = native.execPath();
process.argv = [process.execPath, ...native.args()];
process.env = Object.fromEntries(native.environment());
process.exitCode = undefined;
process._exiting = false;
process.cwd = native.workingDirectory;
process.chdir = native.changeDirectory;
process.nextTick = (callback, ...args) => require('ticks').nextTick(callback, ...args);
process.stdout = { write(text) { native.write(1, String(text)); return true; }, fd: 1 };
process.stderr = { write(text) { native.write(2, String(text)); return true; }, fd: 2 };

process.emitWarning = (warning, type = 'Warning') => {
  if (!(warning instanceof Error)) {
    const text = warning;
    warning = new Error(text);
    warning.name = type;
  }
  process.nextTick(() => {
    native.write(2, `(oxuv:${process.pid}) ${warning.name}: ${warning.message}\n`);
    process.emit('warning', warning);
  });
};

process.exit = (code) => {
  if (code !== undefined) process.exitCode = code;
  if (!process._exiting) {
    process._exiting = true;
    process.emit('exit', process.exitCode || 0);
  }
  native.reallyExit(process.exitCode || 0);
};

process._emitExit = () => {
  if (!process._exiting) {
    process._exiting = true;
    process.emit('exit', process.exitCode || 0);
  }
  return process.exitCode || 0;
};

// An exception that nobody caught: true if a listener has dealt with it, else the process ends.
process._fatalException = (error, fromPromise) => {
  const origin = fromPromise ? 'unhandledRejection' : 'uncaughtException';
  let thrown = error;
  let code = 7;
  try {
    process.emit('uncaughtExceptionMonitor', error, origin);
    if (process.emit('uncaughtException', error, origin)) {
      // Ticks that are left are worked off after it.
      require('timers').setImmediate(() => {});
      return true;
    }
    code = 1;
  } catch (inHandler) {
    thrown = inHandler;
  }
  if (code === 1) {
    try {
      if (!process._exiting) {
        process._exiting = true;
        process.exitCode = 1;
        process.emit('exit', 1);
      }
      code = process.exitCode ?? 1;
    } catch { /* The first exception is the one that counts. */ }
  }
  native.write(2, `${require('report')(thrown)}\n`);
  native.reallyExit(code);
};

process._triggerUncaught = process._fatalException;
