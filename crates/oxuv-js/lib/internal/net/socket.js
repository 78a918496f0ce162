// Sockets: streams over a handle of the loop.
'use strict';

const { Duplex } = require('stream');
const { Buffer } = require('buffer');
const {
  codes: {
    ERR_INVALID_ARG_VALUE, ERR_INVALID_HANDLE_TYPE, ERR_MISSING_ARGS, ERR_SOCKET_CLOSED, ERR_SOCKET_CLOSED_BEFORE_CONNECTION,
  },
} = require('internal/codes');
const { validateNumber, validateString } = require('internal/validators');
const { kNormalized, normalizeArgs, handleFor } = require('internal/net/arguments');
const { errnoException } = require('internal/net/errors');
const { kTimeout, setStreamTimeout } = require('internal/net/timeout');
const { clearTimeout, setImmediate } = require('timers');
const net = binding('net');

const EOF = -4095;
const ENOTCONN = -107;

const kBytesRead = Symbol('bytesRead');
const kBytesWritten = Symbol('bytesWritten');
// Bytes of the write under way, and what was left of them when the time-out last looked.
const kLastWriteQueueSize = Symbol('lastWriteQueueSize');
// What a write that was tried has failed with.
const kWriteError = Symbol('writeError');
const kNoDelay = Symbol('noDelay');
const kKeepAlive = Symbol('keepAlive');
const kKeepAliveDelay = Symbol('keepAliveInitialDelay');
// The script's own buffer to read into, what makes one, and what is called for it.
const kUserBuffer = Symbol('buffer');
const kUserBufferMaker = Symbol('bufferMaker');
const kUserBufferCallback = Symbol('bufferCallback');
const kUserRest = Symbol('bufferRest');

function Socket(options) {
  if (!(this instanceof Socket)) return new Socket(options);
  options = checked(options);
  this.connecting = false;
  this._hadError = false;
  this._parent = null;
  this._host = null;
  this._handle = null;
  this[kTimeout] = null;
  this[kLastWriteQueueSize] = 0;
  this[kWriteError] = 0;
  this[kBytesRead] = 0;
  this[kBytesWritten] = 0;
  this[kUserBuffer] = null;
  this[kUserRest] = null;
  this._closeAfterHandlingError = false;
  Duplex.call(this, options);
  this._pendingData = null;
  this._pendingEncoding = '';
  this._sockname = null;
  this.server = null;
  this._server = null;
  this.resetAndClosing = false;
  this[kNoDelay] = Boolean(options.noDelay);
  this[kKeepAlive] = Boolean(options.keepAlive);
  this[kKeepAliveDelay] = ~~(options.keepAliveInitialDelay / 1000);
  takeHandle(this, options);
  takeUserBuffer(this, options.onread);
  this.on('end', onEnd);
  attach(this);
  if (this._handle && options.readable !== false) beginReading(this, options);
}
Object.setPrototypeOf(Socket.prototype, Duplex.prototype);
Object.setPrototypeOf(Socket, Duplex);

function checked(options) {
  if (options?.objectMode) throw new ERR_INVALID_ARG_VALUE('options.objectMode', options.objectMode, 'is not supported');
  if (options?.readableObjectMode || options?.writableObjectMode) {
    throw new ERR_INVALID_ARG_VALUE(`options.${options.readableObjectMode ? 'readableObjectMode' : 'writableObjectMode'}`,
      options.readableObjectMode || options.writableObjectMode, 'is not supported');
  }
  options = typeof options === 'number' ? { fd: options } : { ...options };
  if (options.keepAliveInitialDelay !== undefined) {
    validateNumber(options.keepAliveInitialDelay, 'options.keepAliveInitialDelay');
    if (options.keepAliveInitialDelay < 0) options.keepAliveInitialDelay = 0;
  }
  options.allowHalfOpen = Boolean(options.allowHalfOpen);
  // It comes when the handle is closed, and text is written as it is.
  options.emitClose = false;
  options.autoDestroy = true;
  options.decodeStrings = false;
  return options;
}

function takeHandle(socket, options) {
  if (options.handle) {
    socket._handle = options.handle;
  } else if (options.fd !== undefined) {
    socket._handle = handleFor(options.fd);
    const error = socket._handle.open(options.fd);
    if (error) throw errnoException(error, 'open');
  }
}

