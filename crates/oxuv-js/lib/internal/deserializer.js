// The way back from what the serializer has written. The bytes may come from anybody: what is none of the format throws.
'use strict';

const { textOf } = require('internal/buffer_text');
const { TAG, VIEWS, FLAGS, ERRORS, ERROR, VIEW_ORDER, BUFFER_PLACE } = require('internal/serializer');

const OLDEST = 13;

const wrong = () => new Error('Unable to deserialize cloned data.');
const viewClass = new Map(VIEWS.map(([letter, Class]) => [letter.charCodeAt(0), Class]));

// Also on what `JSON` or a script would treat as special, like `__proto__`.
const define = (object, key, value) => Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });

class Deserializer {
  #bytes;
  #view;
  #at = 0;
  #known = [];
  #options;
  #version = 0;

  // `buffers` are those that were transferred; `readHost(deserializer)` reads what only the caller knows.
  constructor(bytes, options = {}) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#options = options;
  }

  readHeader() {
    if (this.readByte() !== 0xff) throw wrong();
    this.#version = this.readUint32();
    if (this.#version < OLDEST) throw wrong();
  }

  readByte() {
    if (this.#at >= this.#bytes.length) throw wrong();
    return this.#bytes[this.#at++];
  }

  readUint32() {
    let number = 0;
    let factor = 1;
    for (;;) {
      const byte = this.readByte();
      number += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 128;
    }
    if (number >= 2 ** 32) throw wrong();
    return number;
  }

  readDouble() {
    this.#check(8);
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  #check(count) {
    if (count > this.#bytes.length - this.#at) throw wrong();
  }

  readRawBytes(count) {
    this.#check(count);
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  #tag() {
    let tag;
    do tag = this.readByte(); while (tag === TAG.PADDING);
    return tag;
  }

  #peek() {
    let at = this.#at;
    while (this.#bytes[at] === TAG.PADDING) at++;
    return this.#bytes[at];
  }

  #keep(object) {
    this.#known.push(object);
    return object;
  }

  readValue() {
    const value = this.#valueOf(this.#tag());
    // A view stands behind its buffer.
    if (value instanceof ArrayBuffer && this.#peek() === TAG.VIEW) {
      this.#tag();
      return this.#viewOn(value);
    }
    return value;
  }

  #valueOf(tag) {
    switch (tag) {
      case TAG.UNDEFINED: return undefined;
      case TAG.NULL: return null;
      case TAG.TRUE: return true;
      case TAG.FALSE: return false;
      case TAG.INT: {
        const bits = this.readUint32();
        return (bits >>> 1) ^ -(bits & 1);
      }
      case TAG.UINT: return this.readUint32();
      case TAG.DOUBLE: return this.readDouble();
      case TAG.BIGINT: return this.#bigint();
      case TAG.LATIN1: return textOf(this.readRawBytes(this.readUint32()), 'latin1');
      case TAG.UTF8: return textOf(this.readRawBytes(this.readUint32()), 'utf8');
      case TAG.UTF16: return textOf(this.readRawBytes(this.readUint32()), 'utf16le');
      case TAG.REFERENCE: {
        const number = this.readUint32();
        if (number >= this.#known.length) throw wrong();
        return this.#known[number];
      }
      default: return this.#object(tag);
    }
  }

  #object(tag) {
    switch (tag) {
      case TAG.OBJECT: {
        const object = this.#keep({});
        this.#properties(object, TAG.OBJECT_END);
        return object;
      }
      case TAG.DENSE: return this.#dense();
      case TAG.SPARSE: {
        const array = this.#keep([]);
        array.length = this.readUint32();
        this.#properties(array, TAG.SPARSE_END);
        this.readUint32();
        return array;
      }
      case TAG.DATE: return this.#keep(new Date(this.readDouble()));
      case TAG.TRUE_OBJECT: return this.#keep(Object(true));
      case TAG.FALSE_OBJECT: return this.#keep(Object(false));
      case TAG.NUMBER_OBJECT: return this.#keep(Object(this.readDouble()));
      case TAG.BIGINT_OBJECT: return this.#keep(Object(this.#bigint()));
      case TAG.STRING_OBJECT: return this.#keep(Object(this.#text()));
      case TAG.REGEXP: return this.#regexp();
      case TAG.MAP: return this.#map();
      case TAG.SET: return this.#set();
      case TAG.BUFFER: return this.#buffer(false);
      case TAG.RESIZABLE: return this.#buffer(true);
      case TAG.TRANSFERRED: {
        const buffer = this.#options.buffers?.[this.readUint32()];
        if (buffer === undefined) throw wrong();
        return this.#keep(buffer);
      }
      case TAG.ERROR: return this.#error();
      case TAG.HOST: return this.#host();
      default: throw wrong();
    }
  }

  // Its number is taken before what is in it is read.
  #host() {
    const place = this.#known.push(undefined) - 1;
    const object = this.#options.readHost?.(this);
    if (object === undefined) throw wrong();
    this.#known[place] = object;
    return object;
  }

  #text() {
    const value = this.readValue();
    if (typeof value !== 'string') throw wrong();
    return value;
  }

  #bigint() {
    const bits = this.readUint32();
    const words = (bits >>> 1) / 8;
    if (!Number.isInteger(words)) throw wrong();
    this.#check(words * 8);
    let number = 0n;
    for (let at = words - 1; at >= 0; at--) number = (number << 64n) | this.#view.getBigUint64(this.#at + at * 8, true);
    this.#at += words * 8;
    return bits & 1 ? -number : number;
  }

  // Keys and values up to the end, and their count behind it.
  #properties(object, end) {
    let count = 0;
    while (this.#peek() !== end) {
      const key = this.readValue();
      if (typeof key !== 'string' && typeof key !== 'number') throw wrong();
      define(object, key, this.readValue());
      count++;
    }
    this.#tag();
    if (this.readUint32() !== count) throw wrong();
  }

  #dense() {
    const array = this.#keep([]);
    const length = this.readUint32();
    // Each takes a byte at least.
    this.#check(length);
    for (let at = 0; at < length; at++) {
      if (this.#peek() === TAG.HOLE) {
        this.#tag();
        array.length = at + 1;
      } else {
        array.push(this.readValue());
      }
    }
    this.#properties(array, TAG.DENSE_END);
    this.readUint32();
    return array;
  }

  #regexp() {
    const place = this.#known.push(undefined) - 1;
    const source = this.#text();
    const bits = this.readUint32();
    const flags = [...FLAGS].filter((flag, at) => flag !== '-' && bits & (1 << at)).join('');
    return (this.#known[place] = new RegExp(source, flags));
  }

  #map() {
    const map = this.#keep(new Map());
    let count = 0;
    for (; this.#peek() !== TAG.MAP_END; count += 2) map.set(this.readValue(), this.readValue());
    this.#tag();
    if (this.readUint32() !== count) throw wrong();
    return map;
  }

  #set() {
    const set = this.#keep(new Set());
    let count = 0;
    for (; this.#peek() !== TAG.SET_END; count++) set.add(this.readValue());
    this.#tag();
    if (this.readUint32() !== count) throw wrong();
    return set;
  }

  #buffer(isResizable) {
    const length = this.readUint32();
    const most = isResizable ? this.readUint32() : length;
    if (most < length) throw wrong();
    const bytes = this.readRawBytes(length);
    const buffer = isResizable ? new ArrayBuffer(length, { maxByteLength: most }) : new ArrayBuffer(length);
    new Uint8Array(buffer).set(bytes);
    return this.#keep(buffer);
  }

  #viewOn(buffer) {
    const Class = viewClass.get(this.readByte());
    const [offset, size] = [this.readUint32(), this.readUint32()];
    if (this.#version >= 14) this.readUint32();
    const each = Class?.BYTES_PER_ELEMENT ?? 1;
    if (Class === undefined || offset + size > buffer.byteLength || size % each !== 0 || offset % each !== 0) throw wrong();
    return this.#keep(new Class(buffer, offset, size / each));
  }

  #error() {
    const place = this.#known.push(undefined) - 1;
    let name = 'Error';
    let stack;
    const own = {};
    for (;;) {
      const tag = this.readByte();
      if (tag === ERROR.END) break;
      if (tag === ERROR.MESSAGE) own.message = this.#text();
      else if (tag === ERROR.CAUSE) own.cause = this.readValue();
      else if (tag === ERROR.STACK) stack = this.#text();
      else if (String.fromCharCode(tag) in ERRORS) name = ERRORS[String.fromCharCode(tag)];
      else throw wrong();
    }
    const error = this.#known[place] = new globalThis[name]();
    for (const [key, value] of Object.entries(own)) {
      Object.defineProperty(error, key, { value, writable: true, enumerable: false, configurable: true });
    }
    if (stack !== undefined) error.stack = stack;
    return error;
  }
}

// A view that came alone.
function readForChannel(deserializer) {
  if (deserializer.readUint32() !== 0) return deserializer.readValue();
  const place = deserializer.readUint32();
  const bytes = deserializer.readRawBytes(deserializer.readUint32());
  if (place === BUFFER_PLACE) return Buffer.from(bytes);
  const Class = VIEW_ORDER[place];
  const { buffer } = bytes.slice();
  const each = Class?.BYTES_PER_ELEMENT ?? 1;
  if (Class === undefined || buffer.byteLength % each !== 0) throw wrong();
  return new Class(buffer);
}

function deserialize(bytes, options = {}) {
  const deserializer = new Deserializer(bytes, options.forChannel ? { readHost: readForChannel } : options);
  deserializer.readHeader();
  return deserializer.readValue();
}

module.exports = { Deserializer, deserialize };
