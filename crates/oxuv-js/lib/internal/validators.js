// Checks of arguments. Each throws the error that Node throws.
'use strict';

const { codes } = require('internal/codes');

function wrongType(name, expected, value) {
  const error = new codes.ERR_INVALID_ARG_TYPE(name, expected, value);
  throw error;
}

function validateString(value, name) {
  if (typeof value !== 'string') wrongType(name, 'string', value);
}

function validateFunction(value, name) {
  if (typeof value !== 'function') wrongType(name, 'Function', value);
}

function validateBoolean(value, name) {
  if (typeof value !== 'boolean') wrongType(name, 'boolean', value);
}

function validateNumber(value, name, min, max) {
  if (typeof value !== 'number') wrongType(name, 'number', value);
  if ((min != null && value < min) || (max != null && value > max) || ((min != null || max != null) && Number.isNaN(value))) {
    const range = `${min != null ? `>= ${min}` : ''}${min != null && max != null ? ' && ' : ''}${max != null ? `<= ${max}` : ''}`;
    throw new codes.ERR_OUT_OF_RANGE(name, range, value);
  }
}

function validateInteger(value, name, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) {
  if (typeof value !== 'number') wrongType(name, 'number', value);
  if (!Number.isInteger(value)) throw new codes.ERR_OUT_OF_RANGE(name, 'an integer', value);
  if (value < min || value > max) throw new codes.ERR_OUT_OF_RANGE(name, `>= ${min} && <= ${max}`, value);
}

const validateInt32 = (value, name, min = -(2 ** 31), max = 2 ** 31 - 1) => validateInteger(value, name, min, max);
const validateUint32 = (value, name, isPositive = false) => validateInteger(value, name, isPositive ? 1 : 0, 2 ** 32 - 1);

function validateObject(value, name, { allowArray = false, allowFunction = false, nullable = false } = {}) {
  if ((!nullable && value === null) || (!allowArray && Array.isArray(value)) ||
      (typeof value !== 'object' && !(allowFunction && typeof value === 'function'))) {
    wrongType(name, 'Object', value);
  }
}

function validateArray(value, name, minLength = 0) {
  if (!Array.isArray(value)) wrongType(name, 'Array', value);
  if (value.length < minLength) throw new codes.ERR_INVALID_ARG_VALUE(name, value, `must be longer than ${minLength}`);
}

function validateOneOf(value, name, choices) {
  if (choices.includes(value)) return;
  const words = choices.map((choice) => (typeof choice === 'string' ? `'${choice}'` : String(choice)));
  throw new codes.ERR_INVALID_ARG_VALUE(name, value, `must be one of: ${words.join(', ')}`);
}

function validateAbortSignal(signal, name) {
  if (signal !== undefined && (signal === null || typeof signal !== 'object' || !('aborted' in signal))) {
    wrongType(name, 'AbortSignal', signal);
  }
}

// A port as a number.
function validatePort(port, name = 'Port', allowsZero = true) {
  if ((typeof port !== 'number' && typeof port !== 'string') || (typeof port === 'string' && port.trim() === '') ||
      +port !== +port >>> 0 || port > 0xFFFF || (+port === 0 && !allowsZero)) {
    throw new codes.ERR_SOCKET_BAD_PORT(name, port, allowsZero);
  }
  return port | 0;
}

// A mode as a number, or as octal digits.
function parseFileMode(value, name, fallback) {
  value ??= fallback;
  if (typeof value === 'string') {
    if (!/^[0-7]+$/.test(value)) throw new codes.ERR_INVALID_ARG_VALUE(name, value, 'must be a 32-bit unsigned integer or an octal string');
    value = parseInt(value, 8);
  }
  validateUint32(value, name);
  return value;
}

module.exports = {
  validateString, validateFunction, validateBoolean, validateNumber, validateInteger, validateInt32, validateUint32,
  validateObject, validateArray, validateOneOf, validateAbortSignal, validatePort, parseFileMode,
};
