// Datagrams: the class `Socket`. Its sending is in internal/dgram/send.js, its options are in internal/dgram/options.js.
'use strict';

const process = require('process');
const EventEmitter = require('events');
const { Buffer } = require('buffer');
const net = binding('net');
const { codes } = require('internal/codes');
const { exceptionWithHostPort } = require('internal/net/errors');
const { errnoException } = require('internal/net/errors');
const { publish } = require('internal/observed');
const { deprecate } = require('internal/util_functions');
const { validateAbortSignal, validateFunction, validatePort, validateString } = require('internal/validators');
const { kState, UNBOUND, BINDING, BOUND, DISCONNECTED, CONNECTING, CONNECTED, newHandle } = require('internal/dgram/state');

const IPV6_ONLY = 1;
const REUSE_ADDRESS = 4;

class Socket extends EventEmitter {
  constructor(type, listener) {
    super();
    const options = type !== null && typeof type === 'object' ? type : {};
    if (options === type) type = options.type;
    if (options.signal !== undefined) validateAbortSignal(options.signal, 'options.signal');
    const handle = newHandle(type, options.lookup);
    this.type = type;
    if (typeof listener === 'function') this.on('message', listener);
    this[kState] = {
      handle,
      receiving: false,
      bindState: UNBOUND,
      connectState: DISCONNECTED,
      // What waits for the end of a binding.
      queue: undefined,
      reuseAddr: options.reuseAddr,
      ipv6Only: options.ipv6Only,
      recvBufferSize: options.recvBufferSize,
      sendBufferSize: options.sendBufferSize,
    };
    if (options.signal !== undefined) closeOnAbort(this, options.signal);
    publish('udp.socket', { socket: this });
  }

  bind(port, address, ...rest) {
    healthCheck(this);
    const state = this[kState];
    if (state.bindState !== UNBOUND) throw new codes.ERR_SOCKET_ALREADY_BOUND();
    state.bindState = BINDING;
    const last = [port, address, ...rest].findLast((value) => value !== undefined);
    if (typeof last === 'function') onceListening(this, last);
    if (port !== null && typeof port === 'object') {
      if (typeof port.recvStart === 'function') {
        this[kState].handle.take(port);
        startListening(this);
        return this;
      }
      if (Number.isInteger(port.fd) && port.fd > 0) return bindDescriptor(this, port.fd);
      ({ address, port } = port);
    }
    if (typeof port === 'function') port = 0;
    if (typeof address === 'function' || !address) address = this.type === 'udp4' ? '0.0.0.0' : '::';
    state.handle.lookup(address, (error, ip) => {
      // It was closed meanwhile.
      if (state.handle === null) return;
      error ??= bindTo(state, ip, port);
      if (error) {
        state.bindState = UNBOUND;
        this.emit('error', error);
      } else {
        startListening(this);
      }
    });
    return this;
  }

  connect(port, address, callback) {
    port = validatePort(port, 'Port', false);
    if (typeof address === 'function') [address, callback] = ['', address];
    else if (address === undefined) address = '';
    validateString(address, 'address');
    const state = this[kState];
    if (state.connectState !== DISCONNECTED) throw new codes.ERR_SOCKET_DGRAM_IS_CONNECTED();
    state.connectState = CONNECTING;
    if (state.bindState === UNBOUND) this.bind({ port: 0, exclusive: true }, null);
    const connect = () => {
      if (callback) this.once('connect', callback);
      state.handle?.lookup(address, (error, ip) => connected(this, error, ip, address, port, callback));
    };
    if (state.bindState === BOUND) connect();
    else enqueue(this, connect);
  }

  disconnect() {
    const state = this[kState];
    if (state.connectState !== CONNECTED) throw new codes.ERR_SOCKET_DGRAM_NOT_CONNECTED();
    const errno = state.handle.disconnect();
    if (errno) throw errnoException(errno, 'connect');
    state.connectState = DISCONNECTED;
  }

  close(callback) {
    const state = this[kState];
    if (typeof callback === 'function') this.on('close', callback);
    if (state.queue !== undefined) {
      state.queue.push(() => this.close());
      return this;
    }
    healthCheck(this);
    stopReceiving(this);
    state.handle.close();
    state.handle = null;
    process.nextTick(() => this.emit('close'));
    return this;
  }

  address() {
    healthCheck(this);
    const out = {};
    const errno = this[kState].handle.getsockname(out);
    if (errno) throw errnoException(errno, 'getsockname');
    return out;
  }

  remoteAddress() {
    healthCheck(this);
    const state = this[kState];
    if (state.connectState !== CONNECTED) throw new codes.ERR_SOCKET_DGRAM_NOT_CONNECTED();
    const out = {};
    const errno = state.handle.getpeername(out);
    if (errno) throw errnoException(errno, 'getpeername');
    return out;
  }

  ref() {
    this[kState].handle?.ref();
    return this;
  }

  unref() {
    this[kState].handle?.unref();
    return this;
  }

  [EventEmitter.captureRejectionSymbol](error) {
    this.emit('error', error);
  }
}

if (Symbol.asyncDispose) {
  Object.defineProperty(Socket.prototype, Symbol.asyncDispose, {
    value() { return new Promise((resolve) => { this[kState].handle === null ? resolve() : this.close(resolve); }); },
    writable: true, configurable: true,
  });
}

