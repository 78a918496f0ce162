// Values as bytes, circles and all: the format that V8 writes, so that the two can talk to each other.
'use strict';

const types = require('internal/types');
const { bytesOf } = require('internal/buffer_text');
const { fail, isForeignProxy, isPlatformObject } = require('internal/structured_clone');

const VERSION = 15;
const code = (letter) => letter.charCodeAt(0);
// A byte stands in front of each value and says what it is.
const TAG = Object.freeze({
  PADDING: 0, UNDEFINED: code('_'), NULL: code('0'), TRUE: code('T'), FALSE: code('F'), INT: code('I'), UINT: code('U'), DOUBLE: code('N'),
  BIGINT: code('Z'), LATIN1: code('"'), UTF8: code('S'), UTF16: code('c'), REFERENCE: code('^'), OBJECT: code('o'), OBJECT_END: code('{'),
  DENSE: code('A'), DENSE_END: code('$'), SPARSE: code('a'), SPARSE_END: code('@'), HOLE: code('-'), DATE: code('D'),
  TRUE_OBJECT: code('y'), FALSE_OBJECT: code('x'), NUMBER_OBJECT: code('n'), BIGINT_OBJECT: code('z'), STRING_OBJECT: code('s'),
  REGEXP: code('R'), MAP: code(';'), MAP_END: code(':'), SET: code("'"), SET_END: code(','), BUFFER: code('B'), RESIZABLE: code('~'),
  TRANSFERRED: code('t'), VIEW: code('V'), ERROR: code('r'), HOST: code('\\'),
});
const VIEWS = [['b', Int8Array], ['B', Uint8Array], ['C', Uint8ClampedArray], ['w', Int16Array], ['W', Uint16Array], ['d', Int32Array],
  ['D', Uint32Array], ['f', Float32Array], ['F', Float64Array], ['?', DataView], ['q', BigInt64Array], ['Q', BigUint64Array]];
const FLAGS = 'gimyus-dv';
const ERRORS = { E: 'EvalError', R: 'RangeError', F: 'ReferenceError', S: 'SyntaxError', T: 'TypeError', U: 'URIError' };
const ERROR = Object.freeze({ MESSAGE: code('m'), CAUSE: code('c'), STACK: code('s'), END: code('.') });
const letterOf = (view) => VIEWS.find(([, Class]) => Class.name === (types.isDataView(view) ? 'DataView' : types.internal.typedArrayName(view)))[0];

class Serializer {
  #bytes = new Uint8Array(512);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #known = new Map();
  #options;

  // `transfer` maps buffers to numbers; `writeHost(value, serializer)` writes what only the caller knows, or returns false.
  constructor(options = {}) {
    this.#options = options;
  }

