// What all forms of the functions of `fs` share: checks of arguments, requests, errors.
'use strict';

const { codes: { ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE }, AbortError, systemError } = require('internal/codes');
const { validateAbortSignal, validateFunction, validateInt32, validateInteger } = require('internal/validators');
const { isEncoding } = require('internal/buffer_text');
const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_SYNC, O_TRUNC, O_WRONLY } = require('internal/fs/constants');
const types = require('internal/types');

const isBytes = (value) => ArrayBuffer.isView(value) && types.internal.typedArrayName(value) === 'Uint8Array';

// Loaded when the first bytes come up: many scripts only handle text.
const bufferClass = () => require('buffer').Buffer;

function toPath(value, name = 'path') {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new ERR_INVALID_ARG_VALUE(name, value, 'must be a string or Uint8Array without null bytes');
    return value;
  }
  if (isBytes(value)) {
    if (Uint8Array.prototype.includes.call(value, 0)) {
      throw new ERR_INVALID_ARG_VALUE(name, value, 'must be a string or Uint8Array without null bytes');
    }
    return value;
  }
  if (typeof value === 'object' && value !== null && typeof value.href === 'string' && typeof value.protocol === 'string') {
    return toPath(require('url').fileURLToPath(value), name);
  }
  throw new ERR_INVALID_ARG_TYPE(name, ['string', 'Buffer', 'URL'], value);
}

function toFd(value) {
  if (Object.is(value, -0)) return 0;
  validateInt32(value, 'fd', 0);
  return value;
}

function checkEncoding(encoding) {
  if (encoding && encoding !== 'buffer' && !isEncoding(encoding)) {
    throw new ERR_INVALID_ARG_VALUE('encoding', encoding, 'is invalid encoding');
  }
}

function optionsOf(options, defaults = {}) {
  if (options === null || options === undefined || typeof options === 'function') return defaults;
  if (typeof options === 'string') {
    options = { ...defaults, encoding: options };
  } else if (typeof options === 'object') {
    options = { ...defaults, ...options };
  } else {
    throw new ERR_INVALID_ARG_TYPE('options', ['string', 'Object'], options);
  }
  checkEncoding(options.encoding);
  if (options.signal !== undefined) validateAbortSignal(options.signal, 'options.signal');
  return options;
}

const FLAGS = {
  r: O_RDONLY, rs: O_RDONLY | O_SYNC, sr: O_RDONLY | O_SYNC, 'r+': O_RDWR, 'rs+': O_RDWR | O_SYNC, 'sr+': O_RDWR | O_SYNC,
  w: O_TRUNC | O_CREAT | O_WRONLY, 'w+': O_TRUNC | O_CREAT | O_RDWR,
  a: O_APPEND | O_CREAT | O_WRONLY, 'a+': O_APPEND | O_CREAT | O_RDWR,
};
for (const [name, access] of [['', O_WRONLY], ['+', O_RDWR]]) {
  FLAGS[`wx${name}`] = FLAGS[`xw${name}`] = O_TRUNC | O_CREAT | O_EXCL | access;
  FLAGS[`ax${name}`] = FLAGS[`xa${name}`] = O_APPEND | O_CREAT | O_EXCL | access;
  FLAGS[`as${name}`] = FLAGS[`sa${name}`] = O_APPEND | O_CREAT | O_SYNC | access;
}

function toFlags(flags, name = 'flags') {
  if (typeof flags === 'number') {
    validateInt32(flags, name);
    return flags;
  }
  if (flags === null || flags === undefined) return O_RDONLY;
  if (!Object.hasOwn(FLAGS, flags)) throw new ERR_INVALID_ARG_VALUE(name, flags);
  return FLAGS[flags];
}

// A place in a file: negative is the file's own position.
function toPosition(position, length) {
  if (position === undefined || position === null) return -1;
  if (typeof position === 'bigint') {
    const last = 2n ** 63n - 1n - BigInt(length);
    if (position < -1n || position > last) throw new ERR_OUT_OF_RANGE('position', `>= -1 && <= ${last}`, position);
    return position;
  }
  if (typeof position !== 'number') throw new ERR_INVALID_ARG_TYPE('position', ['integer', 'bigint'], position);
  validateInteger(position, 'position', -1);
  return position;
}

// What bytes there are in anything that has bytes.
const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

// A request: the function of the loop's side and its arguments; `syscall`, `path` and `dest` for errors; `finish` makes
// the result of what comes back.
const request = (call, args, syscall, more = {}) => ({ call, args, syscall, ...more });

const shown = (path) => (path === undefined || typeof path === 'string' ? path : bufferClass().from(path).toString());

function errorOf(errno, { syscall, path, dest }) {
  const make = () => systemError({ errno, syscall, path: shown(path), dest: shown(dest) });
  try {
    return make();
  } catch (short) {
    // Where memory is short there may be none for the error. What is kept for that is given back when it is asked.
    return reasonOf(short) ?? make();
  }
}

// What was thrown, which is `null` where there was no memory for an error.
const reasonOf = (thrown) => process._own.reason(thrown);

function sync({ call, args, finish, ...rest }) {
  let value;
  try {
    value = call(undefined, ...args);
  } catch (error) {
    if (typeof error !== 'number') throw error;
    throw errorOf(error, rest);
  }
  return finish === undefined ? value : finish(value);
}

// Makes a request, and calls `done` with an error or `null`, and the result.
function start(made, done) {
  made.call((errno, value) => {
    if (errno !== 0) {
      done(errorOf(errno, made));
      return;
    }
    if (made.finish !== undefined) value = made.finish(value);
    if (value === undefined || value === null) done(null);
    else done(null, value);
  }, ...made.args);
}

function promised(made) {
  return new Promise((resolve, reject) => {
    start(made, (error, value) => { if (error === null) resolve(value); else reject(error); });
  });
}

function checkCallback(callback, name = 'cb') {
  validateFunction(callback, name);
  return callback;
}

// Names and paths come as text, or in another encoding from bytes.
const isRaw = (encoding) => Boolean(encoding) && encoding !== 'utf8' && encoding !== 'utf-8';
function nameOf(value, encoding) {
  if (value === undefined || value === null || !isRaw(encoding)) return value ?? undefined;
  const buffer = bufferClass().from(value);
  return encoding === 'buffer' ? buffer : buffer.toString(encoding);
}

function toTime(value, name = 'time') {
  if (typeof value === 'string' && value.trim() !== '' && +value == value) return +value;
  if (Number.isFinite(value)) return value < 0 ? Date.now() / 1000 : value;
  if (types.isDate(value)) return Date.prototype.getTime.call(value) / 1000;
  throw new ERR_INVALID_ARG_TYPE(name, ['Date', 'Time in seconds'], value);
}

function checkAborted(signal) {
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
}

// Functions of `fs` as they were before scripts could replace them.
const own = {};

module.exports = {
  own, shown, toPath, toFd, toFlags, toPosition, toTime, optionsOf, checkEncoding, bytesOf, isBytes, request, errorOf, reasonOf, sync, start, promised,
  checkCallback, isRaw, nameOf, checkAborted, bufferClass,
};
