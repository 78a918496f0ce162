// The module `util`.
'use strict';

const { inspect, removeColours } = require('internal/inspect');
const { format, formatWithOptions } = require('internal/format');
const types = require('internal/types');
const functions = require('internal/util_functions');
const { codes } = require('internal/codes');
const { validateString } = require('internal/validators');

function stripVTControlCharacters(text) {
  validateString(text, 'str');
  return removeColours(text);
}

function toUSVString(text) {
  return `${text}`.toWellFormed();
}

function getSystemErrorName(errno) {
  require('internal/validators').validateNumber(errno, 'err');
  if (errno >= 0 || !Number.isSafeInteger(errno)) throw new codes.ERR_OUT_OF_RANGE('err', 'a negative integer', errno);
  return binding('util').systemError(errno)?.[0] ?? `Unknown system error ${errno}`;
}

function getSystemErrorMap() {
  const native = binding('util');
  return new Map(native.systemErrors().map((errno) => [errno, native.systemError(errno)]));
}

function styleText(styles, text) {
  validateString(text, 'text');
  let open = '';
  let close = '';
  for (const style of [styles].flat()) {
    const colour = inspect.colors[style];
    if (colour === undefined) require('internal/validators').validateOneOf(style, 'format', Object.keys(inspect.colors));
    open += `\u001b[${colour[0]}m`;
    close = `\u001b[${colour[1]}m${close}`;
  }
  return `${open}${text}${close}`;
}

const pad = (number) => String(number).padStart(2, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function log(...args) {
  const now = new Date();
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(pad).join(':');
  console.log('%s - %s', `${now.getDate()} ${MONTHS[now.getMonth()]} ${time}`, format(...args));
}

function _extend(target, source) {
  return source === null || typeof source !== 'object' ? target : Object.assign(target, source);
}

const isPrimitive = (value) => value === null || (typeof value !== 'object' && typeof value !== 'function');

module.exports = {
  _extend,
  aborted: functions.aborted,
  callbackify: functions.callbackify,
  debug: functions.debuglog,
  debuglog: functions.debuglog,
  deprecate: functions.deprecate,
  format,
  formatWithOptions,
  getSystemErrorMap,
  getSystemErrorName,
  inherits: functions.inherits,
  inspect,
  isArray: Array.isArray,
  isBoolean: (value) => typeof value === 'boolean',
  isBuffer: (value) => globalThis.Buffer?.isBuffer(value) ?? false,
  isDeepStrictEqual: (one, other) => require('internal/comparisons').isDeepStrictEqual(one, other),
  isNull: (value) => value === null,
  isNullOrUndefined: (value) => value === null || value === undefined,
  isNumber: (value) => typeof value === 'number',
  isString: (value) => typeof value === 'string',
  isSymbol: (value) => typeof value === 'symbol',
  isUndefined: (value) => value === undefined,
  isRegExp: types.isRegExp,
  isObject: (value) => value !== null && typeof value === 'object',
  isDate: types.isDate,
  isError: (value) => types.isNativeError(value) || value instanceof Error,
  isFunction: (value) => typeof value === 'function',
  isPrimitive,
  log,
  parseArgs: (config) => require('internal/parse_args').parseArgs(config),
  promisify: functions.promisify,
  stripVTControlCharacters,
  styleText,
  toUSVString,
  types,
};
// These belong to other parts, which are loaded only when asked for.
for (const name of ['MIMEType', 'MIMEParams']) {
  Object.defineProperty(module.exports, name, { get: () => require('internal/mime')[name], enumerable: true, configurable: true });
}
for (const name of ['TextDecoder', 'TextEncoder']) {
  Object.defineProperty(module.exports, name, { get: () => globalThis[name], enumerable: true, configurable: true });
}
