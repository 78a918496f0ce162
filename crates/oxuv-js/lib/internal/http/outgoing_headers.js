// The headers of a message that goes out.
'use strict';

const { codes } = require('internal/codes');
const { deprecate } = require('internal/util_functions');
const { kOutHeaders, lowerName, validateHeaderName, validateHeaderValue, CHUNKED } = require('internal/http/common');

const kUniqueHeaders = Symbol('kUniqueHeaders');

// What headers say, while their text is made.
class Found {
  constructor(text) {
    this.text = text;
    this.hasConnection = this.hasLength = this.hasCoding = this.hasDate = this.hasExpect = this.hasTrailer = false;
    this.connection = '';
  }
}

// Headers that say something about the message; most do not.
const TELLING = new Set(['connection', 'transfer-encoding', 'content-length', 'date', 'expect', 'trailer', 'keep-alive']);

function note(message, found, lower, value) {
  switch (lower) {
    case 'connection':
      found.hasConnection = true;
      message._removedConnection = false;
      found.connection += `${value},`;
      break;
    case 'transfer-encoding':
      found.hasCoding = true;
      message._removedTE = false;
      if (CHUNKED.test(value)) message.chunkedEncoding = true;
      break;
    case 'content-length':
      found.hasLength = true;
      message._contentLength = +value;
      message._removedContLen = false;
      break;
    case 'date': found.hasDate = true; break;
    case 'expect': found.hasExpect = true; break;
    case 'trailer': found.hasTrailer = true; break;
    case 'keep-alive': message._defaultKeepAlive = false; break;
    default:
  }
}

function addLine(message, found, name, lower, value, isNew) {
  if (isNew) validateHeaderValue(name, value);
  found.text += `${name}: ${value}\r\n`;
  if (TELLING.has(lower)) note(message, found, lower, value);
}

// Several values are several lines, but for cookies and for those that are to be unique.
function addHeader(message, found, name, value, isNew) {
  const lower = isNew ? lowerName(name) : name.toLowerCase();
  if (!Array.isArray(value)) {
    addLine(message, found, name, lower, value, isNew);
  } else if ((value.length < 2 || lower !== 'cookie') && !message[kUniqueHeaders]?.has(lower)) {
    for (const each of value) addLine(message, found, name, lower, each, isNew);
  } else {
    addLine(message, found, name, lower, value.join('; '), isNew);
  }
}

// The first line and the headers as text, and what they say.
function describeHeaders(message, firstLine, headers) {
  const found = new Found(firstLine);
  if (!headers) return found;
  if (headers === message[kOutHeaders]) {
    for (const lower in headers) addHeader(message, found, headers[lower][0], headers[lower][1], false);
  } else if (!Array.isArray(headers)) {
    for (const name in headers) if (Object.hasOwn(headers, name)) addHeader(message, found, name, headers[name], true);
  } else if (headers.length > 0 && Array.isArray(headers[0])) {
    for (const [name, value] of headers) addHeader(message, found, name, value, true);
  } else {
    if (headers.length % 2 !== 0) throw new codes.ERR_INVALID_ARG_VALUE('headers', headers);
    for (let at = 0; at < headers.length; at += 2) addHeader(message, found, headers[at], headers[at + 1], true);
  }
  return found;
}

// The set of names of headers that are to be unique, from the option.
function parseUniqueHeaders(names) {
  if (!Array.isArray(names)) return null;
  const unique = new Set();
  for (const name of names) {
    validateHeaderName(name);
    unique.add(name.toLowerCase());
  }
  return unique;
}

const checkName = (name) => require('internal/validators').validateString(name, 'name');