function takeUserBuffer(socket, onread) {
  if (onread === null || typeof onread !== 'object' || typeof onread.callback !== 'function' ||
      !(onread.buffer instanceof Uint8Array || typeof onread.buffer === 'function')) return;
  socket[kUserBufferMaker] = typeof onread.buffer === 'function' ? onread.buffer : null;
  socket[kUserBuffer] = socket[kUserBufferMaker] ? socket[kUserBufferMaker]() : onread.buffer;
  socket[kUserBufferCallback] = onread.callback;
}

// Has the handle call the socket. One that was closed begins anew.
function attach(socket) {
  socket._undestroy();
  socket._sockname = undefined;
  const handle = socket._handle;
  if (!handle) return;
  handle.reading = false;
  handle.onread = (count, bytes) => onRead(socket, handle, count, bytes);
}

function beginReading(socket, options) {
  if (options.pauseOnCreate) {
    socket._handle.reading = false;
    socket._handle.readStop();
    socket.readableFlowing = false;
  } else if (!options.manualStart) {
    socket.read(0);
  }
}

// What the loop calls for bytes, the end or an error.
function onRead(socket, handle, count, bytes) {
  if (socket[kTimeout] || socket._parent) socket._unrefTimer();
  if (count > 0) {
    if (socket.destroyed) return;
    const wantsMore = socket[kUserBuffer] ? giveToUser(socket, new Uint8Array(bytes)) : push(socket, asBuffer(bytes));
    if (!wantsMore) stopReading(socket, handle);
  } else if (count !== EOF) {
    socket.destroy(errnoException(count, 'read'));
  } else if (!socket._readableState.endEmitted) {
    socket.push(null);
    socket.read(0);
  }
}

// As `socket.push`. Bytes that a listener gets at once anyway need not go through the buffer, nor does the stream have to be
// asked for more: the kernel is read until somebody stops that.
function push(socket, buffer) {
  const state = socket._readableState;
  const isDirect = state.flowing && state.length === 0 && !state.decoder && !state.awaitDrainWriters && !state.sync &&
    socket._events.data !== undefined && socket.push === Duplex.prototype.push;
  if (!isDirect) return socket.push(buffer);
  state.dataEmitted = true;
  socket.emit('data', buffer);
  if (state.length === 0 || state.length < state.highWaterMark) return true;
  state.reading = false;
  return false;
}

const asBuffer = (bytes) => Object.setPrototypeOf(new Uint8Array(bytes), Buffer.prototype);

function stopReading(socket, handle) {
  handle.reading = false;
  if (socket.destroyed) return;
  const error = handle.readStop();
  if (error) socket.destroy(errnoException(error, 'read'));
}

// In pieces that fit into the script's buffer. Where the script stops reading, the rest waits.
function giveToUser(socket, bytes) {
  let at = 0;
  while (at < bytes.length && !socket.destroyed) {
    const buffer = socket[kUserBuffer];
    const piece = bytes.subarray(at, at + buffer.length);
    buffer.set(piece);
    at += piece.length;
    const wantsMore = socket[kUserBufferCallback](piece.length, buffer) !== false && piece.length > 0;
    if (socket[kUserBufferMaker]) socket[kUserBuffer] = socket[kUserBufferMaker]();
    if (wantsMore && socket._handle?.reading) continue;
    if (at < bytes.length) socket[kUserRest] = bytes.subarray(at);
    return wantsMore;
  }
  return true;
}

// What was left when the script stopped reading comes first, in a turn of its own as it would from the kernel.
function giveRest(socket, handle) {
  handle.reading = true;
  setImmediate(() => {
    const rest = socket[kUserRest];
    if (socket.destroyed || !handle.reading || rest === null) return;
    socket[kUserRest] = null;
    if (!giveToUser(socket, rest)) handle.reading = false;
    else if (socket._handle?.reading && socket[kUserRest] === null) startReading(socket);
  });
}

function startReading(socket) {
  if (socket[kUserRest]) {
    giveRest(socket, socket._handle);
    return;
  }
  socket._handle.reading = true;
  const error = socket._handle.readStart();
  if (error) socket.destroy(errnoException(error, 'read'));
}

