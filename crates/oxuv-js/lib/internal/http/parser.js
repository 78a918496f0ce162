// The parser of a connection, in the shape that Node's has: what it finds it calls properties of it with.
'use strict';

const { IncomingMessage } = require('internal/http/incoming');
const { readStart, readStop } = require('internal/http/common');
const { drain } = require('ticks');
const { Buffer } = require('buffer');
const native = binding('http');
const now = performance.now;

const { methods } = native;
const REQUEST = 1, RESPONSE = 2;
// The properties that are called.
const kOnMessageBegin = 0, kOnHeaders = 1, kOnHeadersComplete = 2, kOnBody = 3, kOnMessageComplete = 4, kOnExecute = 5, kOnTimeout = 6;
// What the command line has to say.
const flags = binding('process').flags();
const HEADER_SIZE_FLAG = '--max-http-header-size=';
const MAX_HEADER_SIZE = +flags.findLast((flag) => flag.startsWith(HEADER_SIZE_FLAG))?.slice(HEADER_SIZE_FLAG.length) || 16 * 1024;
const MAX_HEADER_PAIRS = 2000;
// What the native parser calls the things that it tells of.
const STATE = 0, HEAD = 1, BODY = 2, END = 3;
const BETWEEN = 0;
const UPGRADES = 2, EXPECTS = 4;
const NOTHING = Buffer.alloc(0);

class HTTPParser {
  constructor() {
    this._native = null;
    this._kind = 0;
    // How many bytes that come next belong to the body: they are not given to the native parser, but counted here.
    this._left = 0;
    this._passed = 0;
    this._state = BETWEEN;
    this._chunk = null;
    this._connections = undefined;
    // When the message began that comes in now, or the connection before its first; 0 between messages.
    this.begun = 0;
    this._hasBegun = false;
    this.hasHead = false;
    // Whether it was found to be too slow.
    this.isExpired = false;
    this.hasExpect = false;
    this.socket = null;
    this.incoming = null;
    this.outgoing = null;
    this.onIncoming = null;
    this.maxHeaderPairs = MAX_HEADER_PAIRS;
    // While it calls out it cannot be another connection's.
    this._isBusy = false;
    // Whether the loop has called it, and nobody else.
    this._isOutermost = false;
    // The handle that it reads from.
    this._consumed = null;
    this[kOnMessageBegin] = null;
    this[kOnHeaders] = null;
    this[kOnHeadersComplete] = null;
    this[kOnBody] = null;
    this[kOnMessageComplete] = null;
    this[kOnExecute] = null;
    this[kOnTimeout] = null;
  }

  initialize(kind, resource, maxHeaderSize = 0, lenient = 0, connections = undefined) {
    this._kind = kind;
    this._native = native.parser(kind === REQUEST, maxHeaderSize || MAX_HEADER_SIZE, lenient !== 0 && lenient !== false);
    this._left = this._passed = 0;
    this._state = BETWEEN;
    this.begun = 0;
    this._hasBegun = this._isBusy = this.hasHead = this.isExpired = false;
    this._connections = connections;
    if (connections !== undefined) {
      this.begun = now();
      connections.add(this);
    }
  }

  // What the response that comes is for.
  ask(method) {
    if (method === 'HEAD') this._native.ask(1);
    else if (method === 'CONNECT') this._native.ask(2);
  }

  // Reads bytes; how many of them were HTTP, or the error.
  execute(chunk, offset = 0, length = chunk.length - offset) {
    if (!this._native) throw new TypeError('Illegal invocation');
    if (offset !== 0 || length !== chunk.length) chunk = chunk.subarray(offset, offset + length);
    this._chunk = chunk;
    this._isBusy = true;
    try {
      return this._execute(chunk);
    } finally {
      this._isBusy = false;
    }
  }

  _execute(chunk) {
    let at = 0;
    if (this._left > 0) {
      at = Math.min(this._left, chunk.length);
      this._left -= at;
      this._passed += at;
      this[kOnBody]?.(at === chunk.length ? chunk : chunk.subarray(0, at));
      if (at === chunk.length && this._left > 0) return at;
    }
    return this._parse(chunk, at);
  }