  #room(count) {
    const needed = this.#at + count;
    if (needed <= this.#bytes.length) return;
    const more = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    more.set(this.#bytes);
    this.#bytes = more;
    this.#view = new DataView(more.buffer);
  }

  release() { return this.#bytes.slice(0, this.#at); }

  writeHeader() {
    this.writeByte(0xff);
    this.writeByte(VERSION);
  }

  writeByte(byte) {
    this.#room(1);
    this.#bytes[this.#at++] = byte;
  }

  writeUint32(number) {
    while (number >= 0x80) {
      this.writeByte((number & 0x7f) | 0x80);
      number = Math.floor(number / 128);
    }
    this.writeByte(number);
  }

  writeDouble(number) {
    this.#room(8);
    this.#view.setFloat64(this.#at, number, true);
    this.#at += 8;
  }

  writeRawBytes(bytes) {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #string(text) {
    if (/^[\0-\xff]*$/.test(text)) {
      this.writeByte(TAG.LATIN1);
      this.writeUint32(text.length);
      this.writeRawBytes(bytesOf(text, 'latin1'));
      return;
    }
    const size = 2 * text.length;
    // Two bytes begin at an even place.
    const lengthBytes = size < 0x80 ? 1 : size < 0x4000 ? 2 : size < 0x200000 ? 3 : size < 0x10000000 ? 4 : 5;
    if ((this.#at + 1 + lengthBytes) % 2 === 1) this.writeByte(TAG.PADDING);
    this.writeByte(TAG.UTF16);
    this.writeUint32(size);
    this.writeRawBytes(bytesOf(text, 'utf16le'));
  }

  #number(number) {
    if (Number.isInteger(number) && number >= -(2 ** 30) && number < 2 ** 30 && !Object.is(number, -0)) {
      this.writeByte(TAG.INT);
      this.writeUint32(((number << 1) ^ (number >> 31)) >>> 0);
    } else {
      this.writeByte(TAG.DOUBLE);
      this.writeDouble(number);
    }
  }

  #bigint(number) {
    const isNegative = number < 0n;
    const words = [];
    for (let rest = isNegative ? -number : number; rest > 0n; rest >>= 64n) words.push(rest & 0xffffffffffffffffn);
    this.writeUint32((words.length * 8 << 1) | Number(isNegative));
    for (const word of words) {
      this.#room(8);
      this.#view.setBigUint64(this.#at, word, true);
      this.#at += 8;
    }
  }

  writeValue(value) {
    switch (typeof value) {
      case 'undefined': this.writeByte(TAG.UNDEFINED); break;
      case 'boolean': this.writeByte(value ? TAG.TRUE : TAG.FALSE); break;
      case 'number': this.#number(value); break;
      case 'string': this.#string(value); break;
      case 'bigint':
        this.writeByte(TAG.BIGINT);
        this.#bigint(value);
        break;
      case 'object':
        if (value === null) this.writeByte(TAG.NULL);
        else this.#object(value);
        break;
      default: fail(value);
    }
  }

  #object(value) {
    // The buffer of a view comes first, and has its own number.
    const isView = ArrayBuffer.isView(value);
    if (isView && !this.#options.viewsAreHost && !this.#known.has(value)) this.#object(value.buffer);
    const number = this.#known.get(value);
    if (number !== undefined) {
      this.writeByte(TAG.REFERENCE);
      this.writeUint32(number);
      return;
    }
    this.#known.set(value, this.#known.size);
    if (isForeignProxy(value)) fail(value);
    if (Array.isArray(value)) this.#array(value);
    else if (isView) this.#viewOf(value);
    else if (types.isNativeError(value)) this.#error(value);
    else if (!this.#special(value) && !this.#host(value)) this.#plain(value);
  }

  #host(value) {
    if (this.#options.writeHost?.(value, this)) return true;
    if (isPlatformObject(value)) fail(value);
    return false;
  }

  #special(value) {
    if (types.isDate(value)) {
      this.writeByte(TAG.DATE);
      this.writeDouble(Date.prototype.getTime.call(value));
    } else if (types.isRegExp(value)) {
      this.writeByte(TAG.REGEXP);
      this.#string(value.source);
      this.writeUint32([...value.flags].reduce((bits, flag) => bits | (1 << FLAGS.indexOf(flag)), 0));
    } else if (types.isMap(value)) {
      const entries = [...Map.prototype.entries.call(value)].flat();
      this.#list(TAG.MAP, entries, TAG.MAP_END);
    } else if (types.isSet(value)) {
      this.#list(TAG.SET, [...Set.prototype.values.call(value)], TAG.SET_END);
    } else if (types.isBoxedPrimitive(value)) {
      this.#boxed(value);
    } else if (types.isArrayBuffer(value)) {
      this.#buffer(value);
    } else if (types.isSharedArrayBuffer(value)) {
      fail(value);
    } else {
      return false;
    }
    return true;
  }

  #list(begin, values, end) {
    this.writeByte(begin);
    for (const each of values) this.writeValue(each);
    this.writeByte(end);
    this.writeUint32(values.length);
  }

  #boxed(object) {
    const value = object.valueOf();
    switch (typeof value) {
      case 'boolean': this.writeByte(value ? TAG.TRUE_OBJECT : TAG.FALSE_OBJECT); break;
      case 'number':
        this.writeByte(TAG.NUMBER_OBJECT);
        this.writeDouble(value);
        break;
      case 'bigint':
        this.writeByte(TAG.BIGINT_OBJECT);
        this.#bigint(value);
        break;
      case 'string':
        this.writeByte(TAG.STRING_OBJECT);
        this.#string(value);
        break;
      default: fail(object);
    }
  }

