// Servers: listeners of TCP and of pipes, and who is connected to them.
'use strict';

const EventEmitter = require('events');
const {
  codes: { ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_SERVER_ALREADY_LISTEN, ERR_SERVER_NOT_RUNNING },
} = require('internal/codes');
const { validateAbortSignal, validateNumber, validatePort } = require('internal/validators');
const { normalizeArgs, toNumber, isPipeName, handleFor } = require('internal/net/arguments');
const { errnoException, listenException } = require('internal/net/errors');
const { Socket } = require('internal/net/socket');
const { publish } = require('internal/observed');
const net = binding('net');

const EINVAL = -22;
const IPV6_ONLY = 1;
const BACKLOG = 511;

function Server(options, connectionListener) {
  if (!(this instanceof Server)) return new Server(options, connectionListener);
  EventEmitter.call(this);
  if (typeof options === 'function') {
    connectionListener = options;
    options = {};
  } else if (options === undefined || options === null) {
    options = {};
  } else if (typeof options !== 'object') {
    throw new ERR_INVALID_ARG_TYPE('options', 'Object', options);
  }
  if (typeof connectionListener === 'function') this.on('connection', connectionListener);
  let { keepAliveInitialDelay } = options;
  if (keepAliveInitialDelay !== undefined) {
    validateNumber(keepAliveInitialDelay, 'options.keepAliveInitialDelay');
    if (keepAliveInitialDelay < 0) keepAliveInitialDelay = 0;
  }
  this._connections = 0;
  this._handle = null;
  this._usingWorkers = false;
  this._workers = [];
  this._unref = false;
  this.allowHalfOpen = options.allowHalfOpen || false;
  this.pauseOnConnect = !!options.pauseOnConnect;
  this.noDelay = Boolean(options.noDelay);
  this.keepAlive = Boolean(options.keepAlive);
  this.keepAliveInitialDelay = ~~(keepAliveInitialDelay / 1000);
  this.highWaterMark = options.highWaterMark;
}
Object.setPrototypeOf(Server.prototype, EventEmitter.prototype);
Object.setPrototypeOf(Server, EventEmitter);

const { prototype } = Server;

prototype.listen = function listen(...args) {
  const [given, callback] = normalizeArgs(args);
  if (this._handle) throw new ERR_SERVER_ALREADY_LISTEN();
  if (callback !== null) this.once('listening', callback);
  // (handle, backlog), (path, backlog), (port, backlog) or (port, host, backlog)
  const backlogOfArgs = toNumber(args.length > 1 && args[1]) || toNumber(args.length > 2 && args[2]);
  const options = given._handle || given.handle || given;
  const backlog = options.backlog || backlogOfArgs;
  if ((options.kind === 'tcp' || options.kind === 'pipe') && typeof options.listen === 'function') {
    this._handle = options;
    start(this, { address: null, port: -1, family: -1, backlog });
    return this;
  }
  endBySignal(this, options.signal);
  if (typeof options.fd === 'number' && options.fd >= 0) {
    start(this, { address: null, port: null, family: null, backlog, fd: options.fd });
    return this;
  }
  if (args.length === 0 || typeof args[0] === 'function' || options.port === null ||
      (options.port === undefined && 'port' in options)) {
    options.port = 0;
  }
  if (typeof options.port === 'number' || typeof options.port === 'string') {
    listenAtPort(this, options, backlog);
    return this;
  }
  if (options.path && isPipeName(options.path)) {
    listenAtPath(this, options, backlog);
    return this;
  }
  if (!('port' in options || 'path' in options)) {
    throw new ERR_INVALID_ARG_VALUE('options', options, 'must have the property "port" or "path"');
  }
  throw new ERR_INVALID_ARG_VALUE('options', options);
};

function endBySignal(server, signal) {
  if (signal === undefined) return;
  validateAbortSignal(signal, 'options.signal');
  const end = () => server.close();
  if (signal.aborted) {
    process.nextTick(end);
  } else {
    signal.addEventListener('abort', end);
    server.once('close', () => signal.removeEventListener('abort', end));
  }
}

function listenAtPort(server, options, backlog) {
  validatePort(options.port, 'options.port');
  const port = options.port | 0;
  const flags = options.ipv6Only === true ? IPV6_ONLY : 0;
  if (!options.host) {
    start(server, { address: null, port, family: 4, backlog, flags });
    return;
  }
  require('dns').lookup(options.host, (error, address, family) => {
    if (error) server.emit('error', error);
    else start(server, { address, port, family: address ? family : 4, backlog, flags });
  });
}

function listenAtPath(server, options, backlog) {
  server._pipeName = options.path;
  start(server, { address: options.path, port: -1, family: -1, backlog });
  // Of a failure the next tick tells.
  if (!server._handle) return;
  const mode = (options.readableAll === true ? 1 : 0) | (options.writableAll === true ? 2 : 0);
  const error = mode === 0 ? 0 : server._handle.fchmod(mode);
  if (error) {
    server._handle.close();
    server._handle = null;
    throw errnoException(error, 'uv_pipe_chmod');
  }
}

// A handle that is bound, or the number of an error.
function createServerHandle(address, port, family, fd, flags) {
  let handle;
  if (typeof fd === 'number' && fd >= 0) {
    try {
      handle = handleFor(fd);
    } catch {
      // Not a descriptor that anybody can listen on.
      return EINVAL;
    }
    return handle.open(fd) || handle;
  }
  const isPipe = port === -1 && family === -1;
  handle = isPipe ? net.pipe() : net.tcp();
  let error = 0;
  if (isPipe) {
    if (address) error = handle.bind(address);
  } else if (!address) {
    error = handle.bind('::', port, flags);
    if (error) {
      handle.close();
      return createServerHandle('0.0.0.0', port, 4);
    }
  } else {
    error = handle.bind(address, port, family === 6 ? flags : 0);
  }
  if (!error) return handle;
  handle.close();
  return error;
}

