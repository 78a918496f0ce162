// A message that goes out: a response of a server, a request of a client.
'use strict';

const { Stream } = require('stream');
const { codes } = require('internal/codes');
const { kOutHeaders, kNeedDrain, lowerName, hasWrongCharacter, utcDate } = require('internal/http/common');
const { headerMethods, describeHeaders, kUniqueHeaders } = require('internal/http/outgoing_headers');

const { Buffer } = require('buffer');
const HIGH_WATER_MARK = 16 * 1024;

const kBytesWritten = Symbol('kBytesWritten');
const kCorked = Symbol('corked');
const kErrored = Symbol('errored');
const kHighWaterMark = Symbol('kHighWaterMark');
const nothing = () => {};

function OutgoingMessage(options) {
  // What waits for the socket, and how much that is.
  this.outputData = [];
  this.outputSize = 0;
  this.socket = null;
  const size = options?.highWaterMark;
  if (size !== undefined && size !== HIGH_WATER_MARK) this[kHighWaterMark] = size;
}
Object.setPrototypeOf(OutgoingMessage.prototype, Stream.prototype);
Object.setPrototypeOf(OutgoingMessage, Stream);

const { prototype } = OutgoingMessage;

// What most messages have in common: they have it as their own once it changes.
Object.assign(prototype, {
  [kHighWaterMark]: HIGH_WATER_MARK,
  // Whether a body of another length than the header says is an error.
  strictContentLength: false,
  [kBytesWritten]: 0,
  writable: true,
  destroyed: false,
  // Whether the connection ends with this message.
  _last: false,
  chunkedEncoding: false,
  shouldKeepAlive: true,
  maxRequestsOnConnectionReached: false,
  _defaultKeepAlive: true,
  useChunkedEncodingByDefault: true,
  sendDate: false,
  _removedConnection: false,
  _removedContLen: false,
  _removedTE: false,
  _contentLength: null,
  _hasBody: true,
  _trailer: '',
  [kNeedDrain]: false,
  finished: false,
  _headerSent: false,
  [kCorked]: 0,
  _closed: false,
  // The head as text, once it is made.
  _header: null,
  [kOutHeaders]: null,
  _keepAliveTimeout: 0,
  _onPendingData: nothing,
  [kErrored]: null,
  [kUniqueHeaders]: null,
  // What is called first when everything is with the socket: a server's connection.
  _onFinish: null,
});
for (const name of Object.getOwnPropertyNames(headerMethods)) {
  Object.defineProperty(prototype, name, Object.getOwnPropertyDescriptor(headerMethods, name));
}

const getters = {
  errored() { return this[kErrored]; },
  closed() { return this._closed; },
  writableFinished() { return this.finished && this.outputSize === 0 && (!this.socket || this.socket.writableLength === 0); },
  writableObjectMode() { return false; },
  writableLength() { return this.outputSize + (this.socket ? this.socket.writableLength : 0); },
  writableHighWaterMark() { return this.socket ? this.socket.writableHighWaterMark : this[kHighWaterMark]; },
  writableCorked() { return this.socket ? this.socket.writableCorked : this[kCorked]; },
  writableEnded() { return this.finished; },
  writableNeedDrain() { return !this.destroyed && !this.finished && this[kNeedDrain]; },
};
for (const [name, get] of Object.entries(getters)) Object.defineProperty(prototype, name, { __proto__: null, get, configurable: true });
Object.defineProperty(prototype, 'connection', {
  __proto__: null,
  get() { return this.socket; },
  set(value) { this.socket = value; },
  configurable: true,
});

prototype.cork = function cork() {
  if (this.socket) this.socket.cork();
  else this[kCorked]++;
};

prototype.uncork = function uncork() {
  if (this.socket) this.socket.uncork();
  else if (this[kCorked]) this[kCorked]--;
};

prototype.setTimeout = function setTimeout(msecs, callback) {
  if (callback) this.on('timeout', callback);
  if (this.socket) this.socket.setTimeout(msecs);
  else this.once('socket', (socket) => socket.setTimeout(msecs));
  return this;
};

