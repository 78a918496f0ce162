// The object `process`: what every script needs. The rest is loaded from internal/process.js when it is first asked for.
'use strict';

const native = binding('process');
const EventEmitter = require('events');

// The origin of `performance`, in milliseconds of the monotonic clock.
const origin = native.nanoseconds() / 1e6;

function process() {}
Object.defineProperty(process, 'name', { value: 'process' });
const prototype = Object.create(EventEmitter.prototype, {
  constructor: { value: process, writable: true, enumerable: false, configurable: true },
});
process.prototype = prototype;
const self = Object.create(prototype);
Object.defineProperty(self, Symbol.toStringTag, { value: 'process', writable: false, enumerable: false, configurable: true });
EventEmitter.call(self);
module.exports = self;

const hidden = (name, value) => Object.defineProperty(self, name, { value, writable: true, enumerable: false, configurable: true });
// For the library.
hidden('_own', { origin, hidesWarnings: false });

self.title = 'oxuv';
self.version = 'v18.12.1';
self.platform = 'linux';
self.pid = native.pid;
self.execPath = native.execPath();
self.argv = [self.execPath, ...native.args()];
self.execArgv = native.execArgs();
self.exitCode = undefined;
self._exiting = false;
self.nextTick = require('ticks').nextTick;

self.cwd = function cwd() {
  const path = native.workingDirectory();
  // Each script's start asks for it: nothing more is loaded unless it fails.
  return typeof path === 'string' ? path : require('internal/process').throwWithoutFolder(path);
};

// What is rarely asked for: functions, then values.
for (const name of ['chdir', 'hrtime', 'memoryUsage', 'uptime', 'umask', 'getuid', 'geteuid', 'getgid', 'getegid', 'getgroups',
  'emitWarning', 'cpuUsage', 'resourceUsage', 'setUncaughtExceptionCaptureCallback', 'hasUncaughtExceptionCaptureCallback', 'abort',
  'env', 'versions', 'arch', 'release', 'getActiveResourcesInfo', 'ppid', 'features', 'config', 'allowedNodeEnvironmentFlags', 'argv0',
  'setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups', '_rawDebug']) {
  Object.defineProperty(self, name, {
    get() {
      const value = require('internal/process')[name];
      Object.defineProperty(self, name, { value, writable: true, enumerable: true, configurable: true });
      return value;
    },
    set(value) { Object.defineProperty(self, name, { value, writable: true, enumerable: true, configurable: true }); },
    enumerable: true,
    configurable: true,
  });
}
for (const name of ['kill', '_kill']) {
  self[name] = function(...args) { return require('internal/signals')[name](...args); };
  Object.defineProperty(self[name], 'name', { value: name });
}
// Streams are made when they are first asked for. The console does without them until then.
const standard = [];
for (const [fd, name] of ['stdin', 'stdout', 'stderr'].entries()) {
  const get = () => (standard[fd] ??= fd === 0 ? require('internal/stdin') : require('internal/stdio').output(fd));
  Object.defineProperty(self, name, { get, enumerable: true, configurable: true });
  if (fd === 0) continue;
  let plain;
  self._own[name] = () => (standard[fd] === undefined && Object.getOwnPropertyDescriptor(self, name)?.get === get
    ? plain ??= require('internal/stdio').plain(fd) : self[name]);
}
self.openStdin = function openStdin() {
  self.stdin.resume();
  return self.stdin;
};
// Listeners for signals come and go by the functions of all listeners.
const isSignal = (name) => !self._own.isWorker && typeof name === 'string' && name.startsWith('SIG');
self.on('newListener', (name) => { if (isSignal(name)) require('internal/signals').added(name); });
self.on('removeListener', (name) => { if (isSignal(name)) require('internal/signals').removed(name); });
self.on('warning', (warning) => require('internal/process').printWarning(warning));

// A code may be given as digits, too.
const exitCode = () => (self.exitCode || 0) | 0;

self.reallyExit = (code) => native.reallyExit(code | 0);

self.exit = function exit(code) {
  if (code || code === 0) self.exitCode = code;
  self._emitExit();
  self._own.exit?.();
  // A script may have put another function there.
  self.reallyExit(exitCode());
};

// Once; the code to end with.
hidden('_emitExit', () => {
  if (!self._exiting) {
    self._exiting = true;
    self.emit('exit', self.exitCode || 0);
  }
  return exitCode();
});

hidden('_captureCallback', null);

// What is thrown when there is no memory for an error is null.
const reason = (thrown) => (thrown === null && native.isShort(null) ? new InternalError('out of memory') : thrown);
self._own.reason = reason;

// An exception that nobody caught: true if a listener has dealt with it, else the process ends.
hidden('_fatalException', (error, fromPromise) => {
  error = reason(error);
  const origin = fromPromise ? 'unhandledRejection' : 'uncaughtException';
  let isHandled;
  try {
    self.emit('uncaughtExceptionMonitor', error, origin);
    if (self._captureCallback !== null) {
      self._captureCallback(error);
      isHandled = true;
    } else {
      isHandled = self.emit('uncaughtException', error, origin);
    }
    if (isHandled) {
      // Ticks that are left are worked off after it.
      require('timers').setImmediate(() => {});
      return true;
    }
  } catch (inListener) {
    // The listener's exception is the end, and what counts.
    return die(inListener, 7);
  }
  try {
    if (!self._exiting) {
      self._exiting = true;
      self.exitCode = 1;
      self.emit('exit', 1);
    }
  } catch { /* The first exception is the one that counts. */ }
  return die(error, self.exitCode === undefined || self.exitCode === null ? 1 : exitCode());
});
hidden('_triggerUncaught', self._fatalException);

function die(error, code) {
  error = reason(error);
  // Where a script has taken the function for it away, nobody is told.
  if (self._own.tellParent === undefined) native.write(2, `${require('report')(error)}\n`);
  else if (code !== 6) self._own.tellParent(error);
  // As in Node, a worker has one code for all exceptions.
  native.reallyExit(code === 7 && self._own.isWorker ? 1 : code);
}
self._own.die = die;
