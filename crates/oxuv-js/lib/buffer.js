// The module `buffer`: the package of that name, with Node's checks and errors, and with text and numbers done faster.
'use strict';

const { Buffer: Base, kMaxLength } = require('vendor/buffer');
const { nameOf, isEncoding, bytesOf, textOf, lengthOf, latin1Bytes, bytesFromBase64, toBase64, charsOf } = require('internal/buffer_text');
const {
  codes: {
    ERR_BUFFER_OUT_OF_BOUNDS, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_INVALID_BUFFER_SIZE, ERR_MISSING_ARGS, ERR_OUT_OF_RANGE,
    ERR_UNKNOWN_ENCODING,
  },
  make,
} = require('internal/codes');
const { validateNumber } = require('internal/validators');
const types = require('internal/types');

const ERR_NO_STRING = make('ERR_INVALID_ARG_TYPE', TypeError, 'argument must be a string');

const { prototype } = Base;
const isBytes = (value) => ArrayBuffer.isView(value) && types.internal.typedArrayName(value) === 'Uint8Array';
// Bytes without the methods of buffers, which a script may have changed.
const plain = (buffer, start = 0, end = buffer.length) => new Uint8Array(buffer.buffer, buffer.byteOffset + start, end - start);
const asBuffer = (bytes) => Object.setPrototypeOf(bytes, prototype);

let warned = false;
function warnOnce() {
  if (warned) return;
  warned = true;
  // What packages of others do is not this script's matter.
  if (/[/\\]node_modules[/\\]/.test(new Error().stack.split('\n')[3] ?? '')) return;
  process.emitWarning('Buffer() is deprecated due to security and usability issues. Please use the Buffer.alloc(), Buffer.allocUnsafe(), ' +
    'or Buffer.from() methods instead.', 'DeprecationWarning', 'DEP0005');
}

function Buffer(value, encodingOrOffset, length) {
  warnOnce();
  if (typeof value === 'number') {
    if (typeof encodingOrOffset === 'string') throw new ERR_INVALID_ARG_TYPE('string', 'string', value);
    return Buffer.alloc(value);
  }
  return Buffer.from(value, encodingOrOffset, length);
}
Object.setPrototypeOf(Buffer, Uint8Array);
Object.defineProperty(Buffer, 'prototype', { value: prototype, writable: false, enumerable: false, configurable: false });
Object.defineProperty(prototype, 'constructor', { value: Buffer, writable: true, enumerable: false, configurable: true });
// What methods of typed arrays make is a buffer, too.
function FastBuffer(...args) { return asBuffer(new Uint8Array(...args)); }
Object.defineProperty(Buffer, Symbol.species, { get: () => FastBuffer, configurable: true });
Buffer.poolSize = 8 * 1024;

function SlowBuffer(size) {
  checkSize(size);
  return Buffer.allocUnsafeSlow(size);
}
Object.setPrototypeOf(SlowBuffer.prototype, Uint8Array.prototype);
Object.setPrototypeOf(SlowBuffer, Uint8Array);

function encodingOf(encoding) {
  const name = encoding === '' || encoding === null ? undefined : nameOf(encoding);
  if (name === undefined) throw new ERR_UNKNOWN_ENCODING(encoding);
  return name;
}

function define(target, methods) {
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  }
}

function fromArrayBuffer(buffer, offset, length) {
  offset = offset === undefined ? 0 : +offset;
  if (Number.isNaN(offset)) offset = 0;
  const most = buffer.byteLength - offset;
  if (most < 0) throw new ERR_BUFFER_OUT_OF_BOUNDS('offset');
  if (length === undefined) {
    length = most;
  } else {
    length = +length;
    if (!(length > 0)) length = 0;
    else if (length > most) throw new ERR_BUFFER_OUT_OF_BOUNDS('length');
  }
  return asBuffer(new Uint8Array(buffer, offset, length));
}

function checkSize(size) {
  validateNumber(size, 'size');
  if (!(size >= 0 && size <= kMaxLength)) throw new ERR_INVALID_ARG_VALUE.RangeError('size', size);
}