// The peer has ended: without half-open sockets this side ends, too, and later writes have nobody to read them.
function onEnd() {
  if (!this.allowHalfOpen) this.write = writeAfterEnd;
}

function writeAfterEnd(chunk, encoding, callback) {
  if (!this.writableEnded) return Duplex.prototype.write.call(this, chunk, encoding, callback);
  if (typeof encoding === 'function') callback = encoding;
  const error = new Error('This socket has been ended by the other party');
  error.code = 'EPIPE';
  if (typeof callback === 'function') process.nextTick(callback, error);
  this.destroy(error);
  return false;
}

const { prototype } = Socket;

prototype._read = function _read(n) {
  if (this.connecting || !this._handle) this.once('connect', () => this._read(n));
  else if (!this._handle.reading) startReading(this);
};

// With a buffer of the script's own nothing is buffered here, so these act upon the kernel at once.
prototype.pause = function pause() {
  if (this[kUserBuffer] && !this.connecting && this._handle?.reading) stopReading(this, this._handle);
  return Duplex.prototype.pause.call(this);
};

prototype.resume = function resume() {
  if (this[kUserBuffer] && !this.connecting && this._handle && !this._handle.reading) startReading(this);
  return Duplex.prototype.resume.call(this);
};

prototype.read = function read(n) {
  if (this[kUserBuffer] && !this.connecting && this._handle && !this._handle.reading) startReading(this);
  return Duplex.prototype.read.call(this, n);
};

// A small write that nobody waits for goes to the kernel at once, if it is the only one. What that does not take is written
// as any other.
prototype.write = function write(chunk, encoding, callback) {
  if (callback !== undefined || encoding !== undefined || !isIdle(this, chunk)) return Duplex.prototype.write.call(this, chunk, encoding, callback);
  if (this[kTimeout] || this._parent) this._unrefTimer();
  const left = this._handle.tryWrite(chunk);
  if (left === 0) return true;
  if (left < 0) this[kWriteError] = left;
  else chunk = Buffer.from(chunk).subarray(-left);
  return Duplex.prototype.write.call(this, chunk);
};

// Whether a write of this would be done when `write` returns, as far as the stream is concerned.
function isIdle(socket, chunk) {
  const state = socket._writableState;
  return state.length === 0 && !state.writing && !state.corked && !state.ending && !state.destroyed && !state.errored &&
    (typeof chunk === 'string' ? state.defaultEncoding === 'utf8' : chunk instanceof Uint8Array) &&
    chunk.length < state.highWaterMark && !socket.connecting && socket._handle?.tryWrite !== undefined &&
    socket._write === prototype._write && socket._writeGeneric === prototype._writeGeneric;
}

prototype._write = function _write(data, encoding, callback) {
  this._writeGeneric(false, data, encoding, callback);
};

prototype._writev = function _writev(chunks, callback) {
  this._writeGeneric(true, chunks, '', callback);
};

prototype._writeGeneric = function _writeGeneric(isMany, data, encoding, callback) {
  if (this.connecting) {
    writeWhenConnected(this, isMany, data, encoding, callback);
    return;
  }
  this._pendingData = null;
  this._pendingEncoding = '';
  const handle = this._handle;
  if (!handle) {
    callback(new ERR_SOCKET_CLOSED());
    return;
  }
  this._unrefTimer();
  const done = (status) => afterWrite(this, status, callback);
  const status = this[kWriteError] || (isMany ? handle.writev(data.map(({ chunk, encoding }) => toSend(chunk, encoding)), done)
    : handle.write(toSend(data, encoding), done));
  this[kWriteError] = 0;
  // Mostly the kernel takes all of it at once.
  if (status === 0) callback();
  else if (status < 0) callback(errnoException(status, 'write'));
  else this[kLastWriteQueueSize] = handle.writeQueueSize;
};

// Text goes as it is if it goes as UTF-8.
function toSend(chunk, encoding) {
  if (typeof chunk !== 'string' || encoding === 'utf8' || encoding === 'utf-8') return chunk;
  return Buffer.from(chunk, encoding);
}