// Also before there is a socket: then it goes as soon as there is one.
prototype.destroy = function destroy(error) {
  if (this.destroyed) return this;
  this.destroyed = true;
  this[kErrored] = error;
  if (this.socket) this.socket.destroy(error);
  else this.once('socket', (socket) => socket.destroy(error));
  return this;
};

// Sends a part, behind the head if that has not been sent.
prototype._send = function _send(data, encoding, callback) {
  if (!this._headerSent) {
    const header = this._header ?? '';
    // One text is one write.
    if (isText(data, encoding)) {
      data = header + data;
    } else {
      this.outputData.unshift({ data: header, encoding: 'latin1', callback: null });
      this.outputSize += header.length;
      this._onPendingData(header.length);
    }
    this._headerSent = true;
  }
  return this._writeRaw(data, encoding, callback);
};

prototype._writeRaw = function _writeRaw(data, encoding, callback) {
  const { socket } = this;
  // What nobody can get is thrown away.
  if (socket && socket.destroyed) return false;
  if (typeof encoding === 'function') {
    callback = encoding;
    encoding = null;
  }
  if (socket && socket._httpMessage === this && socket.writable) {
    if (this.outputData.length) this._flushOutput(socket);
    return socket.write(data, encoding, callback);
  }
  this.outputData.push({ data, encoding, callback });
  this.outputSize += data.length;
  this._onPendingData(data.length);
  return this.outputSize < this[kHighWaterMark];
};

const ONE_OF_CONNECTION = /(?:^|\W)close(?:$|\W)/i;

// Makes the head: the first line and the headers, and those that have to be added to them.
prototype._storeHeader = function _storeHeader(firstLine, headers) {
  const found = describeHeaders(this, firstLine, headers);
  let text = found.text;
  if (this.sendDate && !found.hasDate) text += `Date: ${utcDate()}\r\n`;
  // These have no body, so nothing may come in chunks. Who forced that gets a connection that ends.
  if (this.chunkedEncoding && (this.statusCode === 204 || this.statusCode === 304)) {
    this.chunkedEncoding = false;
    this.shouldKeepAlive = false;
  }
  text += connectionLines(this, found);
  if (!found.hasLength && !found.hasCoding) text += bodyLines(this, found);
  if (this.chunkedEncoding !== true && found.hasTrailer) throw new codes.ERR_HTTP_TRAILER_INVALID();
  this._header = `${text}\r\n`;
  this._headerSent = false;
  // Else it waits for the first part of the body. Who expects an answer first has to ask first.
  if (found.hasExpect) this._send('');
};

