// A request of a client on its connection, until the response has come and the connection goes or is free.
'use strict';

const { HTTPParser, parsers, freeParser, prepareError, isLenient } = require('internal/http/parser');
const observed = require('internal/http/observed');
const { kNeedDrain, connectionReset } = require('internal/http/common');

const isInformational = (status) => status < 200 && status >= 100 && status !== 101;

function attach(request, socket) {
  const parser = parsers.alloc();
  parser.initialize(HTTPParser.RESPONSE, null, request.maxHeaderSize || 0,
    (request.insecureHTTPParser ?? isLenient()) ? HTTPParser.kLenientAll : HTTPParser.kLenientNone);
  parser.ask(request.method);
  parser.socket = socket;
  parser.outgoing = request;
  parser.onIncoming = onIncoming;
  if (typeof request.maxHeadersCount === 'number') parser.maxHeaderPairs = request.maxHeadersCount << 1;
  request.socket = socket;
  request.parser = parser;
  socket.parser = parser;
  socket._httpMessage = request;
  socket.on('error', onSocketError);
  socket.on('data', onData);
  socket.on('end', onEnd);
  socket.on('close', onClose);
  socket.on('drain', onDrain);
  observed.begin(request);
  if (request.timeout !== undefined || request.agent?.options?.timeout) listenTimeout(request);
  request.emit('socket', socket);
}

function onDrain() {
  const message = this._httpMessage;
  if (message && !message.finished && message[kNeedDrain]) {
    message[kNeedDrain] = false;
    message.emit('drain');
  }
}

function emitRequestTimeout() {
  this._httpMessage?.emit('timeout');
}

function emitResponseTimeout() {
  this._httpMessage?.res?.emit('timeout');
}

// Time-outs of the socket become those of the request.
function listenTimeout(request) {
  if (request.timeoutCb) return;
  request.timeoutCb = emitRequestTimeout;
  if (request.socket) request.socket.once('timeout', emitRequestTimeout);
  else request.on('socket', (socket) => socket.once('timeout', emitRequestTimeout));
}

// An error of the connection is the request's. There is one at most.
function fail(request, error) {
  request.socket._hadError = true;
  request.emit('error', error);
}

function stopReading(socket) {
  socket.removeListener('data', onData);
  socket.removeListener('end', onEnd);
}

function onSocketError(error) {
  const { parser, _httpMessage: request } = this;
  if (request) fail(request, error);
  if (parser) {
    parser.finish();
    freeParser(parser, request, this);
  }
  stopReading(this);
  this.destroy();
}

function onEnd() {
  const { parser, _httpMessage: request } = this;
  if (!request.res && !request.socket._hadError) fail(request, connectionReset('socket hang up'));
  if (parser) {
    parser.finish();
    freeParser(parser, request, this);
  }
  this.end();
}

function onClose() {
  const { parser, _httpMessage: request } = this;
  // What is buffered is still taken.
  this.read();
  request.destroyed = true;
  parser?.finish();
  const response = request.res;
  if (response) {
    if (!response.complete) response.destroy(connectionReset('aborted'));
    request._closed = true;
    request.emit('close');
    if (!response.aborted && response.readable) response.push(null);
  } else {
    if (!request.socket._hadError) fail(request, connectionReset('socket hang up'));
    request._closed = true;
    request.emit('close');
  }
  // Nobody will take what is not written.
  request.outputData.length = 0;
  if (parser) freeParser(parser, request, this);
}

function onData(chunk) {
  const { parser, _httpMessage: request } = this;
  const read = parser.execute(chunk);
  if (read instanceof Error) {
    prepareError(read, parser, chunk);
    freeParser(parser, request, this);
    stopReading(this);
    this.destroy();
    fail(request, read);
    return;
  }
  const { incoming } = parser;
  if (incoming?.upgrade) {
    handOver(this, parser, request, incoming, chunk.slice(read));
  } else if (incoming?.complete && !isInformational(incoming.statusCode)) {
    stopReading(this);
    this.removeListener('drain', onDrain);
    freeParser(parser, request, this);
  }
}