define(Buffer, {
  from(value, encodingOrOffset, length) {
    if (typeof value === 'string') {
      const encoding = typeof encodingOrOffset === 'string' && encodingOrOffset !== '' ? encodingOrOffset : undefined;
      return asBuffer(bytesOf(value, encodingOf(encoding)));
    }
    if (typeof value === 'object' && value !== null) {
      if (types.isAnyArrayBuffer(value)) return fromArrayBuffer(value, encodingOrOffset, length);
      const inner = typeof value.valueOf === 'function' ? value.valueOf() : undefined;
      if (inner !== undefined && inner !== null && inner !== value && (typeof inner === 'string' || typeof inner === 'object')) {
        return Buffer.from(inner, encodingOrOffset, length);
      }
      if (isBytes(value)) return asBuffer(new Uint8Array(plain(value)));
      if (value.length !== undefined || types.isAnyArrayBuffer(value.buffer) || (value.type === 'Buffer' && Array.isArray(value.data))) {
        const items = value.type === 'Buffer' && Array.isArray(value.data) ? value.data : value;
        return typeof items.length === 'number' ? asBuffer(Uint8Array.from({ ...items, length: Math.max(0, items.length) })) : asBuffer(new Uint8Array(0));
      }
      const toPrimitive = value[Symbol.toPrimitive];
      if (typeof toPrimitive === 'function') {
        const primitive = toPrimitive.call(value, 'string');
        if (typeof primitive === 'string') return Buffer.from(primitive, encodingOrOffset);
      }
    }
    throw new ERR_INVALID_ARG_TYPE('first argument', ['string', 'Buffer', 'ArrayBuffer', 'Array', 'Array-like Object'], value);
  },
  alloc(size, fill, encoding) {
    checkSize(size);
    const buffer = asBuffer(new Uint8Array(size));
    if (fill !== undefined && fill !== 0 && size > 0) buffer.fill(fill, encoding);
    return buffer;
  },
  allocUnsafe(size) {
    checkSize(size);
    return asBuffer(new Uint8Array(size));
  },
  allocUnsafeSlow(size) {
    checkSize(size);
    return asBuffer(new Uint8Array(size));
  },
  isEncoding,
  byteLength(value, encoding) {
    if (typeof value !== 'string') {
      if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return value.byteLength;
      throw new ERR_INVALID_ARG_TYPE('string', ['string', 'Buffer', 'ArrayBuffer'], value);
    }
    return lengthOf(value, nameOf(encoding) ?? 'utf8');
  },
  compare(one, other) {
    if (!isBytes(one)) throw new ERR_INVALID_ARG_TYPE('buf1', ['Buffer', 'Uint8Array'], one);
    if (!isBytes(other)) throw new ERR_INVALID_ARG_TYPE('buf2', ['Buffer', 'Uint8Array'], other);
    return compareBytes(one, other);
  },
  concat(list, length) {
    if (!Array.isArray(list)) throw new ERR_INVALID_ARG_TYPE('list', 'Array', list);
    if (list.length === 0) return Buffer.alloc(0);
    if (length === undefined) {
      length = 0;
      for (const each of list) if (each.length) length += each.length;
    } else {
      require('internal/validators').validateInteger(length, 'length', 0, kMaxLength);
    }
    const buffer = Buffer.allocUnsafe(length);
    let at = 0;
    for (let i = 0; i < list.length; i++) {
      const each = list[i];
      if (!isBytes(each)) throw new ERR_INVALID_ARG_TYPE(`list[${i}]`, ['Buffer', 'Uint8Array'], each);
      if (at < length) buffer.set(each.length > length - at ? plain(each, 0, length - at) : each, at);
      at += each.length;
    }
    return buffer;
  },
  copyBytesFrom(source, offset, length) {
    if (!types.isTypedArray(source)) throw new ERR_INVALID_ARG_TYPE('view', 'TypedArray', source);
    const part = source.slice(offset ?? 0, length === undefined ? undefined : (offset ?? 0) + length);
    return asBuffer(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  },
});
define(Buffer, { of(...items) { return asBuffer(Uint8Array.from(items)); } });

// So many are compared here before the other side would have them copied.
const FEW = 256;

function compareBytes(one, other) {
  const length = Math.min(one.length, other.length);
  if (length > FEW) return binding('text').compare(one, other);
  for (let i = 0; i < length; i++) if (one[i] !== other[i]) return one[i] < other[i] ? -1 : 1;
  return Math.sign(one.length - other.length);
}

// A place in a buffer: what is no number is the fallback, what is too large the end.
function clamp(value, fallback, length) {
  if (value === undefined) return fallback;
  value = Math.trunc(+value);
  return value > 0 ? Math.min(value, length) : 0;
}

function checkRange(value, name, max, fallback) {
  if (value === undefined) return fallback;
  require('internal/validators').validateInteger(value, name, 0, max);
  return value;
}

const INSPECT_MAX_BYTES = 50;
let inspectMaxBytes = INSPECT_MAX_BYTES;

function inspectBuffer(recurseTimes, options) {
  const shown = Math.min(inspectMaxBytes, this.length);
  let text = textOf(plain(this, 0, shown), 'hex').replace(/(.{2})/g, '$1 ').trim();
  const rest = this.length - shown;
  if (rest > 0) text += ` ... ${rest} more byte${rest > 1 ? 's' : ''}`;
  if (options && this.length <= types.internal.MANY) {
    // Properties of the script's own.
    const extras = options.showHidden ? Reflect.ownKeys(this) : Object.keys(this);
    const own = extras.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key));
    if (own.length > 0) {
      const object = Object.create(null);
      for (const key of own) object[key] = this[key];
      const inner = require('internal/inspect').inspect(object, { ...options, breakLength: Infinity, compact: true });
      if (this.length !== 0) text += ', ';
      text += inner.slice('[Object: null prototype] { '.length, -2);
    }
  }
  return `<${this.constructor?.name ?? 'Buffer'} ${text}>`;
}

