// The module `string_decoder`: the package of that name, with Node's checks and with all encodings.
'use strict';

const { StringDecoder: Base } = require('vendor/string_decoder');
const { Buffer } = require('buffer');
const { nameOf } = require('internal/buffer_text');
const { codes: { ERR_INVALID_ARG_TYPE, ERR_UNKNOWN_ENCODING } } = require('internal/codes');

const kWrite = Symbol('write');
const kEnd = Symbol('end');

function StringDecoder(encoding) {
  const name = nameOf(encoding);
  if (name === undefined) throw new ERR_UNKNOWN_ENCODING(encoding);
  Base.call(this, name === 'base64url' ? 'base64' : name);
  // What the package puts into the object goes behind our checks.
  hide(this, kWrite, this.write === StringDecoder.prototype.write ? Base.prototype.write : this.write);
  hide(this, kEnd, this.end === StringDecoder.prototype.end ? Base.prototype.end : this.end);
  delete this.write;
  delete this.end;
  for (const key of Object.keys(this)) hide(this, key, this[key]);
  Object.defineProperty(this, 'encoding', { value: name, enumerable: true, writable: true, configurable: true });
}

function hide(object, key, value) {
  Object.defineProperty(object, key, { value, enumerable: false, writable: true, configurable: true });
}

StringDecoder.prototype = Object.create(Base.prototype, {
  constructor: { value: StringDecoder, writable: true, configurable: true },
});

const forUrls = (decoder, text) => (decoder.encoding === 'base64url'
  ? text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') : text);

StringDecoder.prototype.write = function write(chunk) {
  if (typeof chunk === 'string') return chunk;
  if (!ArrayBuffer.isView(chunk)) throw new ERR_INVALID_ARG_TYPE('buf', ['Buffer', 'TypedArray', 'DataView'], chunk);
  return forUrls(this, this[kWrite](Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)));
};

StringDecoder.prototype.end = function end(chunk) {
  const text = chunk === undefined ? '' : this.write(chunk);
  const rest = forUrls(this, this[kEnd]());
  if (this.lastNeed !== undefined) this.lastNeed = this.lastTotal = 0;
  return text + rest;
};

module.exports = { StringDecoder };
