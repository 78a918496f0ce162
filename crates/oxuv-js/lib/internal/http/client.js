// A request that a client sends, and the response that comes for it.
'use strict';

const net = require('net');
const { addAbortSignal, finished } = require('stream');
const { Buffer } = require('buffer');
const { codes } = require('internal/codes');
const { validateBoolean, validateInteger, validateString } = require('internal/validators');
const { durationOf } = require('internal/net/timeout');
const { urlToHttpOptions } = require('url');
const agents = require('internal/http/agent');
const { OutgoingMessage } = require('internal/http/outgoing');
const { parseUniqueHeaders, kUniqueHeaders } = require('internal/http/outgoing_headers');
const { kOutHeaders, isToken, connectionReset } = require('internal/http/common');
const { attach } = require('internal/http/exchange');
const observed = require('internal/http/observed');

const kError = Symbol('kError');
const kPath = Symbol('kPath');
const WRONG_IN_PATH = /[^\u0021-\u00ff]/;
// Requests that mostly have no body.
const BARE = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

function ClientRequest(input, options, callback) {
  OutgoingMessage.call(this);
  ({ options, callback } = argumentsOf(input, options, callback));
  this.agent = agentOf(options);
  const { protocol, defaultPort } = checkPlace(this, options);
  const host = options.host;
  this.socketPath = options.socketPath;
  if (options.timeout !== undefined) this.timeout = durationOf(options.timeout, 'timeout');
  const { signal } = options;
  if (signal) addAbortSignal(signal, this);
  this.method = methodOf(options.method);
  checkParserOptions(this, options);
  this.path = options.path || '/';
  if (callback) this.once('response', callback);
  this.useChunkedEncodingByDefault = !BARE.has(this.method);
  this._ended = false;
  this.res = null;
  this.aborted = false;
  this.timeoutCb = null;
  this.upgradeOrConnect = false;
  this.parser = null;
  this.maxHeadersCount = null;
  this.reusedSocket = false;
  this.host = host;
  this.protocol = protocol;
  // A connection that nobody will use again need not be kept.
  this.shouldKeepAlive = !!this.agent && (this.agent.keepAlive || Number.isFinite(this.agent.maxSockets));
  this._last = !this.shouldKeepAlive;
  this[kUniqueHeaders] = parseUniqueHeaders(options.uniqueHeaders);
  setHeaders(this, options, host, defaultPort);
  if (signal) {
    options = { ...options };
    delete options.signal;
  }
  if (this.agent) this.agent.addRequest(this, options);
  else connectAlone(this, options);
}
Object.setPrototypeOf(ClientRequest.prototype, OutgoingMessage.prototype);
Object.setPrototypeOf(ClientRequest, OutgoingMessage);

// (url[, options][, callback]) or (options[, callback])
function argumentsOf(input, options, callback) {
  let fromUrl = null;
  if (typeof input === 'string') {
    fromUrl = urlToHttpOptions(new URL(input));
  } else if (input instanceof URL) {
    fromUrl = urlToHttpOptions(input);
  } else {
    callback = options;
    options = input;
  }
  if (typeof options === 'function') return { options: fromUrl || {}, callback: options };
  return { options: Object.assign(fromUrl || {}, options), callback };
}

const defaultAgentOf = (options) => options._defaultAgent || agents.globalAgent;

function agentOf(options) {
  const { agent } = options;
  if (agent === false) return new (defaultAgentOf(options).constructor)();
  if (agent === null || agent === undefined) {
    // Who makes the connection needs no agent for it.
    return typeof options.createConnection === 'function' ? agent : defaultAgentOf(options);
  }
  if (typeof agent.addRequest !== 'function') {
    throw new codes.ERR_INVALID_ARG_TYPE('options.agent', ['Agent-like Object', 'undefined', 'false'], agent);
  }
  return agent;
}

function validateHost(host, name) {
  if (host !== null && host !== undefined && typeof host !== 'string') {
    throw new codes.ERR_INVALID_ARG_TYPE(`options.${name}`, ['string', 'undefined', 'null'], host);
  }
  return host;
}

function validatePath(path) {
  path = String(path);
  if (WRONG_IN_PATH.test(path)) throw new codes.ERR_UNESCAPED_CHARACTERS('Request path');
  return path;
}

// Where the request goes. Host and port are completed.
function checkPlace(request, options) {
  const { protocol: ofDefault } = defaultAgentOf(options);
  const protocol = options.protocol || ofDefault;
  const expected = request.agent?.protocol || ofDefault;
  if (options.path) validatePath(options.path);
  if (protocol !== expected) throw new codes.ERR_INVALID_PROTOCOL(protocol, expected);
  const defaultPort = options.defaultPort || request.agent?.defaultPort;
  options.port = options.port || defaultPort || 80;
  options.host = validateHost(options.hostname, 'hostname') || validateHost(options.host, 'host') || 'localhost';
  return { protocol, defaultPort };
}

function methodOf(method) {
  if (method === null || method === undefined || method === '') return 'GET';
  if (typeof method !== 'string') throw new codes.ERR_INVALID_ARG_TYPE('options.method', 'string', method);
  if (!isToken(method)) throw new codes.ERR_INVALID_HTTP_TOKEN('Method', method);
  return method.toUpperCase();
}