// Another protocol begins here, which the script speaks.
function handOver(socket, parser, request, response, head) {
  request.res = response;
  stopReading(socket);
  socket.removeListener('drain', onDrain);
  if (request.timeoutCb) socket.removeListener('timeout', request.timeoutCb);
  socket.removeListener('timeout', emitResponseTimeout);
  parser.finish();
  freeParser(parser, request, socket);
  const event = request.method === 'CONNECT' ? 'connect' : 'upgrade';
  if (request.listenerCount(event) === 0) {
    socket.destroy();
    return;
  }
  request.upgradeOrConnect = true;
  socket.emit('agentRemove');
  socket.removeListener('close', onClose);
  socket.removeListener('error', onSocketError);
  socket._httpMessage = null;
  socket.readableFlowing = null;
  request.emit(event, response, socket, head);
  request.destroyed = true;
  request._closed = true;
  request.emit('close');
}

// A response, its head at least. Called by the parser: 2 if it ends this protocol, 1 if it has no body.
function onIncoming(response, keepsAlive) {
  const { socket } = this;
  const request = socket._httpMessage;
  if (request.res) {
    // One more than was asked for.
    socket.destroy();
    return 0;
  }
  request.res = response;
  if (response.upgrade) return 2;
  if (request.method === 'CONNECT') {
    response.upgrade = true;
    return 2;
  }
  if (isInformational(response.statusCode)) {
    inform(request, response);
    return 1;
  }
  if (request.shouldKeepAlive && !keepsAlive && !request.upgradeOrConnect) request.shouldKeepAlive = false;
  observed.responded(request, response);
  response.req = request;
  // First of all listeners, so that the connection is seen to in any case.
  response.on('end', onResponseEnd);
  request.on('finish', onRequestFinish);
  socket.on('timeout', emitResponseTimeout);
  // Nobody reads it: then it must not stay in the connection.
  if (request.aborted || !request.emit('response', response)) response._dump();
  if (request.method === 'HEAD') return 1;
  if (response.statusCode === 304) {
    response.complete = true;
    return 1;
  }
  return 0;
}

// The response proper is still to come.
function inform(request, response) {
  request.res = null;
  if (response.statusCode === 100) request.emit('continue');
  const { statusCode, statusMessage, httpVersion, httpVersionMajor, httpVersionMinor, headers, rawHeaders } = response;
  request.emit('information', {
    statusCode, statusMessage, httpVersion, httpVersionMajor, httpVersionMinor, headers, rawHeaders,
  });
}

function onResponseEnd() {
  const request = this.req;
  const { socket } = request;
  if (socket) {
    if (request.timeoutCb) socket.removeListener('timeout', emitRequestTimeout);
    socket.removeListener('timeout', emitResponseTimeout);
  }
  request._ended = true;
  if (!request.shouldKeepAlive) {
    if (!socket.writable) return;
    if (typeof socket.destroySoon === 'function') socket.destroySoon();
    else socket.end();
  } else if (request.writableFinished && !this.aborted) {
    release(request);
  }
}

function onRequestFinish() {
  if (this.shouldKeepAlive && this._ended) release(this);
}

// The connection is free for another request.
function release(request) {
  const { socket } = request;
  if (request.timeoutCb) {
    socket.setTimeout(0, request.timeoutCb);
    request.timeoutCb = null;
  }
  socket.removeListener('close', onClose);
  socket.removeListener('error', onSocketError);
  stopReading(socket);
  process.nextTick(emitFree, request);
  request.destroyed = true;
  // Who destroys the response now must not destroy another request's connection.
  if (request.res) request.res.socket = null;
}

function emitFree(request) {
  request._closed = true;
  request.emit('close');
  request.socket?.emit('free');
}

module.exports = { attach, listenTimeout };
