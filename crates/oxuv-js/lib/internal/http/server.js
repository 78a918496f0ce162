// The server: its options, its time-outs and its connections.
'use strict';

const net = require('net');
const EventEmitter = require('events');
const { codes } = require('internal/codes');
const { validateBoolean, validateInteger, validateObject } = require('internal/validators');
const { IncomingMessage } = require('internal/http/incoming');
const { ServerResponse } = require('internal/http/response');
const { parseUniqueHeaders, kUniqueHeaders } = require('internal/http/outgoing_headers');
const { serveConnection, onSocketError } = require('internal/http/connection');
const now = performance.now;

const kConnections = Symbol('http.server.connections');
const kCheckingInterval = Symbol('http.server.connectionsCheckingInterval');
const kServerResponse = Symbol('ServerResponse');

// The parsers of all connections.
class ConnectionsList {
  constructor() {
    this._parsers = new Set();
  }

  add(parser) { this._parsers.add(parser); }

  delete(parser) { this._parsers.delete(parser); }

  all() { return [...this._parsers]; }

  // Between requests.
  idle() { return this.all().filter((parser) => parser.begun === 0); }

  active() { return this.all().filter((parser) => parser.begun !== 0); }

  // Those whose head or whole request takes longer than it may. Each is told of once.
  expired(headersTimeout, requestTimeout) {
    const time = now();
    const found = [];
    for (const parser of this._parsers) {
      if (parser.begun === 0 || parser.isExpired) continue;
      const age = time - parser.begun;
      if ((headersTimeout > 0 && !parser.hasHead && age > headersTimeout) || (requestTimeout > 0 && age > requestTimeout)) {
        parser.isExpired = true;
        found.push(parser);
      }
    }
    return found;
  }
}

function duration(value, name, fallback) {
  if (value === undefined) return fallback;
  validateInteger(value, name, 0);
  return value;
}

// Takes over the options that are about HTTP.
function storeHTTPOptions(options) {
  this[kIncomingMessage] = options.IncomingMessage || IncomingMessage;
  this[kServerResponse] = options.ServerResponse || ServerResponse;
  const { maxHeaderSize, insecureHTTPParser, requestTimeout, headersTimeout } = options;
  if (maxHeaderSize !== undefined) validateInteger(maxHeaderSize, 'maxHeaderSize', 0);
  this.maxHeaderSize = maxHeaderSize;
  if (insecureHTTPParser !== undefined) validateBoolean(insecureHTTPParser, 'options.insecureHTTPParser');
  this.insecureHTTPParser = insecureHTTPParser;
  this.requestTimeout = duration(requestTimeout, 'requestTimeout', 300_000);
  this.headersTimeout = duration(headersTimeout, 'headersTimeout',
    this.requestTimeout > 0 ? Math.min(60_000, this.requestTimeout) : 60_000);
  if (this.requestTimeout > 0 && this.headersTimeout > 0 && this.headersTimeout > this.requestTimeout) {
    throw new codes.ERR_OUT_OF_RANGE('headersTimeout', '<= requestTimeout', headersTimeout);
  }
  this.keepAliveTimeout = duration(options.keepAliveTimeout, 'keepAliveTimeout', 5_000);
  this.connectionsCheckingInterval = duration(options.connectionsCheckingInterval, 'connectionsCheckingInterval', 30_000);
}

const kIncomingMessage = '_incomingMessage';

function Server(options, requestListener) {
  if (!(this instanceof Server)) return new Server(options, requestListener);
  if (typeof options === 'function') {
    requestListener = options;
    options = {};
  } else if (options == null) {
    options = {};
  } else {
    validateObject(options, 'options');
    options = { ...options };
  }
  storeHTTPOptions.call(this, options);
  net.Server.call(this, {
    allowHalfOpen: true,
    noDelay: options.noDelay ?? true,
    keepAlive: options.keepAlive,
    keepAliveInitialDelay: options.keepAliveInitialDelay,
    highWaterMark: options.highWaterMark,
  });
  if (requestListener) this.on('request', requestListener);
  // Other than in the past a half of a connection that is over ends the other half.
  this.httpAllowHalfOpen = false;
  this.on('connection', serveConnection);
  this.on('listening', setUpTracking);
  this.timeout = 0;
  this.maxHeadersCount = null;
  this.maxRequestsPerSocket = 0;
  this[kUniqueHeaders] = parseUniqueHeaders(options.uniqueHeaders);
  this[kConnections] = new ConnectionsList();
}
Object.setPrototypeOf(Server.prototype, net.Server.prototype);
Object.setPrototypeOf(Server, net.Server);

// Looks now and then for connections that are too slow.
function setUpTracking() {
  clearInterval(this[kCheckingInterval]);
  this[kCheckingInterval] = setInterval(() => checkConnections(this), this.connectionsCheckingInterval).unref();
}

function checkConnections(server) {
  if (server.headersTimeout === 0 && server.requestTimeout === 0) return;
  for (const { socket } of server[kConnections].expired(server.headersTimeout, server.requestTimeout)) {
    if (socket) onSocketError.call(socket, new codes.ERR_HTTP_REQUEST_TIMEOUT());
  }
}

const { prototype } = Server;

prototype.close = function close(...args) {
  clearInterval(this[kCheckingInterval]);
  Reflect.apply(net.Server.prototype.close, this, args);
  return this;
};

prototype.closeAllConnections = function closeAllConnections() {
  for (const { socket } of this[kConnections].all()) socket.destroy();
};

prototype.closeIdleConnections = function closeIdleConnections() {
  for (const { socket } of this[kConnections].idle()) {
    if (!socket._httpMessage || socket._httpMessage.finished) socket.destroy();
  }
};

prototype.setTimeout = function setTimeout(msecs, callback) {
  this.timeout = msecs;
  if (callback) this.on('timeout', callback);
  return this;
};

// A listener that is an asynchronous function has failed.
prototype[EventEmitter.captureRejectionSymbol] = function rejected(error, event, ...args) {
  if (event !== 'request') {
    Reflect.apply(net.Server.prototype[EventEmitter.captureRejectionSymbol], this, [error, event, ...args]);
    return;
  }
  const response = args[1];
  if (!response.headersSent && !response.writableEnded) {
    // What was set for another answer does not fit.
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.statusCode = 500;
    response.end('Internal Server Error');
  } else {
    response.destroy();
  }
};

Object.assign(exports, { Server, kConnections, kServerResponse, kCheckingInterval });