function checkParserOptions(request, { maxHeaderSize, insecureHTTPParser }) {
  if (maxHeaderSize !== undefined) validateInteger(maxHeaderSize, 'maxHeaderSize', 0);
  request.maxHeaderSize = maxHeaderSize;
  if (insecureHTTPParser !== undefined) validateBoolean(insecureHTTPParser, 'options.insecureHTTPParser');
  request.insecureHTTPParser = insecureHTTPParser;
}

function hostHeader(host, port, defaultPort) {
  // An address of IPv6 has brackets around it.
  const isIPv6 = host.indexOf(':') !== host.lastIndexOf(':') && !host.startsWith('[');
  return `${isIPv6 ? `[${host}]` : host}${port && +port !== defaultPort ? `:${port}` : ''}`;
}

function setHeaders(request, options, host, defaultPort) {
  const { headers } = options;
  if (Array.isArray(headers)) {
    request._storeHeader(`${request.method} ${request.path} HTTP/1.1\r\n`, headers);
    return;
  }
  if (headers) for (const name of Object.keys(headers)) request.setHeader(name, headers[name]);
  if (request.getHeader('host')) validateString(request.getHeader('host'), 'options.headers.host');
  const setHost = options.setHost === undefined || Boolean(options.setHost);
  if (host && setHost && !request.getHeader('host')) request.setHeader('Host', hostHeader(host, options.port, defaultPort));
  if (options.auth && !request.getHeader('Authorization')) {
    request.setHeader('Authorization', `Basic ${Buffer.from(options.auth).toString('base64')}`);
  }
  // The leave to send the body is asked for at once.
  if (request.getHeader('expect')) request._implicitHeader();
}

// Without an agent, a connection for this request.
function connectAlone(request, options) {
  if (options.socketPath || options.path) options = { ...options, path: options.socketPath || undefined };
  if (typeof options.createConnection !== 'function') {
    request.onSocket(net.createConnection(options));
    return;
  }
  let isDone = false;
  const done = (error, socket) => {
    if (isDone) return;
    isDone = true;
    if (error) process.nextTick(() => request.emit('error', error));
    else request.onSocket(socket);
  };
  try {
    const socket = options.createConnection(options, done);
    if (socket) done(null, socket);
  } catch (error) {
    done(error);
  }
}

const { prototype } = ClientRequest;

Object.defineProperty(prototype, 'path', {
  __proto__: null,
  get() { return this[kPath]; },
  set(value) { this[kPath] = validatePath(value); },
  configurable: true,
  enumerable: true,
});

prototype._finish = function _finish() {
  OutgoingMessage.prototype._finish.call(this);
  observed.requested(this);
};

prototype._implicitHeader = function _implicitHeader() {
  if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT('render');
  this._storeHeader(`${this.method} ${this.path} HTTP/1.1\r\n`, this[kOutHeaders]);
};

prototype.abort = function abort() {
  if (this.aborted) return;
  this.aborted = true;
  process.nextTick(() => this.emit('abort'));
  this.destroy();
};

prototype.destroy = function destroy(error) {
  if (this.destroyed) return this;
  this.destroyed = true;
  // Nothing more of the response is of interest.
  if (this.res) this.res._dump();
  this[kError] = error;
  this.socket?.destroy(error);
  return this;
};

// The end of a request that has no connection, or none any more.
function close(request, error) {
  request.destroyed = true;
  if (!request.aborted && !error) error = connectionReset('socket hang up');
  if (error) request.emit('error', error);
  request._closed = true;
  request.emit('close');
}

// Called by the agent.
prototype.onSocket = function onSocket(socket, error) {
  process.nextTick(takeSocket, this, socket, error);
};

function takeSocket(request, socket, error) {
  if (!request.destroyed && !error) {
    attach(request, socket);
    request._flush();
    return;
  }
  error ??= request[kError];
  if (socket) {
    if (!error && request.agent && !socket.destroyed) {
      socket.emit('free');
    } else {
      finished(socket.destroy(error), (found) => {
        if (found?.code === 'ERR_STREAM_PREMATURE_CLOSE') found = null;
        close(request, found || error);
      });
      return;
    }
  }
  close(request, error);
}

// Calls a method of the socket once it is connected.
prototype._deferToConnect = function _deferToConnect(method, args) {
  const call = () => { if (method) Reflect.apply(this.socket[method], this.socket, args); };
  const whenConnected = () => {
    if (this.socket.writable) call();
    else this.socket.once('connect', call);
  };
  if (this.socket) whenConnected();
  else this.once('socket', whenConnected);
};

function setSocketTimeout(socket, msecs) {
  if (socket.connecting) socket.once('connect', () => socket.setTimeout(msecs));
  else socket.setTimeout(msecs);
}

prototype.setTimeout = function setTimeout(msecs, callback) {
  if (this._ended) return this;
  require('internal/http/exchange').listenTimeout(this);
  msecs = durationOf(msecs, 'msecs');
  if (callback) this.once('timeout', callback);
  if (this.socket) setSocketTimeout(this.socket, msecs);
  else this.once('socket', (socket) => setSocketTimeout(socket, msecs));
  return this;
};

prototype.setNoDelay = function setNoDelay(noDelay) {
  this._deferToConnect('setNoDelay', [noDelay]);
};

prototype.setSocketKeepAlive = function setSocketKeepAlive(enable, initialDelay) {
  this._deferToConnect('setKeepAlive', [enable, initialDelay]);
};

prototype.clearTimeout = function clearTimeout(callback) {
  this.setTimeout(0, callback);
};

module.exports = { ClientRequest };
