// TextEncoder and TextDecoder.
'use strict';

const native = binding('text');
const { charsOf, textOf } = require('internal/buffer_text');
const {
  codes: { ERR_ENCODING_INVALID_ENCODED_DATA, ERR_ENCODING_NOT_SUPPORTED, ERR_INVALID_ARG_TYPE, ERR_INVALID_THIS },
} = require('internal/codes');
const types = require('internal/types');
const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

class TextEncoder {
  #isOne = true;

  get encoding() {
    if (typeof this !== 'object' || this === null || !(#isOne in this)) throw new ERR_INVALID_THIS('TextEncoder');
    return 'utf-8';
  }

  encode(input = '') {
    if (typeof this !== 'object' || this === null || !(#isOne in this)) throw new ERR_INVALID_THIS('TextEncoder');
    return new Uint8Array(native.encode(`${input}`));
  }

  encodeInto(source, destination) {
    if (typeof this !== 'object' || this === null || !(#isOne in this)) throw new ERR_INVALID_THIS('TextEncoder');
    require('internal/validators').validateString(source, 'src');
    if (!ArrayBuffer.isView(destination) || types.internal.typedArrayName(destination) !== 'Uint8Array') {
      throw new ERR_INVALID_ARG_TYPE('dest', 'Uint8Array', destination);
    }
    // No more characters than there are bytes can fit.
    let read = Math.min(source.length, destination.length);
    let bytes;
    for (;;) {
      if (read > 0 && read < source.length && isHigh(source.charCodeAt(read - 1)) && isLow(source.charCodeAt(read))) read--;
      bytes = native.encode(source.slice(0, read));
      const excess = bytes.byteLength - destination.length;
      if (excess <= 0) break;
      // A unit is three bytes at most.
      read -= Math.ceil(excess / 3);
    }
    // By steps of thirds it may have come too far down.
    for (;;) {
      const step = isHigh(source.charCodeAt(read)) && isLow(source.charCodeAt(read + 1)) ? 2 : 1;
      if (read + step > source.length) break;
      const more = native.encode(source.slice(read, read + step));
      if (bytes.byteLength + more.byteLength > destination.length) break;
      bytes = native.encode(source.slice(0, read += step));
    }
    Uint8Array.prototype.set.call(destination, new Uint8Array(bytes));
    return { read, written: bytes.byteLength };
  }

  [inspectCustom](depth, options) {
    if (depth !== null && depth < 0) return this;
    return require('internal/inspect').inspect({ encoding: 'utf-8' }, options);
  }
}

const isHigh = (unit) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit) => unit >= 0xdc00 && unit < 0xe000;

const LABELS = new Map();
for (const [name, labels] of [
  ['utf-8', 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8'],
  ['utf-16le', 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le'],
  ['utf-16be', 'unicodefffe utf-16be'],
  ['windows-1252', 'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 ' +
    'iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252'],
]) {
  for (const label of labels.split(' ')) LABELS.set(label, name);
}

// What windows-1252 has where Latin-1 has control characters.
const FROM_128 = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

// How many bytes at the end begin a character that is not complete so far.
function openTail(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const size = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    if (byte >= 0xf5 || size <= back) return 0;
    // The first two bytes tell whether it can become a character at all.
    const second = bytes[bytes.length - back + 1];
    if (back > 1 && ((byte === 0xe0 && second < 0xa0) || (byte === 0xed && second > 0x9f) ||
        (byte === 0xf0 && second < 0x90) || (byte === 0xf4 && second > 0x8f))) return 0;
    return back;
  }
  return 0;
}

function join(first, second) {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

const EMPTY = new Uint8Array(0);

class TextDecoder {
  #encoding;
  #isFatal;
  #ignoresMark;
  // From one call to the next, as long as a stream goes on.
  #rest = EMPTY;
  #isBegun = false;

  constructor(encoding = 'utf-8', options = {}) {
    const name = LABELS.get(`${encoding}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase());
    if (name === undefined) throw new ERR_ENCODING_NOT_SUPPORTED(`${encoding}`);
    require('internal/validators').validateObject(options ?? {}, 'options', { allowArray: true, allowFunction: true });
    this.#encoding = name;
    this.#isFatal = Boolean(options?.fatal);
    this.#ignoresMark = Boolean(options?.ignoreBOM);
  }

  static #check(value) {
    if (typeof value !== 'object' || value === null || !(#encoding in value)) throw new ERR_INVALID_THIS('TextDecoder');
    return value;
  }

  get encoding() { return TextDecoder.#check(this).#encoding; }
  get fatal() { return TextDecoder.#check(this).#isFatal; }
  get ignoreBOM() { return TextDecoder.#check(this).#ignoresMark; }

  decode(input = EMPTY, options = {}) {
    TextDecoder.#check(this);
    let bytes;
    if (types.isAnyArrayBuffer(input)) bytes = new Uint8Array(input);
    else if (ArrayBuffer.isView(input)) bytes = new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    else throw new ERR_INVALID_ARG_TYPE('input', ['ArrayBuffer', 'ArrayBufferView'], input);
    require('internal/validators').validateObject(options ?? {}, 'options', { allowArray: true, allowFunction: true });
    const goesOn = Boolean(options?.stream);
    bytes = join(this.#rest, bytes);
    this.#rest = EMPTY;
    let text;
    try {
      text = this.#decode(bytes, goesOn);
    } catch (error) {
      this.#isBegun = false;
      throw error;
    }
    if (!this.#isBegun && !this.#ignoresMark && text.charCodeAt(0) === 0xfeff && this.#encoding !== 'windows-1252') text = text.slice(1);
    this.#isBegun = goesOn && (this.#isBegun || text !== '' || bytes.length > this.#rest.length);
    return text;
  }

  #decode(bytes, goesOn) {
    switch (this.#encoding) {
      case 'utf-8': {
        const tail = goesOn ? openTail(bytes) : 0;
        if (tail > 0) {
          this.#rest = bytes.slice(bytes.length - tail);
          bytes = bytes.subarray(0, bytes.length - tail);
        }
        const text = native.decode(bytes, this.#isFatal);
        return text ?? this.#fail();
      }
      case 'windows-1252':
        return charsOf(bytes).replace(/[\x80-\x9f]/g, (char) => FROM_128[char.charCodeAt(0) - 128]);
      default: {
        if (this.#encoding === 'utf-16be') {
          bytes = bytes.slice();
          for (let i = 0; i + 1 < bytes.length; i += 2) [bytes[i], bytes[i + 1]] = [bytes[i + 1], bytes[i]];
        }
        return this.#decode16(bytes, goesOn);
      }
    }
  }

  #decode16(bytes, goesOn) {
    let length = bytes.length - (bytes.length % 2);
    if (goesOn && length > 0 && (bytes[length - 1] & 0xfc) === 0xd8) length -= 2;
    const rest = bytes.slice(length);
    if (goesOn && this.#encoding === 'utf-16be' && rest.length > 1) [rest[0], rest[1]] = [rest[1], rest[0]];
    if (goesOn) this.#rest = rest;
    let text = textOf(bytes.subarray(0, length), 'utf16le');
    if (this.#isFatal && (!text.isWellFormed() || (!goesOn && rest.length > 0))) this.#fail();
    text = text.toWellFormed();
    return !goesOn && rest.length > 0 ? `${text}\ufffd` : text;
  }

  #fail() {
    throw new ERR_ENCODING_INVALID_ENCODED_DATA(this.#encoding, undefined);
  }

  [inspectCustom](depth, options) {
    if (depth !== null && depth < 0) return this;
    const shown = { encoding: this.encoding, fatal: this.fatal, ignoreBOM: this.ignoreBOM };
    return `TextDecoder ${require('internal/inspect').inspect(shown, options)}`;
  }
}

for (const [Class, names] of [[TextEncoder, ['encoding', 'encode', 'encodeInto']], [TextDecoder, ['encoding', 'fatal', 'ignoreBOM', 'decode']]]) {
  for (const name of names) Object.defineProperty(Class.prototype, name, { enumerable: true });
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: Class.name, configurable: true });
}

module.exports = { TextEncoder, TextDecoder };