  _parse(chunk, at) {
    const parser = this._native;
    for (;;) {
      const passed = this._passed;
      this._passed = 0;
      const rest = at === 0 ? chunk : at === chunk.length ? NOTHING : chunk.subarray(at);
      const result = this._dispatch(parser, parser.execute(rest, passed), rest, at);
      if (typeof result !== 'number') return result;
      at = result;
      if (!this._isDecided) return at;
    }
  }

  // Calls what has to hear of these events; how many bytes were read, or the error.
  _dispatch(parser, events, chunk, base) {
    this._isDecided = false;
    for (let at = 0; ;) {
      switch (events[at]) {
        case HEAD: {
          const traits = events[at + 5];
          this._tellHead(parser, events, at, traits);
          at += 6;
          break;
        }
        case BODY:
          this[kOnBody]?.(partOf(chunk, events[at + 1], events[at + 2]));
          at += 3;
          // A script has to have the part before it hears of the end.
          if (this._isOutermost && events[at] !== STATE) drain();
          break;
        case END:
          this.begun = 0;
          this._hasBegun = this.hasHead = false;
          if (events[at + 1] !== undefined) this[kOnHeaders]?.(events[at + 1], '');
          this[kOnMessageComplete]?.();
          at += 2;
          break;
        case STATE:
          this._state = events[at + 1];
          if (this._state !== BETWEEN && !this._hasBegun && this._connections !== undefined) {
            this._hasBegun = true;
            this.begun = now();
          }
          this._left = events[at + 3];
          return base + events[at + 2];
        default:
          return parseError(events[at + 1], events[at + 2], base + events[at + 3]);
      }
    }
  }

  _tellHead(parser, events, at, traits) {
    const minor = events[at + 1];
    const number = events[at + 2];
    const text = events[at + 3];
    const fields = events[at + 4];
    this.hasHead = true;
    this.hasExpect = (traits & EXPECTS) !== 0;
    const isRequest = this._kind === REQUEST;
    const upgrades = (traits & UPGRADES) !== 0;
    const hook = this[kOnHeadersComplete];
    const answer = hook === null ? 0 : isRequest ? hook.call(this, 1, minor, fields, number, text, undefined, undefined, upgrades, (traits & 1) !== 0)
      : hook.call(this, 1, minor, fields, undefined, undefined, number, text, upgrades, (traits & 1) !== 0);
    if (upgrades && isRequest) {
      parser.decide(answer === 2);
      this._isDecided = answer !== 2;
    }
  }

  // The end of the bytes. An error if a message is not complete.
  finish() {
    if (!this._native) return undefined;
    this._native.execute(NOTHING, this._passed);
    this._passed = 0;
    this._left = 0;
    const result = this._dispatch(this._native, this._native.finish(), NOTHING, 0);
    if (typeof result === 'number') return undefined;
    // It is no byte that is wrong.
    result.message = 'Parse Error';
    result.bytesParsed = 0;
    return result;
  }

  getCurrentBuffer() {
    return this._chunk;
  }

  close() {
    this.remove();
    this._native = null;
  }

  free() {
    this.remove();
  }

  remove() {
    this._connections?.delete(this);
    this.begun = 0;
  }

  // The socket is what stops and goes on.
  pause() {}

  resume() {}

  // Bytes go from the handle to the parser, without a detour through the socket's buffer.
  consume(handle) {
    this._consumed = handle;
    const parser = this._native;
    const onRead = (events, chunk) => this._onConsumed(handle, parser, events, chunk);
    handle.readStart = () => parser.readFrom(handle, onRead);
    if (handle.reading) handle.readStart();
  }

  unconsume() {
    const handle = this._consumed;
    if (!handle) return;
    this._consumed = null;
    delete handle.readStart;
    if (handle.reading && !this.socket?.destroyed) handle.readStart();
  }

  _onConsumed(handle, parser, events, chunk) {
    if (typeof events === 'number') {
      handle.onread(events);
      return;
    }
    this._chunk = chunk === undefined ? NOTHING : asBuffer(chunk);
    this._isBusy = this._isOutermost = true;
    let read;
    try {
      read = this._dispatch(parser, events, NOTHING, 0);
      this._isOutermost = false;
      if (this._isDecided && chunk !== undefined) read = this._parse(this._chunk, read);
    } finally {
      // What is called may throw.
      this._isBusy = this._isOutermost = false;
    }
    this[kOnExecute]?.(read);
  }

