// A message that comes in: a request for a server, a response for a client.
'use strict';

const { Readable, finished } = require('stream');
const { addHeader, addDistinctHeader, readStart, readStop } = require('internal/http/common');

const kHeaders = Symbol('kHeaders');
const kHeadersDistinct = Symbol('kHeadersDistinct');
const kTrailers = Symbol('kTrailers');
const kTrailersDistinct = Symbol('kTrailersDistinct');

function IncomingMessage(socket) {
  Readable.call(this, socket ? { highWaterMark: socket.readableHighWaterMark } : undefined);
  // Nothing is read ahead before somebody reads.
  this._readableState.readingMore = true;
  this.socket = socket;
  this.httpVersionMajor = null;
  this.httpVersionMinor = null;
  this.httpVersion = null;
  this.complete = false;
  this[kHeaders] = this[kHeadersDistinct] = null;
  this.rawHeaders = [];
  this[kTrailers] = this[kTrailersDistinct] = null;
  this.rawTrailers = [];
  this.aborted = false;
  this.upgrade = null;
  // Of requests.
  this.url = '';
  this.method = null;
  // Of responses.
  this.statusCode = null;
  this.statusMessage = null;
  this.client = socket;
  this._consuming = false;
  // Set when what comes is of no interest any more.
  this._dumped = false;
}
Object.setPrototypeOf(IncomingMessage.prototype, Readable.prototype);
Object.setPrototypeOf(IncomingMessage, Readable);

const { prototype } = IncomingMessage;

function headersOf(lines, headers = {}, add = addHeader) {
  for (let at = 0; at < lines.length; at += 2) add(headers, lines[at], lines[at + 1]);
  return headers;
}

const distinctOf = (lines) => headersOf(lines, { __proto__: null }, addDistinctHeader);

// A property that is made of lines when somebody asks: many do not.
function made(key, lines, make) {
  return {
    __proto__: null,
    get() { return (this[key] ??= make(this[lines])); },
    set(value) { this[key] = value; },
    configurable: true,
    enumerable: true,
  };
}

Object.defineProperties(prototype, {
  headers: made(kHeaders, 'rawHeaders', headersOf),
  headersDistinct: made(kHeadersDistinct, 'rawHeaders', distinctOf),
  trailers: made(kTrailers, 'rawTrailers', headersOf),
  trailersDistinct: made(kTrailersDistinct, 'rawTrailers', distinctOf),
  connection: {
    __proto__: null,
    get() { return this.socket; },
    set(value) { this.socket = value; },
    configurable: true,
  },
});

prototype.setTimeout = function setTimeout(msecs, callback) {
  if (callback) this.on('timeout', callback);
  this.socket.setTimeout(msecs);
  return this;
};

prototype._read = function _read() {
  if (!this._consuming) {
    this._readableState.readingMore = false;
    this._consuming = true;
  }
  if (this.socket?.readable) readStart(this.socket);
};

prototype._destroy = function _destroy(error, callback) {
  if (!this.readableEnded || !this.complete) {
    this.aborted = true;
    this.emit('aborted');
  }
  // What is left of the message has no reader, so nothing that follows it in the connection can be reached.
  if (!this.aborted || !this.socket || this.socket.destroyed) {
    process.nextTick(tellError, this, error, callback);
    return;
  }
  this.socket.destroy(error);
  const forget = finished(this.socket, (found) => {
    if (found?.code === 'ERR_STREAM_PREMATURE_CLOSE') found = null;
    forget();
    process.nextTick(tellError, this, found || error, callback);
  });
};

// As it always was, an error is told of only to somebody who listens.
function tellError(message, error, callback) {
  if (message.listenerCount('error') === 0) callback();
  else callback(error);
}

prototype._addHeaderLines = function _addHeaderLines(lines) {
  if (this.complete) {
    this._addTrailerLines(lines);
    return;
  }
  this.rawHeaders = lines;
  this[kHeaders] = null;
};

prototype._addTrailerLines = function _addTrailerLines(lines) {
  this.rawTrailers = lines;
  this[kTrailers] = null;
};

prototype._addHeaderLine = function _addHeaderLine(name, value, headers) {
  addHeader(headers, name, value);
};

prototype._dump = function _dump() {
  if (this._dumped) return;
  this._dumped = true;
  // What is buffered would be told of, too.
  this.removeAllListeners('data');
  this.resume();
};

module.exports = { IncomingMessage, readStart, readStop };