function writeWhenConnected(socket, isMany, data, encoding, callback) {
  socket._pendingData = data;
  socket._pendingEncoding = encoding;
  const onClose = () => callback(new ERR_SOCKET_CLOSED_BEFORE_CONNECTION());
  socket.once('connect', () => {
    socket.off('close', onClose);
    socket._writeGeneric(isMany, data, encoding, callback);
  });
  socket.once('close', onClose);
}

function afterWrite(socket, status, callback) {
  if (socket.destroyed) {
    callback(null);
  } else if (status < 0) {
    callback(errnoException(status, 'write'));
  } else {
    socket._unrefTimer();
    socket[kLastWriteQueueSize] = 0;
    callback(null);
  }
}

prototype._final = function _final(callback) {
  if (this.connecting) {
    this.once('connect', () => this._final(callback));
    return;
  }
  if (!this._handle) {
    callback();
    return;
  }
  const error = this._handle.shutdown(() => callback());
  if (error === ENOTCONN) callback();
  else if (error) callback(errnoException(error, 'shutdown'));
};

prototype.end = function end(data, encoding, callback) {
  Duplex.prototype.end.call(this, data, encoding, callback);
  return this;
};

prototype.destroySoon = function destroySoon() {
  if (this.writable) this.end();
  if (this.writableFinished) this.destroy();
  else this.once('finish', this.destroy);
};

prototype.resetAndDestroy = function resetAndDestroy() {
  if (!this._handle) {
    this.destroy(new ERR_SOCKET_CLOSED());
  } else {
    if (this._handle.kind !== 'tcp') throw new ERR_INVALID_HANDLE_TYPE();
    if (this.connecting) this.once('connect', () => this._reset());
    else this._reset();
  }
  return this;
};

prototype._reset = function _reset() {
  this.resetAndClosing = true;
  return this.destroy();
};

prototype._destroy = function _destroy(exception, callback) {
  this.connecting = false;
  for (let socket = this; socket; socket = socket._parent) clearTimeout(socket[kTimeout]);
  if (this._handle) {
    closeHandle(this, Boolean(exception));
    callback(exception);
  } else {
    callback(exception);
    process.nextTick(() => this.emit('close'));
  }
  const server = this._server;
  if (server) {
    server._connections--;
    server._emitCloseIfDrained?.();
  }
};

function closeHandle(socket, hasFailed) {
  const handle = socket._handle;
  // These can still be asked for afterwards.
  socket[kBytesRead] = handle.bytesRead;
  socket[kBytesWritten] = handle.bytesWritten;
  const closed = () => socket.emit('close', hasFailed);
  if (socket.resetAndClosing) {
    socket.resetAndClosing = false;
    const error = handle.reset(closed);
    if (error) socket.emit('error', errnoException(error, 'reset'));
  } else if (socket._closeAfterHandlingError) {
    // An error of a parser's is told of before the descriptor is closed.
    queueMicrotask(() => handle.close(closed));
  } else {
    handle.close(closed);
  }
  handle.onread = () => {};
  socket._handle = null;
  socket._sockname = null;
}

prototype.connect = function connect(...args) {
  const normalized = Array.isArray(args[0]) && args[0][kNormalized] ? args[0] : normalizeArgs(args);
  const [options, callback] = normalized;
  if (options.port === undefined && options.path == null) throw new ERR_MISSING_ARGS(['options', 'port', 'path']);
  if (this.write !== Socket.prototype.write) this.write = Socket.prototype.write;
  if (this.destroyed) {
    this._handle = null;
    this._peername = undefined;
    this._sockname = undefined;
  }
  const isPipe = !!options.path;
  if (!this._handle) {
    this._handle = isPipe ? net.pipe() : net.tcp();
    attach(this);
  }
  if (callback !== null) this.once('connect', callback);
  this._unrefTimer();
  this.connecting = true;
  const { connectPipe, lookupAndConnect } = require('internal/net/connect');
  if (isPipe) {
    validateString(options.path, 'options.path');
    connectPipe(this, options.path);
  } else {
    lookupAndConnect(this, options);
  }
  return this;
};

