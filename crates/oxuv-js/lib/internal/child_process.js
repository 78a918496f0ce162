// A child process: the object, and its events.
'use strict';

const EventEmitter = require('events');
const native = binding('child');
const { AbortError } = require('internal/codes');
const { validateObject, validateString, validateArray, validateOneOf } = require('internal/validators');
const options = require('internal/child_options');

const { getValidStdio } = options;

// An error of a call on a child.
function failure(errno, call) {
  const [code] = binding('util').systemError(errno) ?? [`Unknown system error ${errno}`];
  return Object.assign(new Error(`${call} ${code}`), { errno, code, syscall: call });
}

const E2BIG = -7, EACCES = -13, EAGAIN = -11, EMFILE = -24, ENFILE = -23, ENOENT = -2, ESRCH = -3;
// Those that tell of the system, or of the program: scripts are told by an event.
const TOLD_LATER = new Set([EACCES, EAGAIN, EMFILE, ENFILE, ENOENT, E2BIG]);

const kIsUsed = Symbol('isUsedAsStdio');

class ChildProcess extends EventEmitter {
  _closesNeeded = 1;
  _closesGot = 0;
  connected = false;
  signalCode = null;
  exitCode = null;
  killed = false;
  spawnfile = null;
  _handle = null;

  constructor() {
    super();
    this._handle = { pid: undefined };
  }

  spawn(wanted) {
    validateObject(wanted, 'options');
    const { stdio, ipc, ipcFd } = getValidStdio(wanted.stdio || 'pipe', false);
    const { serialization = 'json' } = wanted;
    validateOneOf(wanted.serialization, 'options.serialization', [undefined, 'json', 'advanced']);
    if (ipc !== undefined) {
      if (wanted.envPairs === undefined) wanted.envPairs = [];
      else validateArray(wanted.envPairs, 'options.envPairs');
      wanted.envPairs.push(`NODE_CHANNEL_FD=${ipcFd}`, `NODE_CHANNEL_SERIALIZATION_MODE=${serialization}`);
    }
    validateString(wanted.file, 'options.file');
    this.spawnfile = wanted.file;
    if (wanted.args === undefined) {
      this.spawnargs = [];
    } else {
      validateArray(wanted.args, 'options.args');
      this.spawnargs = wanted.args;
    }
    const made = native.spawn(options.forNative(wanted, stdio), (status, signal) => this.#ended(status, signal));
    const { error, pid } = made;
    if (error !== 0 && !TOLD_LATER.has(error)) {
      this._handle = null;
      throw failure(error, 'spawn');
    }
    this._handle = made.process ?? null;
    if (error !== 0) {
      process.nextTick(() => this.#ended(error, 0));
      if (error === EMFILE || error === ENFILE) return error;
    } else {
      process.nextTick(() => this.emit('spawn'));
      this.pid = pid;
    }
    this.#connect(stdio, made.handles ?? []);
    if (ipc !== undefined && made.handles?.[ipcFd]) require('internal/child_channel').setUp(this, made.handles[ipcFd], serialization);
    return error;
  }

  // The streams to what the child has as its descriptors.
  #connect(slots, handles) {
    const { Socket } = require('net');
    this.stdio = slots.map((slot, at) => {
      if (slot.type === 'wrap') {
        lend(slot.stream);
        return null;
      }
      if (slot.ipc) this._closesNeeded++;
      if (slot.ipc || !handles[at]) return null;
      const socket = new Socket({ handle: handles[at], readable: at > 0, writable: at !== 1 && at !== 2 });
      if (at > 0) {
        this._closesNeeded++;
        socket.on('close', () => this.#maybeClose());
      }
      return socket;
    });
    [this.stdin, this.stdout, this.stderr] = this.stdio;
  }

  // Zero or more is what it exited with, less is why it could not be made.
  #ended(status, signal) {
    if (signal) this.signalCode = options.signalName(signal);
    else this.exitCode = status;
    this.stdin?.destroy();
    this._handle = null;
    if (status < 0) {
      const error = failure(status, this.spawnfile ? `spawn ${this.spawnfile}` : 'spawn');
      if (this.spawnfile) error.path = this.spawnfile;
      error.spawnargs = this.spawnargs.slice(1);
      this.emit('error', error);
    } else {
      this.emit('exit', this.exitCode, this.signalCode);
    }
    // What nobody reads is read to its end now, which closes it.
    process.nextTick(() => this.#flush());
    this.#maybeClose();
  }

  #flush() {
    for (const stream of this.stdio ?? []) {
      if (!stream || !stream.readable || stream[kIsUsed]) continue;
      stream.resume();
    }
  }

  #maybeClose() {
    if (++this._closesGot === this._closesNeeded) this.emit('close', this.exitCode, this.signalCode);
  }

  // For the channel, which counts as one of the streams.
  _channelClosed() { this.#maybeClose(); }

  kill(signal) {
    const number = signal === 0 ? 0 : options.signalNumber(signal === undefined ? 'SIGTERM' : signal);
    if (!this._handle?.kill) return false;
    const errno = this._handle.kill(number);
    if (errno === 0) {
      // Whether it ends by that is its own affair.
      this.killed = true;
      return true;
    }
    if (errno === ESRCH) return false;
    const error = failure(errno, 'kill');
    if (errno === -22 || errno === -38) throw error;
    this.emit('error', error);
    return false;
  }

  ref() { this._handle?.ref?.(); }
  unref() { this._handle?.unref?.(); }
  [Symbol.dispose ?? Symbol.for('dispose')]() { if (!this.killed) this.kill(); }
}

// A stream that a child has as well is not read here any more.
function lend(stream) {
  const { _handle: handle, _readableState: state } = stream;
  if (!handle) return;
  handle.reading = false;
  handle.readStop();
  stream.pause?.();
  stream[kIsUsed] = true;
  if (!state) return;
  // When the child has gone, a script may read on.
  stream.readableFlowing = false;
  state.reading = false;
}

function abort(child, signal, reason) {
  if (!child.pid) return;
  try {
    if (child.kill(signal)) child.emit('error', new AbortError(undefined, { cause: reason }));
  } catch (error) {
    child.emit('error', error);
  }
}

// A child from what `normalize` gave.
function spawn(wanted) {
  options.validateTimeout(wanted.timeout);
  require('internal/validators').validateAbortSignal(wanted.signal, 'options.signal');
  const killSignal = options.killSignal(wanted.killSignal);
  const child = new ChildProcess();
  child.spawn(wanted);
  if (wanted.timeout > 0) endInTime(child, wanted.timeout, killSignal);
  if (wanted.signal) endBySignal(child, wanted.signal, killSignal);
  return child;
}

function endInTime(child, timeout, killSignal) {
  const timer = setTimeout(() => {
    try {
      child.kill(killSignal);
    } catch (error) {
      child.emit('error', error);
    }
  }, timeout);
  child.once('exit', () => clearTimeout(timer));
}

function endBySignal(child, signal, killSignal) {
  const onAbort = () => abort(child, killSignal, signal.reason);
  if (signal.aborted) {
    process.nextTick(onAbort);
  } else {
    signal.addEventListener('abort', onAbort, { once: true });
    child.once('exit', () => signal.removeEventListener('abort', onAbort));
  }
}

module.exports = { ChildProcess, spawn, getValidStdio, failure };