function checkNeedle(value) {
  if (typeof value !== 'string' && typeof value !== 'number' && !isBytes(value)) {
    throw new ERR_INVALID_ARG_TYPE('value', ['number', 'string', 'Buffer', 'Uint8Array'], value);
  }
}

define(prototype, {
  toString(encoding, start, end) {
    const from = clamp(start, 0, this.length);
    const to = clamp(end, this.length, this.length);
    if (to <= from) return '';
    return textOf(plain(this, from, to), encodingOf(encoding));
  },
  write(text, offset, length, encoding) {
    if (typeof offset === 'string') [offset, length, encoding] = [undefined, undefined, offset];
    else if (typeof length === 'string') [length, encoding] = [undefined, length];
    if (typeof text !== 'string') throw new ERR_NO_STRING();
    offset = checkRange(offset, 'offset', this.length, 0);
    const left = this.length - offset;
    length = Math.min(checkRange(length, 'length', this.length, left), left);
    const name = encodingOf(encoding || undefined);
    let bytes = bytesOf(text, name);
    if (bytes.length > length) {
      // Only whole characters.
      if (name === 'utf8') while (length > 0 && (bytes[length] & 0xc0) === 0x80) length--;
      else if (name === 'utf16le') length -= length % 2;
      bytes = bytes.subarray(0, length);
    }
    Uint8Array.prototype.set.call(this, bytes, offset);
    return bytes.length;
  },
  equals(other) {
    if (!isBytes(other)) throw new ERR_INVALID_ARG_TYPE('otherBuffer', ['Buffer', 'Uint8Array'], other);
    return this === other || (this.length === other.length && compareBytes(this, other) === 0);
  },
  compare(target, targetStart, targetEnd, sourceStart, sourceEnd) {
    if (!isBytes(target)) throw new ERR_INVALID_ARG_TYPE('target', ['Buffer', 'Uint8Array'], target);
    targetStart = checkRange(targetStart, 'targetStart', Number.MAX_SAFE_INTEGER, 0);
    targetEnd = checkRange(targetEnd, 'targetEnd', target.length, target.length);
    sourceStart = checkRange(sourceStart, 'sourceStart', Number.MAX_SAFE_INTEGER, 0);
    sourceEnd = checkRange(sourceEnd, 'sourceEnd', this.length, this.length);
    if (sourceStart >= sourceEnd) return targetStart >= targetEnd ? 0 : -1;
    if (targetStart >= targetEnd) return 1;
    return compareBytes(plain(this, sourceStart, sourceEnd), plain(target, targetStart, targetEnd));
  },
  copy(target, targetStart, sourceStart, sourceEnd) {
    if (!isBytes(target)) throw new ERR_INVALID_ARG_TYPE('target', ['Buffer', 'Uint8Array'], target);
    const whole = (value, fallback) => (value === undefined ? fallback : Math.trunc(+value) || 0);
    targetStart = whole(targetStart, 0);
    if (targetStart < 0) throw new ERR_OUT_OF_RANGE('targetStart', '>= 0', targetStart);
    sourceStart = whole(sourceStart, 0);
    if (sourceStart < 0) throw new ERR_OUT_OF_RANGE('sourceStart', '>= 0', sourceStart);
    if (sourceStart > this.length) throw new ERR_OUT_OF_RANGE('sourceStart', `>= 0 && <= ${this.length}`, sourceStart);
    sourceEnd = whole(sourceEnd, this.length);
    if (sourceEnd < 0) throw new ERR_OUT_OF_RANGE('sourceEnd', '>= 0', sourceEnd);
    if (targetStart >= target.length || sourceStart >= sourceEnd) return 0;
    const count = Math.min(sourceEnd - sourceStart, target.length - targetStart, this.length - sourceStart);
    Uint8Array.prototype.set.call(target, plain(this, sourceStart, sourceStart + count), targetStart);
    return count;
  },
  fill(value, offset, end, encoding) {
    if (typeof offset === 'string') [offset, end, encoding] = [undefined, undefined, offset];
    else if (typeof end === 'string') [end, encoding] = [undefined, end];
    if (encoding !== undefined && typeof encoding !== 'string') throw new ERR_INVALID_ARG_TYPE('encoding', 'string', encoding);
    if (typeof value === 'string') {
      if (encoding !== undefined && encoding !== '' && nameOf(encoding) === undefined) throw new ERR_UNKNOWN_ENCODING(encoding);
      value = value === '' ? 0 : bytesOf(value, encodingOf(encoding || undefined));
      if (value.length === 0) throw new ERR_INVALID_ARG_VALUE('value', arguments[0]);
      if (value.length === 1) [value] = value;
    } else if (ArrayBuffer.isView(value)) {
      value = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      if (value.length === 0) throw new ERR_INVALID_ARG_VALUE('value', arguments[0]);
    } else {
      value = typeof value === 'boolean' ? +value : value & 255;
    }
    offset = checkRange(offset, 'offset', Number.MAX_SAFE_INTEGER, 0);
    end = checkRange(end, 'end', this.length, this.length);
    if (offset >= end) return this;
    if (typeof value === 'number') {
      Uint8Array.prototype.fill.call(this, value, offset, end);
    } else {
      for (let at = offset, i = 0; at < end; at++, i = i + 1 === value.length ? 0 : i + 1) this[at] = value[i];
    }
    return this;
  },
  indexOf(value, byteOffset, encoding) {
    return search(this, value, byteOffset, encoding, true);
  },
  lastIndexOf(value, byteOffset, encoding) {
    return search(this, value, byteOffset, encoding, false);
  },
  includes(value, byteOffset, encoding) {
    return this.indexOf(value, byteOffset, encoding) !== -1;
  },
  slice(start, end) {
    return asBuffer(Uint8Array.prototype.subarray.call(plain(this), start, end));
  },
  subarray(start, end) {
    return asBuffer(Uint8Array.prototype.subarray.call(plain(this), start, end));
  },
  toJSON() {
    return { type: 'Buffer', data: this.length > 0 ? Array.from(plain(this)) : [] };
  },
  inspect: inspectBuffer,
});
prototype[Symbol.for('nodejs.util.inspect.custom')] = inspectBuffer;
Object.defineProperty(prototype, 'toLocaleString', { value: prototype.toString, writable: true, enumerable: true, configurable: true });

