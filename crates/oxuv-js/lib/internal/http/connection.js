// A connection of a server: requests come in one after the other, and answers go out in the same order.
'use strict';

const net = require('net');
const { codes } = require('internal/codes');
const { HTTPParser, parsers, freeParser, prepareError, isLenient, methods } = require('internal/http/parser');
const { emitClose, onSocketClose } = require('internal/http/response');
const { kUniqueHeaders } = require('internal/http/outgoing_headers');
const { kNeedDrain, CONTINUE, connectionReset } = require('internal/http/common');
const observed = require('internal/http/observed');
const servers = require('internal/http/server');

// So many requests may wait for their answers before no more are read.
const MOST_WAITING = 1000;

const nothing = () => {};
const now = performance.now;

// What there is to know of a connection.
class Connection {
  constructor(server, socket, parser) {
    this.server = server;
    this.socket = socket;
    this.parser = parser;
    // The requests without a finished answer, and the answers that wait for their turn.
    this.incoming = [];
    this.outgoing = [];
    // Bytes of those answers.
    this.outgoingData = 0;
    this.requestsCount = 0;
    this.keepAliveTimeoutSet = false;
    // Ends the connection when it was idle for too long; how long that is, and since when it is.
    this.idleTimer = null;
    this.idleTimeout = 0;
    this.idleSince = 0;
    this.onFinish = (response) => onFinish(this, response);
    this.onPendingData = (count) => updateOutgoingData(this, count);
    this.listeners = {
      data: (chunk) => onData(this, chunk),
      end: () => onEnd(this),
      close: () => onClose(this),
      drain: () => onDrain(this),
      error: onSocketError,
      timeout: onTimeout,
    };
  }
}

function serveConnection(socket) {
  const server = this;
  // Streams of others than our servers come here, too.
  socket.server ??= server;
  if (server.timeout && typeof socket.setTimeout === 'function') socket.setTimeout(server.timeout);
  const parser = parsers.alloc();
  parser.initialize(HTTPParser.REQUEST, null, server.maxHeaderSize || 0,
    (server.insecureHTTPParser ?? isLenient()) ? HTTPParser.kLenientAll : HTTPParser.kLenientNone, server[servers.kConnections]);
  parser.socket = socket;
  parser[HTTPParser.kOnTimeout] = nothing;
  socket.parser = parser;
  if (typeof server.maxHeadersCount === 'number') parser.maxHeaderPairs = server.maxHeadersCount << 1;
  const connection = new Connection(server, socket, parser);
  parser.onIncoming = (request, keepsAlive) => onIncoming(connection, request, keepsAlive);
  const { listeners } = connection;
  socket.on('timeout', listeners.timeout);
  socket.on('error', listeners.error);
  socket.on('close', listeners.close);
  socket.on('close', onSocketClose);
  socket.on('end', listeners.end);
  socket.on('data', listeners.data);
  socket.on('drain', listeners.drain);
  socket._paused = false;
  consume(connection);
  // What is written is HTTP, and so is what is read: bytes.
  if (typeof socket.setEncoding === 'function') socket.setEncoding = refuseEncoding;
}

// A socket of ours need not read for itself, unless a script wants to see what comes.
function consume(connection) {
  const { socket, parser } = connection;
  if (socket._handle?.kind === undefined || socket._handle.readStart !== Object.getPrototypeOf(socket._handle).readStart) return;
  parser[HTTPParser.kOnExecute] = (read) => {
    socket._unrefTimer();
    afterExecute(connection, read, parser.getCurrentBuffer());
  };
  parser.consume(socket._handle);
  socket.on('pause', onPause);
  socket.on('resume', onResume);
  for (const name of LISTENING) socket[name] = listenAndUnconsume[name];
}

// There is nothing in the socket's buffer that could hold the handle up.
function onPause() {
  if (!this._handle?.reading) return;
  this._handle.reading = false;
  this._handle.readStop();
}

function onResume() {
  // Told of late: it may be held up again.
  if (this._paused) {
    this.pause();
  } else if (this._handle && !this._handle.reading) {
    this._handle.reading = true;
    this._handle.readStart();
  }
}

// The ways to listen, each with a look at what for: who wants the bytes gets them.
const LISTENING = ['on', 'addListener', 'prependListener'];
const listenAndUnconsume = {};
for (const name of LISTENING) {
  listenAndUnconsume[name] = function listen(event, listener) {
    if (!this.parser) {
      for (const each of LISTENING) delete this[each];
    } else if (event === 'data' || event === 'readable') {
      for (const each of LISTENING) delete this[each];
      unconsume(this);
    }
    return net.Socket.prototype[name].call(this, event, listener);
  };
}

