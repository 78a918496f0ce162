// Reading and writing at places of open files: arguments are checked, and become a request with one more field, `buffer`.
'use strict';

const native = binding('fs');
const { codes: { ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE } } = require('internal/codes');
const { validateInteger } = require('internal/validators');
const { bufferClass, bytesOf, checkEncoding, request, toFd, toPosition } = require('internal/fs/util');

const MOST = 2 ** 31 - 1;

function checkView(buffer, name = 'buffer') {
  if (!ArrayBuffer.isView(buffer)) throw new ERR_INVALID_ARG_TYPE(name, ['Buffer', 'TypedArray', 'DataView'], buffer);
}

function checkRange(offset, length, size) {
  if (offset < 0) throw new ERR_OUT_OF_RANGE('offset', '>= 0', offset);
  if (length < 0) throw new ERR_OUT_OF_RANGE('length', '>= 0', length);
  if (length > size - offset) throw new ERR_OUT_OF_RANGE('length', `<= ${size - offset}`, length);
}

// The arguments come one by one, or all or the last of them as an object.
function readArguments(count, buffer, offsetOrOptions, length, position) {
  let offset = offsetOrOptions;
  if (count < 2 && !ArrayBuffer.isView(buffer) && (buffer === undefined || typeof buffer === 'object')) {
    ({ buffer = bufferClass().alloc(16384), offset, length, position } = buffer ?? {});
  } else if (count < 3 && typeof offset !== 'number') {
    // What is no object here is taken for an empty one.
    ({ offset, length, position } = typeof offset === 'object' && offset !== null ? offset : {});
  }
  return { buffer, offset, length, position };
}

function read(fd, ...args) {
  fd = toFd(fd);
  let { buffer, offset, length, position } = readArguments(args.length, ...args);
  checkView(buffer);
  if (offset === undefined || offset === null) offset = 0;
  else validateInteger(offset, 'offset', 0);
  length = length === undefined || length === null ? buffer.byteLength - offset : length;
  if (typeof length !== 'number') throw new ERR_INVALID_ARG_TYPE('length', 'number', length);
  length |= 0;
  if (length === 0) return { buffer, isEmpty: true };
  if (buffer.byteLength === 0) throw new ERR_INVALID_ARG_VALUE('buffer', buffer, 'is empty and cannot be written');
  checkRange(offset, length, buffer.byteLength);
  const place = toPosition(position, length);
  return request(native.read, [fd, length, place], 'read', {
    buffer,
    finish(got) {
      bytesOf(buffer).set(new Uint8Array(got), offset);
      return got.byteLength;
    },
  });
}

function checkViews(buffers) {
  if (!Array.isArray(buffers)) throw new ERR_INVALID_ARG_TYPE('buffers', 'ArrayBufferView[]', buffers);
  for (const buffer of buffers) if (!ArrayBuffer.isView(buffer)) throw new ERR_INVALID_ARG_TYPE('buffers', 'ArrayBufferView[]', buffers);
}

const placeOf = (position) => (typeof position === 'number' ? position : -1);

function readv(fd, buffers, position) {
  fd = toFd(fd);
  checkViews(buffers);
  const length = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
  return request(native.read, [fd, length, placeOf(position)], 'read', {
    buffers,
    finish(got) {
      let at = 0;
      for (const buffer of buffers) {
        if (at >= got.byteLength) break;
        const part = new Uint8Array(got, at, Math.min(buffer.byteLength, got.byteLength - at));
        bytesOf(buffer).set(part);
        at += part.length;
      }
      return got.byteLength;
    },
  });
}

function write(fd, buffer, offsetOrOptions, length, position) {
  fd = toFd(fd);
  if (typeof buffer === 'string') return writeText(fd, buffer, offsetOrOptions, length);
  if (!ArrayBuffer.isView(buffer)) throw new ERR_INVALID_ARG_TYPE('buffer', ['string', 'Buffer', 'TypedArray', 'DataView'], buffer);
  let offset = offsetOrOptions;
  if (offset !== null && typeof offset === 'object') ({ offset = 0, length = buffer.byteLength - offset, position = null } = offsetOrOptions);
  if (offset === undefined || offset === null || typeof offset === 'function') offset = 0;
  else validateInteger(offset, 'offset', 0);
  if (typeof length !== 'number') length = buffer.byteLength - offset;
  if (offset > buffer.byteLength) throw new ERR_OUT_OF_RANGE('offset', `<= ${buffer.byteLength}`, offset);
  checkRange(offset, length, buffer.byteLength);
  require('internal/validators').validateInt32(length, 'length', 0, MOST);
  const bytes = bytesOf(buffer).subarray(offset, offset + length);
  return request(native.write, [fd, bytes, placeOf(position)], 'write', { buffer });
}

function writeText(fd, text, position, encoding) {
  encoding = typeof encoding === 'string' ? encoding : 'utf8';
  checkEncoding(encoding);
  if (encoding === 'hex' && text.length % 2 !== 0) {
    throw new ERR_INVALID_ARG_VALUE('encoding', encoding, `is invalid for data of length ${text.length}`);
  }
  return request(native.write, [fd, encode(text, encoding), placeOf(position)], 'write', { buffer: text });
}

// As the loop's side takes text: it makes UTF-8 of it by itself.
function encode(text, encoding) {
  const { nameOf, bytesOf: encoded } = require('internal/buffer_text');
  const name = nameOf(encoding);
  return name === 'utf8' ? text : encoded(text, name);
}

function writev(fd, buffers, position) {
  fd = toFd(fd);
  checkViews(buffers);
  return request(native.writev, [fd, buffers.map(bytesOf), placeOf(position)], 'write', { buffers });
}

module.exports = { read, readv, write, writev, encode };
