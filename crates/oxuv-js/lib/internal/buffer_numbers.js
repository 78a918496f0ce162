// The methods of buffers that read and write numbers.
'use strict';

const { codes: { ERR_BUFFER_OUT_OF_BOUNDS, ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE } } = require('internal/codes');

function checkNumber(value, name) {
  if (typeof value !== 'number') throw new ERR_INVALID_ARG_TYPE(name, 'number', value);
}

function outside(value, last, name) {
  if (Math.floor(value) !== value) {
    checkNumber(value, name);
    return new ERR_OUT_OF_RANGE(name, 'an integer', value);
  }
  if (last < 0) return new ERR_BUFFER_OUT_OF_BOUNDS();
  return new ERR_OUT_OF_RANGE(name, `>= ${name === 'offset' ? 0 : 1} and <= ${last}`, value);
}

function checkOffset(buffer, offset, size) {
  checkNumber(offset, 'offset');
  if (!(offset >= 0 && offset + size <= buffer.length && Number.isInteger(offset))) {
    throw outside(offset, buffer.length - size, 'offset');
  }
}

// The range of whole numbers of so many bytes, as it is told.
function range(size, isSigned, isBig) {
  const n = isBig ? 'n' : '';
  const bits = size * 8;
  if (size > 4) return isSigned ? `>= -(2${n} ** ${bits - 1}${n}) and < 2${n} ** ${bits - 1}${n}` : `>= 0${n} and < 2${n} ** ${bits}${n}`;
  return isSigned ? `>= ${-(2 ** (bits - 1))} and <= ${2 ** (bits - 1) - 1}` : `>= 0 and <= ${2 ** bits - 1}`;
}

function checkValue(value, size, isSigned) {
  const max = isSigned ? 2 ** (size * 8 - 1) - 1 : 2 ** (size * 8) - 1;
  const min = isSigned ? -max - 1 : 0;
  if (value > max || value < min) throw new ERR_OUT_OF_RANGE('value', range(size, isSigned), value);
}

const view = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);

// Name of the method, of DataView's, bytes.
const FIXED = [
  ['UInt8', 'Uint8', 1], ['UInt16', 'Uint16', 2], ['UInt32', 'Uint32', 4], ['Int8', 'Int8', 1], ['Int16', 'Int16', 2],
  ['Int32', 'Int32', 4], ['BigUInt64', 'BigUint64', 8], ['BigInt64', 'BigInt64', 8], ['Float', 'Float32', 4], ['Double', 'Float64', 8],
];

function addFixed(prototype, name, kind, size, suffix) {
  const isLittle = suffix === 'LE';
  const isBig = name.startsWith('Big');
  const isSigned = !name.includes('UInt');
  const isFloat = name === 'Float' || name === 'Double';
  const get = DataView.prototype[`get${kind}`];
  const set = DataView.prototype[`set${kind}`];
  const max = isBig ? (1n << (isSigned ? 63n : 64n)) - 1n : 0n;
  const min = isSigned ? -max - 1n : 0n;
  const methods = {
    [`read${name}${suffix}`](offset = 0) {
      checkOffset(this, offset, size);
      return get.call(view(this), offset, isLittle);
    },
    [`write${name}${suffix}`](value, offset = 0) {
      if (!isBig) {
        value = +value;
        if (!isFloat) checkValue(value, size, isSigned);
      } else if (typeof value !== 'bigint') {
        throw new TypeError('Cannot mix BigInt and other types, use explicit conversions');
      } else if (value > max || value < min) {
        throw new ERR_OUT_OF_RANGE('value', range(size, isSigned, true), value);
      }
      checkOffset(this, offset, size);
      set.call(view(this), offset, value, isLittle);
      return offset + size;
    },
  };
  return Object.entries(methods);
}

function checkLength(byteLength) {
  if (byteLength === undefined) throw new ERR_INVALID_ARG_TYPE('byteLength', 'number', byteLength);
  checkNumber(byteLength, 'byteLength');
  if (!Number.isInteger(byteLength) || byteLength < 1 || byteLength > 6) throw outside(byteLength, 6, 'byteLength');
}

// Numbers of one to six bytes.
function variable(suffix, isSigned) {
  const isLittle = suffix === 'LE';
  const name = isSigned ? 'Int' : 'UInt';
  return Object.entries({
    [`read${name}${suffix}`](offset, byteLength) {
      if (offset === undefined) throw new ERR_INVALID_ARG_TYPE('offset', 'number', offset);
      checkLength(byteLength);
      checkOffset(this, offset, byteLength);
      let value = 0;
      for (let i = 0; i < byteLength; i++) value = value * 256 + this[isLittle ? offset + byteLength - 1 - i : offset + i];
      return isSigned && value >= 2 ** (8 * byteLength - 1) ? value - 2 ** (8 * byteLength) : value;
    },
    [`write${name}${suffix}`](value, offset, byteLength) {
      checkLength(byteLength);
      value = +value;
      checkValue(value, byteLength, isSigned);
      if (offset === undefined) throw new ERR_INVALID_ARG_TYPE('offset', 'number', offset);
      checkOffset(this, offset, byteLength);
      let rest = Math.trunc(value);
      if (rest < 0) rest += 2 ** (8 * byteLength);
      for (let i = 0; i < byteLength; i++) {
        this[isLittle ? offset + i : offset + byteLength - 1 - i] = rest % 256;
        rest = Math.floor(rest / 256);
      }
      return offset + byteLength;
    },
  });
}

function addNumbers(prototype) {
  const add = (name, value) => {
    const define = (key) => Object.defineProperty(prototype, key, { value, writable: true, enumerable: true, configurable: true });
    define(name);
    // The names have a second spelling.
    if (name.includes('UInt')) define(name.replace('UInt', 'Uint'));
  };
  for (const [name, kind, size] of FIXED) {
    for (const suffix of size === 1 ? [''] : ['LE', 'BE']) {
      for (const [key, method] of addFixed(prototype, name, kind, size, suffix)) add(key, method);
    }
  }
  for (const suffix of ['LE', 'BE']) {
    for (const isSigned of [false, true]) for (const [key, method] of variable(suffix, isSigned)) add(key, method);
  }
}

module.exports = { addNumbers };