  #buffer(buffer) {
    const number = this.#options.transfer?.get(buffer);
    if (number !== undefined) {
      this.writeByte(TAG.TRANSFERRED);
      this.writeUint32(number);
      return;
    }
    if (buffer.detached) throw new DOMException('An ArrayBuffer is detached and could not be cloned.', 'DataCloneError');
    this.writeByte(buffer.resizable ? TAG.RESIZABLE : TAG.BUFFER);
    this.writeUint32(buffer.byteLength);
    if (buffer.resizable) this.writeUint32(buffer.maxByteLength);
    this.writeRawBytes(new Uint8Array(buffer));
  }

  #viewOf(view) {
    if (this.#options.viewsAreHost) {
      this.#options.writeHost(view, this);
      return;
    }
    this.writeByte(TAG.VIEW);
    this.writeByte(code(letterOf(view)));
    this.writeUint32(view.byteOffset);
    this.writeUint32(view.byteLength);
    this.writeUint32(0);
  }

  #error(error) {
    this.writeByte(TAG.ERROR);
    const letter = Object.keys(ERRORS).find((key) => ERRORS[key] === `${error.name}`);
    if (letter) this.writeByte(code(letter));
    const message = Object.getOwnPropertyDescriptor(error, 'message');
    if (message !== undefined && 'value' in message) {
      this.writeByte(ERROR.MESSAGE);
      this.#string(`${message.value}`);
    }
    if (Object.hasOwn(error, 'cause')) {
      this.writeByte(ERROR.CAUSE);
      this.writeValue(error.cause);
    }
    if (typeof error.stack === 'string') {
      this.writeByte(ERROR.STACK);
      this.#string(error.stack);
    }
    this.writeByte(ERROR.END);
  }

  #array(array) {
    const { length } = array;
    const keys = Object.keys(array);
    const isDense = keys.length * 4 >= length;
    this.writeByte(isDense ? TAG.DENSE : TAG.SPARSE);
    this.writeUint32(length);
    let others = keys;
    if (isDense) {
      for (let at = 0; at < length; at++) {
        if (Object.hasOwn(array, at)) this.writeValue(array[at]);
        else this.writeByte(TAG.HOLE);
      }
      others = keys.filter((key) => !isIndex(key, length));
    }
    const count = this.#properties(array, others);
    this.writeByte(isDense ? TAG.DENSE_END : TAG.SPARSE_END);
    this.writeUint32(count);
    this.writeUint32(length);
  }

  #plain(object) {
    this.writeByte(TAG.OBJECT);
    const count = this.#properties(object, Object.keys(object));
    this.writeByte(TAG.OBJECT_END);
    this.writeUint32(count);
  }

  // Those that a getter has removed meanwhile are left out.
  #properties(object, keys) {
    let count = 0;
    for (const key of keys) {
      if (!Object.hasOwn(object, key)) continue;
      const value = object[key];
      if (isIndex(key, 2 ** 30)) this.#number(Number(key));
      else this.#string(key);
      this.writeValue(value);
      count++;
    }
    return count;
  }
}

const isIndex = (key, limit) => /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < limit;

const VIEW_ORDER = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array,
  DataView, undefined, BigInt64Array, BigUint64Array];
const BUFFER_PLACE = 10;

// What a channel to another process has of its own: views go alone, without the rest of their buffers.
function writeForChannel(value, serializer) {
  if (!ArrayBuffer.isView(value)) return false;
  const isBuffer = value.constructor === Buffer;
  serializer.writeByte(TAG.HOST);
  serializer.writeUint32(0);
  const [, Class] = VIEWS.find(([letter]) => letter === letterOf(value));
  serializer.writeUint32(isBuffer ? BUFFER_PLACE : VIEW_ORDER.indexOf(Class));
  serializer.writeUint32(value.byteLength);
  serializer.writeRawBytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return true;
}

function serialize(value, options = {}) {
  const serializer = new Serializer(options.forChannel ? { viewsAreHost: true, writeHost: writeForChannel } : options);
  serializer.writeHeader();
  serializer.writeValue(value);
  return serializer.release();
}

module.exports = {
  Serializer, serialize, TAG, VIEWS, FLAGS, ERRORS, ERROR, VIEW_ORDER, BUFFER_PLACE,
  deserialize: (bytes, options) => require('internal/deserializer').deserialize(bytes, options),
};