const { indexOf, lastIndexOf } = Uint8Array.prototype;

function search(buffer, value, byteOffset, encoding, isForward) {
  if (typeof byteOffset === 'string') [byteOffset, encoding] = [undefined, byteOffset];
  checkNeedle(value);
  const isUnits = nameOf(encoding) === 'utf16le';
  if (typeof value === 'string') value = bytesOf(value, encodingOf(encoding ?? undefined));
  const { length } = buffer;
  let from = Math.trunc(+byteOffset);
  if (Number.isNaN(from)) from = isForward ? 0 : length;
  if (from < 0) from += length;
  if (from < 0 && !isForward) return -1;
  from = Math.max(from, 0);
  const bytes = plain(buffer);
  if (typeof value === 'number') return isForward ? indexOf.call(bytes, value & 255, from) : lastIndexOf.call(bytes, value & 255, from);
  if (value.length === 0) return Math.min(from, length);
  // Half a unit is nowhere.
  if (isUnits && value.length % 2 !== 0) return -1;
  return searchBytes(bytes, value, from, isUnits ? 2 : 1, isForward);
}

// The place of a needle that begins at a multiple of `step`.
function searchBytes(bytes, needle, from, step, isForward) {
  const last = bytes.length - needle.length;
  for (let at = isForward ? from : Math.min(from, last); at >= 0 && at <= last; at += isForward ? 1 : -1) {
    at = isForward ? indexOf.call(bytes, needle[0], at) : lastIndexOf.call(bytes, needle[0], at);
    if (at < 0 || at > last) return -1;
    if (at % step !== 0) continue;
    let same = 1;
    while (same < needle.length && bytes[at + same] === needle[same]) same++;
    if (same === needle.length) return at;
  }
  return -1;
}