function connectionLines(message, found) {
  if (message._removedConnection) {
    message._last = true;
    message.shouldKeepAlive = false;
    return '';
  }
  if (found.hasConnection) {
    if (ONE_OF_CONNECTION.test(found.connection)) message._last = true;
    else message.shouldKeepAlive = true;
    return '';
  }
  if (!message.shouldKeepAlive || !(found.hasLength || message.useChunkedEncodingByDefault || message.agent)) {
    message._last = true;
    return 'Connection: close\r\n';
  }
  if (message.maxRequestsOnConnectionReached) return 'Connection: close\r\n';
  if (!message._keepAliveTimeout || !message._defaultKeepAlive) return 'Connection: keep-alive\r\n';
  const most = ~~message._maxRequestsPerSocket > 0 ? `, max=${message._maxRequestsPerSocket}` : '';
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(message._keepAliveTimeout / 1000)}${most}\r\n`;
}

// How the end of the body is found, if no header says so.
function bodyLines(message, found) {
  if (!message._hasBody) {
    message.chunkedEncoding = false;
  } else if (!message.useChunkedEncodingByDefault) {
    message._last = true;
  } else if (!found.hasTrailer && !message._removedContLen && typeof message._contentLength === 'number') {
    return `Content-Length: ${message._contentLength}\r\n`;
  } else if (!message._removedTE) {
    message.chunkedEncoding = true;
    return 'Transfer-Encoding: chunked\r\n';
  }
  return '';
}

prototype._implicitHeader = function _implicitHeader() {
  throw new codes.ERR_METHOD_NOT_IMPLEMENTED('_implicitHeader()');
};

prototype.flushHeaders = function flushHeaders() {
  if (!this._header) this._implicitHeader();
  this._send('');
};

prototype.pipe = function pipe() {
  this.emit('error', new codes.ERR_STREAM_CANNOT_PIPE());
};

// An error of using the message: told of later, as with other streams.
function tellError(message, error, callback) {
  process.nextTick(() => {
    callback(error);
    if (typeof message.emit === 'function' && !message.destroyed) message.emit('error', error);
  });
}

function checkWrite(message, chunk, callback) {
  if (chunk === null) throw new codes.ERR_STREAM_NULL_VALUES();
  if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
    throw new codes.ERR_INVALID_ARG_TYPE('chunk', ['string', 'Buffer', 'Uint8Array'], chunk);
  }
  if (!message.finished && !message.destroyed) return true;
  const error = message.finished ? new codes.ERR_STREAM_WRITE_AFTER_END() : new codes.ERR_STREAM_DESTROYED('write');
  if (message.destroyed) process.nextTick(callback, error);
  else tellError(message, error, callback);
  return false;
}

const sizeOf = (chunk, encoding) => (typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.byteLength);

const isCounted = (message) => typeof message._contentLength === 'number' && message._hasBody && !message._removedContLen && !message.chunkedEncoding;
const mismatch = (message, count) => new codes.ERR_HTTP_CONTENT_LENGTH_MISMATCH(count, message._contentLength);

function countBody(message, chunk, encoding) {
  const count = message[kBytesWritten] + sizeOf(chunk, encoding);
  if (isCounted(message) && count > message._contentLength) throw mismatch(message, count);
  message[kBytesWritten] = count;
}

// The parts of a turn go together.
function corkForTick(socket) {
  if (socket.writableCorked) return;
  socket.cork();
  process.nextTick(uncork, socket);
}

function uncork(socket) {
  socket.uncork();
}

prototype.write = function write(chunk, encoding, callback) {
  if (typeof encoding === 'function') {
    callback = encoding;
    encoding = null;
  }
  if (typeof callback !== 'function') callback = nothing;
  if (!checkWrite(this, chunk, callback)) return false;
  if (!this._header) this._implicitHeader();
  if (!this._hasBody) {
    process.nextTick(callback);
    return true;
  }
  if (this.strictContentLength) countBody(this, chunk, encoding);
  if (this.socket) corkForTick(this.socket);
  const isReady = this.chunkedEncoding && chunk.length !== 0 ? sendChunk(this, chunk, encoding, callback)
    : this._send(chunk, encoding, callback);
  if (!isReady) this[kNeedDrain] = true;
  return isReady;
};

const isText = (chunk, encoding) => typeof chunk === 'string' && (!encoding || encoding === 'utf8' || encoding === 'latin1');
const chunkText = (chunk, encoding) => `${sizeOf(chunk, encoding).toString(16)}\r\n${chunk}\r\n`;

function sendChunk(message, chunk, encoding, callback) {
  if (isText(chunk, encoding)) return message._send(chunkText(chunk, encoding), encoding, callback);
  message._send(`${sizeOf(chunk, encoding).toString(16)}\r\n`, 'latin1', null);
  message._send(chunk, encoding, null);
  return message._send('\r\n', 'latin1', callback);
}

prototype.addTrailers = function addTrailers(headers) {
  this._trailer = '';
  const add = (name, value) => {
    const isOne = !Array.isArray(value) || this[kUniqueHeaders]?.has(lowerName(name, 'Trailer name'));
    for (const each of isOne ? [[].concat(value).join('; ')] : value) {
      lowerName(name, 'Trailer name');
      if (hasWrongCharacter(each)) throw new codes.ERR_INVALID_CHAR('trailer content', name);
      this._trailer += `${name}: ${each}\r\n`;
    }
  };
  if (Array.isArray(headers)) for (const [name, value] of headers) add(name, value);
  else for (const name of Object.keys(headers)) add(name, headers[name]);
};

function onFinish(message) {
  if (message.socket?._hadError) return;
  message._onFinish?.(message);
  message.emit('finish');
}

prototype.end = function end(chunk, encoding, callback) {
  if (typeof chunk === 'function') {
    callback = chunk;
    chunk = encoding = null;
  } else if (typeof encoding === 'function') {
    callback = encoding;
    encoding = null;
  }
  if (this.finished) {
    endAgain(this, chunk, callback);
    return this;
  }
  if (chunk && !checkWrite(this, chunk, nothing)) chunk = null;
  if (!this._header) {
    this._contentLength = chunk ? sizeOf(chunk, encoding) : 0;
    this._implicitHeader();
  }
  if (this.strictContentLength) {
    if (chunk) countBody(this, chunk, encoding);
    if (isCounted(this) && this[kBytesWritten] !== this._contentLength) throw mismatch(this, this[kBytesWritten]);
  }
  if (typeof callback === 'function') this.once('finish', callback);
  sendEnd(this, chunk, encoding);
  this[kCorked] = 0;
  this.finished = true;
  // Nothing waits for other messages: all is the socket's now.
  if (this.outputData.length === 0 && this.socket && this.socket._httpMessage === this) this._finish();
  return this;
};

function endAgain(message, chunk, callback) {
  if (chunk) {
    tellError(message, new codes.ERR_STREAM_WRITE_AFTER_END(), typeof callback === 'function' ? callback : nothing);
  } else if (typeof callback === 'function') {
    if (message.writableFinished) callback(new codes.ERR_STREAM_ALREADY_FINISHED('end'));
    else message.on('finish', callback);
  }
}

// The last part of the body, and what ends it, in one write where that can be.
function sendEnd(message, chunk, encoding) {
  const { socket } = message;
  const finish = () => onFinish(message);
  const hasBody = message._hasBody;
  const isChunked = hasBody && message.chunkedEncoding;
  if (chunk && hasBody && isText(chunk, encoding) && socket?._handle) {
    // As one text, which is one write.
    message._send(isChunked ? `${chunkText(chunk, encoding)}0\r\n${message._trailer}\r\n` : chunk, encoding, finish);
  } else {
    if (socket) socket.cork();
    if (chunk && hasBody) {
      if (isChunked && chunk.length !== 0) sendChunk(message, chunk, encoding, null);
      else message._send(chunk, encoding, null);
    }
    if (isChunked) message._send(`0\r\n${message._trailer}\r\n`, 'latin1', finish);
    else if (!message._headerSent || message.writableLength || chunk) message._send('', 'latin1', finish);
    else process.nextTick(finish);
  }
  const state = socket?._writableState;
  if (state && state.corked > 0) {
    state.corked = 1;
    socket.uncork();
  }
}

prototype._finish = function _finish() {
  this.emit('prefinish');
};

// The socket is there, or ready for more: what waits goes to it.
prototype._flush = function _flush() {
  const { socket } = this;
  if (!socket || !socket.writable) return;
  const isReady = this._flushOutput(socket);
  if (this.finished) {
    this._finish();
  } else if (isReady && this[kNeedDrain]) {
    this[kNeedDrain] = false;
    this.emit('drain');
  }
};

prototype._flushOutput = function _flushOutput(socket) {
  for (; this[kCorked] > 0; this[kCorked]--) socket.cork();
  const { outputData } = this;
  if (outputData.length === 0) return undefined;
  socket.cork();
  let isReady;
  for (const { data, encoding, callback } of outputData) isReady = socket.write(data, encoding, callback);
  socket.uncork();
  this.outputData = [];
  this._onPendingData(-this.outputSize);
  this.outputSize = 0;
  return isReady;
};

prototype[Symbol.for('nodejs.rejection')] = function rejected(error) {
  this.destroy(error);
};

module.exports = { OutgoingMessage, kErrored };