function closeOnAbort(socket, signal) {
  const close = () => { if (socket[kState].handle !== null) socket.close(); };
  if (signal.aborted) {
    close();
    return;
  }
  signal.addEventListener('abort', close, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', close));
}

// Calls it when the socket listens; an error comes instead of that.
function onceListening(socket, callback) {
  const forget = () => {
    socket.removeListener('error', forget);
    socket.removeListener('listening', tell);
  };
  const tell = (...args) => {
    forget();
    Reflect.apply(callback, socket, args);
  };
  socket.on('error', forget);
  socket.on('listening', tell);
}

function bindTo(state, ip, port) {
  const flags = (state.reuseAddr ? REUSE_ADDRESS : 0) | (state.ipv6Only ? IPV6_ONLY : 0);
  const errno = state.handle.bind(ip, port || 0, flags);
  return errno ? exceptionWithHostPort(errno, 'bind', ip, port) : undefined;
}

function bindDescriptor(socket, fd) {
  const kind = net.kindOf(fd);
  if (kind !== 'UDP') throw new codes.ERR_INVALID_FD_TYPE(kind);
  const errno = socket[kState].handle.open(fd);
  if (errno) throw errnoException(errno, 'open');
  startListening(socket);
  return socket;
}

function startListening(socket) {
  const state = socket[kState];
  state.handle.owner = socket;
  state.handle.onmessage = onMessage;
  state.handle.recvStart();
  state.receiving = true;
  state.bindState = BOUND;
  if (state.recvBufferSize) socket.setRecvBufferSize(state.recvBufferSize);
  if (state.sendBufferSize) socket.setSendBufferSize(state.sendBufferSize);
  socket.emit('listening');
}

function onMessage(count, handle, buffer, from) {
  const socket = handle.owner;
  if (count < 0) {
    socket.emit('error', errnoException(count, 'recvmsg'));
    return;
  }
  from.size = buffer.length;
  socket.emit('message', buffer, from);
}

function stopReceiving(socket) {
  const state = socket[kState];
  if (!state.receiving) return;
  state.handle.recvStop();
  state.receiving = false;
}

function connected(socket, error, ip, address, port, callback) {
  const state = socket[kState];
  if (state.handle === null) return;
  if (!error) {
    const errno = state.handle.connect(ip, port);
    if (errno) error = exceptionWithHostPort(errno, 'connect', address, port);
  }
  if (!error) {
    state.connectState = CONNECTED;
    process.nextTick(() => socket.emit('connect'));
    return;
  }
  state.connectState = DISCONNECTED;
  process.nextTick(() => {
    if (!callback) {
      socket.emit('error', error);
      return;
    }
    socket.removeListener('connect', callback);
    callback(error);
  });
}

// Leaves something for when the socket is bound.
function enqueue(socket, what) {
  const state = socket[kState];
  if (state.queue === undefined) {
    state.queue = [];
    const bound = () => {
      socket.removeListener(EventEmitter.errorMonitor, failed);
      const { queue } = state;
      state.queue = undefined;
      for (const next of queue) next();
    };
    const failed = () => {
      socket.removeListener('listening', bound);
      state.queue = undefined;
    };
    socket.once(EventEmitter.errorMonitor, failed);
    socket.once('listening', bound);
  }
  state.queue.push(what);
}

function healthCheck(socket) {
  if (socket[kState].handle === null) throw new codes.ERR_SOCKET_DGRAM_NOT_RUNNING();
}

const createSocket = (type, listener) => new Socket(type, listener);

module.exports = { createSocket, Socket };
Object.assign(module.exports, { _createSocketHandle: deprecate(createSocketHandle, 'dgram._createSocketHandle() is deprecated', 'DEP0112') });

// A bound handle, or the number of an error.
function createSocketHandle(address, port, type, fd, flags) {
  const handle = newHandle(type);
  let errno;
  if (Number.isInteger(fd) && fd > 0) errno = net.kindOf(fd) === 'UDP' ? handle.open(fd) : -22;
  else if (port || address) errno = handle.bind(address, port || 0, flags || 0);
  if (!errno) return handle;
  handle.close();
  return errno;
}

require('internal/dgram/send').install(Socket, { healthCheck, enqueue });
require('internal/dgram/options').install(Socket, { healthCheck });
// What were properties before they were nobody's business.
const OLD = {
  _handle: 'handle', _receiving: 'receiving', _bindState: 'bindState', _queue: 'queue', _reuseAddr: 'reuseAddr',
};
for (const [name, key] of Object.entries(OLD)) {
  const warn = deprecate(() => {}, `Socket.prototype.${name} is deprecated`, 'DEP0112');
  Object.defineProperty(Socket.prototype, name, {
    get() { warn(); return this[kState][key]; },
    set(value) { warn(); this[kState][key] = value; },
    enumerable: false,
    configurable: true,
  });
}
for (const [name, function_] of [['_healthCheck', healthCheck], ['_stopReceiving', stopReceiving]]) {
  Object.defineProperty(Socket.prototype, name, {
    value: deprecate(function() { return function_(this); }, `Socket.prototype.${name}() is deprecated`, 'DEP0112'),
    writable: true, configurable: true,
  });
}
