// A message that comes in: a request for a server, a response for a client.
'use strict';

const { Readable, finished } = require('stream');
const { addHeader, addDistinctHeader, readStart, readStop } = require('internal/http/common');

const kHeaders = Symbol('kHeaders');
const kIsStream = Symbol('kIsStream');
const kHeadersDistinct = Symbol('kHeadersDistinct');
const kTrailers = Symbol('kTrailers');
const kTrailersDistinct = Symbol('kTrailersDistinct');

// Most requests have no body, and nobody reads them: what a stream needs is made when somebody does. Of what follows, a message
// has as its own only what is not the same in all of them.
function IncomingMessage(socket) {
  this.socket = socket;
  this.client = socket;
  this.rawHeaders = [];
  this.rawTrailers = [];
}
Object.setPrototypeOf(IncomingMessage.prototype, Readable.prototype);
Object.setPrototypeOf(IncomingMessage, Readable);

const { prototype } = IncomingMessage;

Object.assign(prototype, {
  httpVersionMajor: null,
  httpVersionMinor: null,
  httpVersion: null,
  complete: false,
  aborted: false,
  upgrade: null,
  // Of requests.
  url: '',
  method: null,
  // Of responses.
  statusCode: null,
  statusMessage: null,
  _consuming: false,
  // Set when what comes is of no interest any more.
  _dumped: false,
  [kHeaders]: null,
  [kHeadersDistinct]: null,
  [kTrailers]: null,
  [kTrailersDistinct]: null,
  [kIsStream]: false,
});

function makeStream(message) {
  message[kIsStream] = true;
  const value = new Readable.ReadableState(message.socket ? { highWaterMark: message.socket.readableHighWaterMark } : undefined, message, false);
  Object.defineProperty(message, '_readableState', { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  // Nothing is read ahead before somebody reads.
  value.readingMore = true;
  if (message._dumped) value.ended = value.endEmitted = value.destroyed = value.closed = value.closeEmitted = true;
  else if (message.complete) message.push(null);
  return value;
}

Object.defineProperty(prototype, '_readableState', {
  __proto__: null,
  // A prototype has no stream.
  get() { return Object.hasOwn(this, 'rawHeaders') ? makeStream(this) : undefined; },
  set(value) { Object.defineProperty(this, '_readableState', { __proto__: null, value, writable: true, enumerable: true, configurable: true }); },
  configurable: true,
});

// All of it is there.
prototype._complete = function _complete() {
  this.complete = true;
  if (this[kIsStream]) this.push(null);
};

function headersOf(lines, headers = {}, add = addHeader) {
  for (let at = 0; at < lines.length; at += 2) add(headers, lines[at], lines[at + 1]);
  return headers;
}

const distinctOf = (lines) => headersOf(lines, {}, addDistinctHeader);

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
  if (this.complete && !this[kIsStream]) return;
  // What is buffered would be told of, too.
  this.removeAllListeners('data');
  this.resume();
};

module.exports = { IncomingMessage, readStart, readStop };