function unconsume(socket) {
  socket.parser.unconsume();
  socket.removeListener('pause', onPause);
  socket.removeListener('resume', onResume);
}

function refuseEncoding() {
  throw new codes.ERR_HTTP_SOCKET_ENCODING();
}

// Reading stops when there are more answers waiting than the socket takes.
function updateOutgoingData(connection, count) {
  connection.outgoingData += count;
  const { socket } = connection;
  if (socket._paused && connection.outgoingData < socket.writableHighWaterMark) onDrain(connection);
}

function onDrain(connection) {
  const { socket } = connection;
  if (socket._paused && connection.outgoingData <= socket.writableHighWaterMark && connection.incoming.length < MOST_WAITING) {
    socket._paused = false;
    socket.parser?.resume();
    socket.resume();
  }
  const message = socket._httpMessage;
  if (message && !message.finished && message[kNeedDrain]) {
    message[kNeedDrain] = false;
    message.emit('drain');
  }
}

function onTimeout() {
  const request = this.parser?.incoming;
  const byRequest = request && !request.complete && request.emit('timeout', this);
  const byResponse = this._httpMessage && this._httpMessage.emit('timeout', this);
  const byServer = this.server.emit('timeout', this);
  if (!byRequest && !byResponse && !byServer) this.destroy();
}

function onClose(connection) {
  const { incoming, socket } = connection;
  freeParser(socket.parser, null, socket);
  clearTimeout(connection.idleTimer);
  while (incoming.length > 0) incoming.shift().destroy(connectionReset('aborted'));
}

function onEnd({ server, socket, parser, outgoing }) {
  const error = socket.parser === parser ? parser.finish() : undefined;
  if (error instanceof Error) {
    onSocketError.call(socket, error);
  } else if (!server.httpAllowHalfOpen) {
    socket.end();
  } else if (outgoing.length > 0) {
    outgoing.at(-1)._last = true;
  } else if (socket._httpMessage) {
    socket._httpMessage._last = true;
  } else {
    socket.end();
  }
}

const REFUSALS = {
  '__proto__': null,
  'HPE_HEADER_OVERFLOW': '431 Request Header Fields Too Large',
  'HPE_CHUNK_EXTENSIONS_OVERFLOW': '413 Payload Too Large',
  'ERR_HTTP_REQUEST_TIMEOUT': '408 Request Timeout',
};