const headerMethods = {
  setHeader(name, value) {
    if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT('set');
    const lower = lowerName(name);
    validateHeaderValue(name, value);
    (this[kOutHeaders] ??= { __proto__: null })[lower] = [name, value];
    return this;
  },

  setHeaders(headers) {
    if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT('set');
    if (!headers || Array.isArray(headers) || typeof headers.keys !== 'function' || typeof headers.get !== 'function') {
      throw new codes.ERR_INVALID_ARG_TYPE('headers', ['Headers', 'Map'], headers);
    }
    for (const name of headers.keys()) this.setHeader(name, headers.get(name));
    return this;
  },

  appendHeader(name, value) {
    if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT('append');
    const lower = lowerName(name);
    validateHeaderValue(name, value);
    const headers = this[kOutHeaders] ??= { __proto__: null };
    const before = headers[lower];
    if (before === undefined) headers[lower] = [name, value];
    else before[1] = [].concat(before[1], value);
    return this;
  },

  getHeader(name) {
    checkName(name);
    return this[kOutHeaders]?.[name.toLowerCase()]?.[1];
  },

  getHeaderNames() {
    return this[kOutHeaders] === null ? [] : Object.keys(this[kOutHeaders]);
  },

  getRawHeaderNames() {
    return this[kOutHeaders] === null ? [] : Object.values(this[kOutHeaders]).map(([name]) => name);
  },

  getHeaders() {
    const headers = { __proto__: null };
    for (const lower in this[kOutHeaders]) headers[lower] = this[kOutHeaders][lower][1];
    return headers;
  },

  hasHeader(name) {
    checkName(name);
    return this[kOutHeaders] !== null && this[kOutHeaders][name.toLowerCase()] !== undefined;
  },

  removeHeader(name) {
    checkName(name);
    if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT('remove');
    const lower = name.toLowerCase();
    // What is taken away is not added by itself either.
    if (lower === 'connection') this._removedConnection = true;
    else if (lower === 'content-length') this._removedContLen = true;
    else if (lower === 'transfer-encoding') this._removedTE = true;
    else if (lower === 'date') this.sendDate = false;
    if (this[kOutHeaders] !== null) delete this[kOutHeaders][lower];
  },

  _renderHeaders() {
    if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT('render');
    const headers = {};
    for (const lower in this[kOutHeaders]) headers[this[kOutHeaders][lower][0]] = this[kOutHeaders][lower][1];
    return headers;
  },
};

Object.defineProperty(headerMethods, 'headersSent', {
  __proto__: null, get() { return !!this._header; }, configurable: true, enumerable: true,
});

const OLD_HEADERS = 'OutgoingMessage.prototype._headers is deprecated';
const OLD_NAMES = 'OutgoingMessage.prototype._headerNames is deprecated';
Object.defineProperty(headerMethods, '_headers', {
  __proto__: null,
  get: deprecate(function() { return this.getHeaders(); }, OLD_HEADERS, 'DEP0066'),
  set: deprecate(function(value) {
    if (value === null || typeof value !== 'object') {
      if (value === null) this[kOutHeaders] = null;
      return;
    }
    const headers = this[kOutHeaders] = { __proto__: null };
    for (const name of Object.keys(value)) headers[name.toLowerCase()] = [name, value[name]];
  }, OLD_HEADERS, 'DEP0066'),
  configurable: true,
});
Object.defineProperty(headerMethods, '_headerNames', {
  __proto__: null,
  get: deprecate(function() {
    if (this[kOutHeaders] === null) return null;
    const names = { __proto__: null };
    for (const lower in this[kOutHeaders]) names[lower] = this[kOutHeaders][lower][0];
    return names;
  }, OLD_NAMES, 'DEP0066'),
  set: deprecate(function(value) {
    if (typeof value !== 'object' || value === null || this[kOutHeaders] === null) return;
    for (const lower of Object.keys(value)) if (this[kOutHeaders][lower]) this[kOutHeaders][lower][0] = value[lower];
  }, OLD_NAMES, 'DEP0066'),
  configurable: true,
});

module.exports = { headerMethods, describeHeaders, parseUniqueHeaders, kUniqueHeaders };