function start(server, place) {
  server._listen2(place.address, place.port, place.family, place.backlog, place.fd, place.flags);
}

// By this name scripts know it.
prototype._listen2 = function setupListenHandle(address, port, family, backlog, fd, flags) {
  if (!this._handle) {
    let made = null;
    // IPv6 takes connections by IPv4 as well, where there is IPv6.
    if (!address && typeof fd !== 'number') {
      made = createServerHandle('::', port, 6, fd, flags);
      [address, family] = typeof made === 'number' ? ['0.0.0.0', 4] : ['::', 6];
      if (typeof made === 'number') made = null;
    }
    made ??= createServerHandle(address, port, family, fd, flags);
    if (typeof made === 'number') {
      const error = listenException(made, 'listen', address, port);
      process.nextTick(() => this.emit('error', error));
      return;
    }
    this._handle = made;
  }
  const handle = this._handle;
  handle.onconnection = (status, client) => onConnection(this, status, client);
  // A handle that is not connected at once can be closed meanwhile, so errors come later.
  const status = handle.listen(backlog || BACKLOG);
  if (status) {
    const error = listenException(status, 'listen', address, port);
    handle.close();
    this._handle = null;
    process.nextTick(() => this.emit('error', error));
    return;
  }
  this._connectionKey = `${family}:${address}:${port}`;
  if (this._unref) this.unref();
  process.nextTick(() => {
    if (this._handle) this.emit('listening');
  });
};

function onConnection(server, status, handle) {
  if (status) {
    server.emit('error', errnoException(status, 'accept'));
    return;
  }
  if (server.maxConnections && server._connections >= server.maxConnections) {
    drop(server, handle);
    return;
  }
  const socket = new Socket({
    handle,
    allowHalfOpen: server.allowHalfOpen,
    pauseOnCreate: server.pauseOnConnect,
    readable: true,
    writable: true,
    readableHighWaterMark: server.highWaterMark,
    writableHighWaterMark: server.highWaterMark,
  });
  if (server.noDelay) socket.setNoDelay(true);
  if (server.keepAlive) socket.setKeepAlive(true, server.keepAliveInitialDelay * 1000);
  server._connections++;
  socket.server = server;
  socket._server = server;
  server.emit('connection', socket);
  publish('net.server.socket', { socket });
}

// One more than there may be.
function drop(server, handle) {
  const [local, remote] = [{}, {}];
  if (handle.getsockname(local) === 0 && handle.getpeername(remote) === 0) {
    server.emit('drop', {
      __proto__: null,
      localAddress: local.address,
      localPort: local.port,
      localFamily: local.family,
      remoteAddress: remote.address,
      remotePort: remote.port,
      remoteFamily: remote.family,
    });
  } else {
    server.emit('drop');
  }
  handle.close();
}

prototype.getConnections = function getConnections(callback) {
  if (this._workers.length === 0) process.nextTick(callback, null, this._connections);
  else countWithOthers(this, callback);
  return this;
};

// Those included that other processes have been given.
function countWithOthers(server, callback) {
  let left = server._workers.length;
  let total = server._connections;
  let hasFailed = false;
  for (const list of server._workers) {
    list.getConnections((error, count) => {
      if (hasFailed) return;
      hasFailed = Boolean(error);
      total += count;
      if (hasFailed || --left === 0) process.nextTick(callback, error ?? null, hasFailed ? undefined : total);
    });
  }
}

// A list of connections that another process has been given.
prototype._setupWorker = function _setupWorker(list) {
  this._usingWorkers = true;
  this._workers.push(list);
  list.once('exit', () => { this._workers.splice(this._workers.indexOf(list), 1); });
};

prototype.close = function close(callback) {
  if (typeof callback === 'function') {
    if (this._handle) this.once('close', callback);
    else this.once('close', () => callback(new ERR_SERVER_NOT_RUNNING()));
  }
  this._handle?.close();
  this._handle = null;
  if (this._workers.length === 0) this._emitCloseIfDrained();
  else closeWithOthers(this);
  return this;
};

// It is closed when what other processes have been given is, too.
function closeWithOthers(server) {
  let left = server._workers.length;
  // None of its own may be the last until then.
  server._connections++;
  for (const list of server._workers) {
    list.close(() => {
      if (--left !== 0) return;
      server._connections = 0;
      server._emitCloseIfDrained();
    });
  }
}

prototype._emitCloseIfDrained = function _emitCloseIfDrained() {
  if (this._handle || this._connections) return;
  process.nextTick(() => this.emit('close'));
};

prototype.address = function address() {
  if (this._handle && this._handle.kind !== 'pipe') {
    const out = {};
    const error = this._handle.getsockname(out);
    if (error) throw errnoException(error, 'address');
    return out;
  }
  return this._pipeName || null;
};

prototype.ref = function ref() {
  this._unref = false;
  this._handle?.ref();
  return this;
};

prototype.unref = function unref() {
  this._unref = true;
  this._handle?.unref();
  return this;
};

prototype[EventEmitter.captureRejectionSymbol] = function rejected(error, event, socket) {
  if (event === 'connection') socket.destroy(error);
  else this.emit('error', error);
};

Object.defineProperty(prototype, 'listening', {
  __proto__: null, get() { return !!this._handle; }, configurable: true, enumerable: true,
});

module.exports = { Server, createServerHandle };