for (const [bits, size] of [['16', 2], ['32', 4], ['64', 8]]) {
  const swap = prototype[`swap${bits}`];
  prototype[`swap${bits}`] = { [`swap${bits}`]() {
    if (this.length % size !== 0) throw new ERR_INVALID_BUFFER_SIZE(`${bits}-bits`);
    return swap.call(this);
  } }[`swap${bits}`];
}
for (const name of ['utf8', 'latin1', 'ascii', 'base64', 'base64url', 'hex', 'ucs2']) {
  define(prototype, {
    [`${name}Slice`](start, end) { return this.toString(name, start, end); },
    [`${name}Write`](text, offset, length) { return this.write(text, offset, length, name); },
  });
}
require('internal/buffer_numbers').addNumbers(prototype);
delete prototype._isBuffer;
define(Buffer, { isBuffer(value) { return value instanceof Buffer; } });
// The package's own functions ask these.
define(Base, { isBuffer: Buffer.isBuffer, from: Buffer.from });

const domError = (message) => new (require('internal/dom_exception'))(message, 'InvalidCharacterError');

function btoa(input) {
  if (arguments.length === 0) throw new ERR_MISSING_ARGS('input');
  input = `${input}`;
  for (let i = 0; i < input.length; i++) if (input.charCodeAt(i) > 255) throw domError('Invalid character');
  return toBase64(latin1Bytes(input));
}

function atob(input) {
  if (arguments.length === 0) throw new ERR_MISSING_ARGS('input');
  const text = `${input}`.replace(/[\t\n\f\r ]/g, '');
  if (/[^A-Za-z0-9+/=]/.test(text)) throw domError('Invalid character');
  try {
    return charsOf(bytesFromBase64(text));
  } catch {
    throw domError('The string to be decoded is not correctly encoded.');
  }
}

function checkedBytes(input) {
  if (types.isAnyArrayBuffer(input)) return new Uint8Array(input);
  if (types.isTypedArray(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  throw new ERR_INVALID_ARG_TYPE('input', ['ArrayBuffer', 'Buffer', 'TypedArray'], input);
}

const constants = Object.defineProperties({}, {
  MAX_LENGTH: { value: kMaxLength, enumerable: true },
  MAX_STRING_LENGTH: { value: 2 ** 29 - 24, enumerable: true },
});

module.exports = {
  Buffer,
  SlowBuffer,
  kMaxLength,
  kStringMaxLength: constants.MAX_STRING_LENGTH,
  btoa,
  atob,
  constants,
  transcode: (source, from, to) => require('internal/transcode')(source, from, to),
  isUtf8: (input) => binding('text').isValid(checkedBytes(input)),
  isAscii: (input) => checkedBytes(input).every((byte) => byte < 128),
};
Object.defineProperty(module.exports, 'INSPECT_MAX_BYTES', {
  get: () => inspectMaxBytes,
  set(value) {
    validateNumber(value, 'INSPECT_MAX_BYTES', 0);
    inspectMaxBytes = value;
  },
  enumerable: true,
  configurable: true,
});
for (const name of ['Blob', 'File']) {
  Object.defineProperty(module.exports, name, { get: () => require('internal/blob')[name], enumerable: true, configurable: true });
}