// What goes wrong with the connection or with what comes through it.
function onSocketError(error) {
  // One is enough.
  this.removeListener('error', onSocketError);
  if (this.listenerCount('error') === 0) this.on('error', nothing);
  if (this.server.emit('clientError', error, this)) return;
  // The peer is told, unless it gets an answer already.
  if (this.writable && (!this._httpMessage || !this._httpMessage._headerSent)) {
    this.write(`HTTP/1.1 ${REFUSALS[error.code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
  }
  this._closeAfterHandlingError = true;
  this.destroy(error);
}

function onData(connection, chunk) {
  afterExecute(connection, connection.parser.execute(chunk), chunk);
}

function afterExecute(connection, read, chunk) {
  const { socket, parser } = connection;
  resetTimeout(connection);
  if (read instanceof Error) {
    prepareError(read, parser, chunk);
    onSocketError.call(socket, read);
  } else if (parser.incoming?.upgrade) {
    handOver(connection, parser.incoming, chunk.slice(read));
  }
}

// The connection goes on with another protocol, which somebody else speaks.
function handOver(connection, request, head) {
  const { server, socket, parser, listeners } = connection;
  for (const [event, listener] of Object.entries(listeners)) socket.removeListener(event, listener);
  socket.removeListener('close', onSocketClose);
  if (socket.parser) unconsume(socket);
  clearTimeout(connection.idleTimer);
  parser.finish();
  freeParser(parser, request, socket);
  delete socket.setEncoding;
  const event = request.method === 'CONNECT' ? 'connect' : 'upgrade';
  if (server.listenerCount(event) === 0) {
    socket.destroy();
    return;
  }
  socket.readableFlowing = null;
  server.emit(event, request, socket, head);
}

// While a request is handled the time-out is the server's, not that of an idle connection.
function resetTimeout(connection) {
  connection.idleSince = 0;
  if (!connection.keepAliveTimeoutSet) return;
  connection.socket.setTimeout(connection.server.timeout || 0);
  connection.keepAliveTimeoutSet = false;
}

// A request has come, or its head at least. 2 if it ends this protocol.
function onIncoming(connection, request, keepsAlive) {
  const { server, socket, parser } = connection;
  resetTimeout(connection);
  if (request.upgrade) {
    request.upgrade = request.method === 'CONNECT' || server.listenerCount('upgrade') > 0;
    if (request.upgrade) return 2;
  }
  connection.incoming.push(request);
  pauseIfFlooded(connection);
  const response = makeResponse(connection, request, keepsAlive);
  if (socket._httpMessage) connection.outgoing.push(response);
  else response.assignSocket(socket);
  if (request.httpVersionMajor === 1 && request.httpVersionMinor === 1) {
    const limit = server.maxRequestsPerSocket;
    if (typeof limit === 'number' && limit > 0) {
      connection.requestsCount++;
      response.maxRequestsOnConnectionReached = limit <= connection.requestsCount;
      if (limit < connection.requestsCount) {
        server.emit('dropRequest', request, socket);
        response.writeHead(503);
        response.end();
        return 0;
      }
    }
    if (parser.hasExpect && request.headers.expect !== undefined) {
      answerExpectation(server, request, response);
      return 0;
    }
  }
  server.emit('request', request, response);
  return 0;
}

// Requests that come faster than their answers go wait in the kernel.
function pauseIfFlooded(connection) {
  const { socket } = connection;
  if (socket._paused) return;
  if (socket._writableState?.needDrain || connection.outgoingData >= socket.writableHighWaterMark ||
      connection.incoming.length >= MOST_WAITING) {
    socket._paused = true;
    socket.pause();
  }
}

function makeResponse(connection, request, keepsAlive) {
  const { server, socket } = connection;
  const response = new server[servers.kServerResponse](request, { highWaterMark: socket.writableHighWaterMark });
  response._keepAliveTimeout = server.keepAliveTimeout;
  if (server.maxRequestsPerSocket > 0) response._maxRequestsPerSocket = server.maxRequestsPerSocket;
  response._onPendingData = connection.onPendingData;
  if (!keepsAlive || !response.shouldKeepAlive) response.shouldKeepAlive = keepsAlive;
  if (server[kUniqueHeaders] !== null) response[kUniqueHeaders] = server[kUniqueHeaders];
  response._onFinish = connection.onFinish;
  observed.began(request, response, socket, server);
  return response;
}

function answerExpectation(server, request, response) {
  if (CONTINUE.test(request.headers.expect)) {
    response._expect_continue = true;
    if (server.listenerCount('checkContinue') > 0) {
      server.emit('checkContinue', request, response);
    } else {
      response.writeContinue();
      server.emit('request', request, response);
    }
  } else if (server.listenerCount('checkExpectation') > 0) {
    server.emit('checkExpectation', request, response);
  } else {
    response.writeHead(417);
    response.end();
  }
}

// An answer is with the socket: the next one may go, or the connection ends or is idle.
function onFinish(connection, response) {
  const { server, socket, outgoing } = connection;
  const request = response.req;
  observed.answered(response, socket, server);
  connection.incoming.shift();
  if (socket._paused && connection.incoming.length === MOST_WAITING - 1) onDrain(connection);
  // Nobody has read the request: what is left of it has to go, so that the next one can come.
  if (!request._consuming) request._dump();
  response.detachSocket(socket);
  forget(request, connection.parser);
  process.nextTick(emitClose, response);
  if (response._last) {
    if (typeof socket.destroySoon === 'function') socket.destroySoon();
    else socket.end();
  } else if (outgoing.length > 0) {
    outgoing.shift().assignSocket(socket);
  } else if (server.keepAliveTimeout && typeof socket.setTimeout === 'function') {
    becomeIdle(connection, server.keepAliveTimeout);
  }
}

// A timer that is set anew for each request costs more than the request: this one looks, when it is due, what there was meanwhile.
function becomeIdle(connection, timeout) {
  const { socket } = connection;
  if (socket.timeout) {
    // The script has one of its own, or the server.
    socket.setTimeout(timeout);
    connection.keepAliveTimeoutSet = true;
    return;
  }
  connection.idleSince = now();
  if (connection.idleTimer !== null && connection.idleTimeout === timeout) return;
  clearTimeout(connection.idleTimer);
  connection.idleTimeout = timeout;
  connection.idleTimer = setTimeout(onIdle, timeout, connection).unref();
}

function onIdle(connection) {
  connection.idleTimer = null;
  if (connection.idleSince === 0 || connection.socket.destroyed) return;
  const left = connection.idleTimeout - (now() - connection.idleSince);
  if (left >= 1) connection.idleTimer = setTimeout(onIdle, left, connection).unref();
  else if (connection.socket.parser) connection.socket.emit('timeout');
}

// The parser does not keep a request that is over.
function forget(request, parser) {
  if (parser.incoming !== request) return;
  if (request.complete) parser.incoming = null;
  else request.on('end', () => { if (parser.incoming === request) parser.incoming = null; });
}

Object.assign(exports, { serveConnection, onSocketError, methods });
