// What both sides of HTTP share: the rules for names and values of headers, and small things.
'use strict';

const { codes } = require('internal/codes');

// Where the headers are that a message is to be sent with: by their names in lower case, each a pair of name and value.
const kOutHeaders = Symbol('kOutHeaders');
const kNeedDrain = Symbol('kNeedDrain');

const TOKEN = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/;
const WRONG_CHARACTER = /[^\t\x20-\x7e\x80-\xff]/;

const isToken = (text) => TOKEN.test(text);
const hasWrongCharacter = (text) => WRONG_CHARACTER.test(text);

// Programs use few names, and each of them often: those that are valid, in lower case.
const MOST_NAMES = 1000;
const lowerNames = new Map();

// The name in lower case. It is checked.
function lowerName(name, label) {
  const known = lowerNames.get(name);
  if (known !== undefined) return known;
  if (typeof name !== 'string' || !isToken(name)) throw new codes.ERR_INVALID_HTTP_TOKEN(label || 'Header name', name);
  const lower = name.toLowerCase();
  if (lowerNames.size < MOST_NAMES) lowerNames.set(name, lower);
  return lower;
}

function validateHeaderName(name, label) {
  lowerName(name, label);
}

function validateHeaderValue(name, value) {
  if (value === undefined) throw new codes.ERR_HTTP_INVALID_HEADER_VALUE(value, name);
  if (hasWrongCharacter(value)) throw new codes.ERR_INVALID_CHAR('header content', name);
}

// Headers of which the first one counts, if there are several. Of others the values are joined.
const ONCE = new Set(['age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host',
  'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'referer',
  'retry-after', 'server', 'user-agent']);
const JOIN = 0, FIRST = 1, LIST = 2, COOKIE = 3;
const kinds = new Map();

function kindOf(lower) {
  if (ONCE.has(lower)) return FIRST;
  return lower === 'set-cookie' ? LIST : lower === 'cookie' ? COOKIE : JOIN;
}

// Adds a header that has come to those that there are already.
function addHeader(headers, name, value) {
  let field = kinds.get(name);
  if (field === undefined) {
    const lower = name.toLowerCase();
    field = { lower, kind: kindOf(lower) };
    if (kinds.size < MOST_NAMES) kinds.set(name, field);
  }
  const { lower, kind } = field;
  const before = headers[lower];
  if (kind === LIST) {
    if (before === undefined) headers[lower] = [value];
    else before.push(value);
  } else if (typeof before !== 'string') {
    headers[lower] = value;
  } else if (kind === JOIN) {
    headers[lower] = `${before}, ${value}`;
  } else if (kind === COOKIE) {
    headers[lower] = `${before}; ${value}`;
  }
}

// The same, with a list of values for each name.
function addDistinctHeader(headers, name, value) {
  const lower = name.toLowerCase();
  if (Object.hasOwn(headers, lower)) headers[lower].push(value);
  // Of a name such as __proto__ an assignment would make something else.
  else Object.defineProperty(headers, lower, { __proto__: null, value: [value], writable: true, enumerable: true, configurable: true });
}

// The date for a header. It is made anew when the second is over.
let dateText;
function utcDate() {
  if (dateText === undefined) {
    const now = new Date();
    dateText = now.toUTCString();
    setTimeout(forgetDate, 1000 - now.getMilliseconds()).unref();
  }
  return dateText;
}

function forgetDate() {
  dateText = undefined;
}

function connectionReset(message) {
  const error = new Error(message);
  error.code = 'ECONNRESET';
  return error;
}

// Reading goes on, unless the connection is held up for another reason.
function readStart(socket) {
  if (socket && !socket._paused && socket.readable) socket.resume();
}

function readStop(socket) {
  if (socket) socket.pause();
}

module.exports = {
  kOutHeaders, kNeedDrain, isToken, hasWrongCharacter, lowerName, validateHeaderName, validateHeaderValue, addHeader, addDistinctHeader, utcDate,
  connectionReset, readStart, readStop,
  CHUNKED: /(?:^|\W)chunked(?:$|\W)/i,
  CONTINUE: /(?:^|\W)100-continue(?:$|\W)/i,
};
