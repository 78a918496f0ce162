// The answer of a server.
'use strict';

const { codes } = require('internal/codes');
const { OutgoingMessage } = require('internal/http/outgoing');
const { kOutHeaders, CHUNKED, hasWrongCharacter, validateHeaderValue } = require('internal/http/common');
const STATUS_CODES = require('internal/http/status');

function ServerResponse(request, options) {
  OutgoingMessage.call(this, options);
  if (request.method === 'HEAD') this._hasBody = false;
  this.req = request;
  if (request.httpVersionMajor < 1 || request.httpVersionMinor < 1) {
    this.useChunkedEncodingByDefault = CHUNKED.test(request.headers.te);
    this.shouldKeepAlive = false;
  }
}
Object.setPrototypeOf(ServerResponse.prototype, OutgoingMessage.prototype);
Object.setPrototypeOf(ServerResponse, OutgoingMessage);

const { prototype } = ServerResponse;

prototype.statusCode = 200;
prototype.statusMessage = undefined;
prototype.sendDate = true;
prototype._sent100 = false;
prototype._expect_continue = false;

prototype._finish = function _finish() {
  this.emit('prefinish');
};

// The answer is over, with its end or with the connection's.
function emitClose(response) {
  response.destroyed = true;
  response._closed = true;
  response.emit('close');
}

function onSocketClose() {
  if (this._httpMessage) emitClose(this._httpMessage);
}

prototype.assignSocket = function assignSocket(socket) {
  if (socket._httpMessage) {
    if (socket._httpMessage.finished === undefined || !codes.ERR_HTTP_SOCKET_ASSIGNED) return;
    throw new codes.ERR_HTTP_SOCKET_ASSIGNED();
  }
  socket._httpMessage = this;
  // Of our connections we hear otherwise.
  if (this._onFinish === null) socket.on('close', onSocketClose);
  this.socket = socket;
  this.emit('socket', socket);
  this._flush();
};

prototype.detachSocket = function detachSocket(socket) {
  if (this._onFinish === null) socket.removeListener('close', onSocketClose);
  socket._httpMessage = null;
  this.socket = null;
};

prototype.writeContinue = function writeContinue(callback) {
  this._writeRaw('HTTP/1.1 100 Continue\r\n\r\n', 'latin1', callback);
  this._sent100 = true;
};

prototype.writeProcessing = function writeProcessing(callback) {
  this._writeRaw('HTTP/1.1 102 Processing\r\n\r\n', 'latin1', callback);
};

// Links to what the page will want: `<url>; rel=preload` and the like.
const LINK = /^(?:<[^>]*>)(?:\s*;\s*[^;"\s]+(?:=(")?[^;"\s]*\1)?)*$/;

function validateLink(value, name) {
  if (typeof value !== 'undefined' && LINK.test(value)) return;
  throw new codes.ERR_INVALID_ARG_VALUE(name, value,
    'must be an array or string of format "</styles.css>; rel=preload; as=style"');
}

function linkValueOf(hints) {
  if (typeof hints === 'string') {
    validateLink(hints, 'hints');
    return hints;
  }
  if (!Array.isArray(hints)) validateLink(hints, 'hints');
  for (const hint of hints) validateLink(hint, 'hints');
  return hints.join(', ');
}

prototype.writeEarlyHints = function writeEarlyHints(hints, callback) {
  require('internal/validators').validateObject(hints, 'hints');
  if (hints.link === null || hints.link === undefined) return;
  const link = linkValueOf(hints.link);
  if (link.length === 0) return;
  let head = `HTTP/1.1 103 Early Hints\r\nLink: ${link}\r\n`;
  for (const name of Object.keys(hints)) {
    if (name === 'link') continue;
    validateHeaderValue(name, hints[name]);
    head += `${name}: ${hints[name]}\r\n`;
  }
  this._writeRaw(`${head}\r\n`, 'latin1', callback);
};

prototype._implicitHeader = function _implicitHeader() {
  this.writeHead(this.statusCode);
};

prototype.writeHead = function writeHead(statusCode, reason, given) {
  const asGiven = statusCode;
  statusCode |= 0;
  if (statusCode < 100 || statusCode > 999) throw new codes.ERR_HTTP_INVALID_STATUS_CODE(asGiven);
  if (typeof reason === 'string') {
    this.statusMessage = reason;
  } else {
    this.statusMessage ||= STATUS_CODES[statusCode] || 'unknown';
    given ??= reason;
  }
  this.statusCode = statusCode;
  const headers = this[kOutHeaders] ? addGiven(this, given) : given;
  // A head that nobody has added to may be written anew until it is sent, and what the first said of the body with it.
  if (this._header) {
    if (this[kOutHeaders] || this._headerSent) throw new codes.ERR_HTTP_HEADERS_SENT('render');
    this.chunkedEncoding = false;
  }
  if (this.statusMessage !== STATUS_CODES[statusCode] && hasWrongCharacter(this.statusMessage)) throw new codes.ERR_INVALID_CHAR('statusMessage');
  // These have no body.
  if (statusCode === 204 || statusCode === 304 || (statusCode >= 100 && statusCode <= 199)) this._hasBody = false;
  // Who waits for leave to send the body, and gets an answer instead, may or may not send it: the connection cannot go on.
  if (this._expect_continue && !this._sent100) this.shouldKeepAlive = false;
  this._storeHeader(`HTTP/1.1 ${statusCode} ${this.statusMessage}\r\n`, headers);
  return this;
};

// Those given come to those that are set already.
function addGiven(response, given) {
  if (Array.isArray(given)) {
    if (given.length % 2 !== 0) throw new codes.ERR_INVALID_ARG_VALUE('headers', given);
    for (let at = 0; at < given.length; at += 2) response.removeHeader(given[at]);
    for (let at = 0; at < given.length; at += 2) if (given[at]) response.appendHeader(given[at], given[at + 1]);
  } else if (given) {
    for (const name of Object.keys(given)) if (name) response.setHeader(name, given[name]);
  }
  return response[kOutHeaders];
}

// By this name it was known before.
prototype.writeHeader = prototype.writeHead;

module.exports = { ServerResponse, emitClose, onSocketClose };