// What was asked for before there was a connection.
prototype._connected = function _connected() {
  const handle = this._handle;
  if (this[kNoDelay] && handle.setNoDelay) handle.setNoDelay(true);
  if (this[kKeepAlive] && handle.setKeepAlive) handle.setKeepAlive(true, this[kKeepAliveDelay]);
};

prototype.setTimeout = setStreamTimeout;

prototype._onTimeout = function _onTimeout() {
  const size = this._handle ? this._handle.writeQueueSize : 0;
  if (this[kLastWriteQueueSize] > 0 && this[kLastWriteQueueSize] !== size) {
    // A large write goes on.
    this[kLastWriteQueueSize] = size;
    this._unrefTimer();
    return;
  }
  this.emit('timeout');
};

prototype._unrefTimer = function _unrefTimer() {
  for (let socket = this; socket; socket = socket._parent) {
    if (socket[kTimeout]) socket[kTimeout].refresh();
  }
};

prototype.setNoDelay = function setNoDelay(enable) {
  enable = Boolean(enable === undefined ? true : enable);
  if (!this._handle) {
    this[kNoDelay] = enable;
  } else if (this._handle.setNoDelay && enable !== this[kNoDelay]) {
    this[kNoDelay] = enable;
    this._handle.setNoDelay(enable);
  }
  return this;
};

prototype.setKeepAlive = function setKeepAlive(enable, msecs) {
  enable = Boolean(enable);
  const delay = ~~(msecs / 1000);
  const isNew = enable !== this[kKeepAlive] || (enable && this[kKeepAliveDelay] !== delay);
  if (this._handle && (!this._handle.setKeepAlive || !isNew)) return this;
  this[kKeepAlive] = enable;
  this[kKeepAliveDelay] = delay;
  this._handle?.setKeepAlive(enable, delay);
  return this;
};

prototype.ref = function ref() {
  if (!this._handle) this.once('connect', this.ref);
  else this._handle.ref?.();
  return this;
};

prototype.unref = function unref() {
  if (!this._handle) this.once('connect', this.unref);
  else this._handle.unref?.();
  return this;
};

prototype._getpeername = function _getpeername() {
  if (!this._handle?.getpeername || this.connecting) return this._peername || {};
  if (!this._peername) {
    const out = {};
    if (this._handle.getpeername(out)) return out;
    this._peername = out;
  }
  return this._peername;
};

prototype._getsockname = function _getsockname() {
  if (!this._handle?.getsockname) return {};
  if (!this._sockname) {
    this._sockname = {};
    this._handle.getsockname(this._sockname);
  }
  return this._sockname;
};

prototype.address = function address() {
  return this._getsockname();
};

function readyState() {
  if (this.connecting) return 'opening';
  if (this.readable) return this.writable ? 'open' : 'readOnly';
  return this.writable ? 'writeOnly' : 'closed';
}

function bytesWritten() {
  let bytes = this._bytesDispatched;
  const { writableBuffer, _pendingData: pending } = this;
  if (!writableBuffer) return undefined;
  const size = ({ chunk, encoding }) => (typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.length);
  for (const each of writableBuffer) bytes += size(each);
  if (Array.isArray(pending)) for (const each of pending) bytes += size(each);
  else if (pending) bytes += size({ chunk: pending, encoding: this._pendingEncoding });
  return bytes;
}

const getters = {
  _connecting() { return this.connecting; },
  pending() { return !this._handle || this.connecting; },
  readyState,
  bufferSize() { return this._handle ? this.writableLength : undefined; },
  bytesRead() { return this._handle ? this._handle.bytesRead : this[kBytesRead]; },
  bytesWritten,
  _bytesDispatched() { return this._handle ? this._handle.bytesWritten : this[kBytesWritten]; },
  remoteAddress() { return this._getpeername().address; },
  remoteFamily() { return this._getpeername().family; },
  remotePort() { return this._getpeername().port; },
  localAddress() { return this._getsockname().address; },
  localPort() { return this._getsockname().port; },
  localFamily() { return this._getsockname().family; },
};
for (const [name, get] of Object.entries(getters)) {
  Object.defineProperty(prototype, name, { __proto__: null, get, configurable: false, enumerable: name !== '_bytesDispatched' });
}

module.exports = { Socket };