  duration() {
    return this.begun === 0 ? 0 : now() - this.begun;
  }

  headersCompleted() {
    return this.hasHead;
  }
}

Object.assign(HTTPParser, {
  REQUEST, RESPONSE, kOnMessageBegin, kOnHeaders, kOnHeadersComplete, kOnBody, kOnMessageComplete, kOnExecute, kOnTimeout,
  kLenientNone: 0, kLenientHeaders: 1, kLenientChunkedLength: 2, kLenientKeepAlive: 4, kLenientAll: 7,
});

const asBuffer = (bytes) => Object.setPrototypeOf(new Uint8Array(bytes), Buffer.prototype);

// A part of a body: a buffer of its own, or a piece of what came.
function partOf(chunk, from, to) {
  if (typeof from !== 'number') return asBuffer(from);
  return from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to);
}

function parseError(code, reason, bytesParsed) {
  const error = new Error(`Parse Error: ${reason}`);
  error.bytesParsed = bytesParsed;
  error.code = code;
  error.reason = reason;
  return error;
}

// A head has come: makes the message, and gives it to the side that it is for.
function onHeadersComplete(major, minor, fields, method, url, statusCode, statusMessage, upgrade, keepsAlive) {
  const { socket } = this;
  const Message = socket?.server?._incomingMessage ?? IncomingMessage;
  const incoming = this.incoming = new Message(socket);
  incoming.httpVersionMajor = major;
  incoming.httpVersionMinor = minor;
  incoming.httpVersion = minor === 1 ? '1.1' : `${major}.${minor}`;
  incoming.url = url ?? '';
  incoming.upgrade = upgrade;
  const most = this.maxHeaderPairs;
  if (most > 0 && fields.length > most) fields.length = most;
  incoming._addHeaderLines(fields, fields.length);
  if (method !== undefined) {
    incoming.method = methods[method];
  } else {
    incoming.statusCode = statusCode;
    incoming.statusMessage = statusMessage;
  }
  return this.onIncoming(incoming, keepsAlive);
}

function onBody(chunk) {
  const message = this.incoming;
  if (message === null || message._dumped) return;
  if (!message.push(chunk)) readStop(this.socket);
}

function onTrailers(fields) {
  this.incoming?._addTrailerLines(fields);
}

function onMessageComplete() {
  const message = this.incoming;
  if (message !== null) {
    message._complete();
  }
  // What follows in the connection is read even if this message was not.
  readStart(this.socket);
}

// There is one for each connection of a server and each request of a client. Some are kept for the next.
const parsers = {
  name: 'parsers',
  max: 1000,
  list: [],
  alloc() {
    const parser = this.list.pop() ?? new HTTPParser();
    parser[kOnHeaders] = onTrailers;
    parser[kOnHeadersComplete] = onHeadersComplete;
    parser[kOnBody] = onBody;
    parser[kOnMessageComplete] = onMessageComplete;
    parser.maxHeaderPairs = MAX_HEADER_PAIRS;
    return parser;
  },
  free(parser) {
    if (this.list.length >= this.max || parser._isBusy) return false;
    this.list.push(parser);
    return true;
  },
};

// The connection needs it no more.
function freeParser(parser, request, socket) {
  if (parser) {
    parser.unconsume();
    for (let hook = kOnMessageBegin; hook <= kOnTimeout; hook++) parser[hook] = null;
    parser.socket = null;
    parser.incoming = null;
    parser.outgoing = null;
    parser.onIncoming = null;
    parser.free();
    parsers.free(parser);
  }
  if (request) request.parser = null;
  if (socket) socket.parser = null;
}

// An error of the parser's, for whoever is told of it.
function prepareError(error, parser, chunk) {
  error.rawPacket = chunk || parser.getCurrentBuffer();
}

let hasWarned = false;
function isLenient() {
  const set = flags.includes('--insecure-http-parser');
  if (set && !hasWarned) {
    hasWarned = true;
    process.emitWarning('Using insecure HTTP parsing');
  }
  return set;
}

module.exports = { HTTPParser, parsers, freeParser, prepareError, isLenient, methods, MAX_HEADER_SIZE, kOnTimeout };
