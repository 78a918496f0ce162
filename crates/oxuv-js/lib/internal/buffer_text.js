// Text as bytes and bytes as text, in the encodings that buffers know.
'use strict';

const native = binding('text');
const call = Function.prototype.call;
const toBase64 = call.bind(Uint8Array.prototype.toBase64);
const toHex = call.bind(Uint8Array.prototype.toHex);
const { fromBase64, fromHex } = Uint8Array;
const bytesFromBase64 = (text) => Reflect.apply(fromBase64, Uint8Array, [text, { lastChunkHandling: 'loose' }]);
const { fromCharCode } = String;

const NAMES = new Map(Object.entries({
  utf8: 'utf8', 'utf-8': 'utf8', ucs2: 'utf16le', 'ucs-2': 'utf16le', utf16le: 'utf16le', 'utf-16le': 'utf16le', latin1: 'latin1',
  binary: 'latin1', ascii: 'ascii', base64: 'base64', base64url: 'base64url', hex: 'hex',
}));

// The one name that an encoding has here; undefined for what is none.
function nameOf(encoding) {
  if (encoding === undefined || encoding === null || encoding === '') return 'utf8';
  return NAMES.get(encoding) ?? NAMES.get(`${encoding}`.toLowerCase());
}

function isEncoding(encoding) {
  return typeof encoding === 'string' && encoding.length !== 0 && nameOf(encoding) !== undefined;
}

function latin1Bytes(text) {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function utf16Bytes(text) {
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  return new Uint8Array(units.buffer);
}

// What is no digit is passed over; an equals sign is the end.
function base64Bytes(text) {
  try {
    return bytesFromBase64(text);
  } catch {
    let digits = text.replace(/=[^]*$/, '').replace(/[^A-Za-z0-9+/_-]/g, '').replaceAll('-', '+').replaceAll('_', '/');
    if (digits.length % 4 === 1) digits = digits.slice(0, -1);
    return bytesFromBase64(digits);
  }
}

// As far as there are pairs of digits.
function hexBytes(text) {
  if (text.length % 2 === 0) {
    try {
      return Reflect.apply(fromHex, Uint8Array, [text]);
    } catch { /* Not all of it is. */ }
  }
  return Reflect.apply(fromHex, Uint8Array, [/^(?:[0-9a-fA-F]{2})*/.exec(text)[0]]);
}

// The bytes of a text as a new Uint8Array. The encoding is one of our names.
function bytesOf(text, encoding) {
  switch (encoding) {
    case 'utf8': return new Uint8Array(native.encode(text));
    case 'utf16le': return utf16Bytes(text);
    case 'latin1':
    case 'ascii': return latin1Bytes(text);
    case 'hex': return hexBytes(text);
    default: return base64Bytes(text);
  }
}

const CHUNK = 4096;

function charsOf(units) {
  if (units.length <= CHUNK) return fromCharCode.apply(undefined, units);
  let text = '';
  for (let i = 0; i < units.length; i += CHUNK) text += fromCharCode.apply(undefined, units.subarray(i, i + CHUNK));
  return text;
}

function utf16Text(bytes) {
  const count = bytes.length >> 1;
  if (bytes.byteOffset % 2 === 0) return charsOf(new Uint16Array(bytes.buffer, bytes.byteOffset, count));
  const units = new Uint16Array(count);
  for (let i = 0; i < count; i++) units[i] = bytes[2 * i] | (bytes[2 * i + 1] << 8);
  return charsOf(units);
}

// The text that bytes stand for. They are a plain Uint8Array.
function textOf(bytes, encoding) {
  if (bytes.length === 0) return '';
  switch (encoding) {
    case 'utf8': return native.decode(bytes, false);
    case 'utf16le': return utf16Text(bytes);
    case 'latin1': return bytes.length < 256 ? charsOf(bytes) : native.decodeLatin1(bytes);
    case 'ascii': return charsOf(bytes.map((byte) => byte & 0x7f));
    case 'hex': return toHex(bytes);
    case 'base64': return toBase64(bytes);
    default: return toBase64(bytes, { alphabet: 'base64url', omitPadding: true });
  }
}

// How many bytes a text would be.
function lengthOf(text, encoding) {
  switch (encoding) {
    case 'utf8': return native.length(text);
    case 'utf16le': return text.length * 2;
    case 'latin1':
    case 'ascii': return text.length;
    case 'hex': return text.length >>> 1;
    default: {
      let { length } = text;
      if (text.charCodeAt(length - 1) === 0x3d) length--;
      if (length > 1 && text.charCodeAt(length - 1) === 0x3d) length--;
      return (length * 3) >>> 2;
    }
  }
}

module.exports = { nameOf, isEncoding, bytesOf, textOf, lengthOf, latin1Bytes, bytesFromBase64, toBase64, charsOf };
