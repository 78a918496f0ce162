// Whole files, in the steps that Node takes: opened, asked for their size, read or written piece by piece, closed.
'use strict';

const native = binding('fs');
const { AbortError, codes: { ERR_FS_FILE_TOO_LARGE, ERR_INVALID_ARG_TYPE } } = require('internal/codes');
const { validateBoolean } = require('internal/validators');
const { bufferClass, bytesOf, optionsOf, request, start, sync } = require('internal/fs/util');
const { encode } = require('internal/fs/transfer');
const requests = require('internal/fs/requests');
const { nameOf, textOf, lengthOf } = require('internal/buffer_text');

const PIECE = 512 * 1024;
const PIECE_OF_UNKNOWN = 64 * 1024;
const MOST = 2 ** 31 - 1;

const isFd = (path) => typeof path === 'number' && Number.isInteger(path) && path >= 0;

function sizeOf(stats) {
  const size = stats.isFile() ? stats.size : 0;
  if (size > MOST) throw new ERR_FS_FILE_TOO_LARGE(size);
  return size;
}

// What is read so far of a file.
class Pieces {
  constructor(size) {
    this.size = size;
    this.read = 0;
    this.all = [];
  }

  request(fd) {
    const length = this.size === 0 ? PIECE_OF_UNKNOWN : Math.min(PIECE, this.size - this.read);
    return request(native.read, [fd, length, -1], 'read');
  }

  // True at the end.
  add(piece) {
    if (piece.byteLength > 0) this.all.push(new Uint8Array(piece));
    this.read += piece.byteLength;
    return piece.byteLength === 0 || this.read === this.size;
  }

  result(encoding) {
    let bytes = this.all[0] ?? new Uint8Array(0);
    if (this.all.length > 1) {
      bytes = new Uint8Array(this.read);
      let at = 0;
      for (const piece of this.all) {
        bytes.set(piece, at);
        at += piece.length;
      }
    }
    if (encoding && encoding !== 'buffer') return textOf(bytes, nameOf(encoding));
    return bufferClass().from(bytes.buffer, bytes.byteOffset, bytes.length);
  }
}

const readOptions = (options) => optionsOf(options, { flag: 'r' });

function readFileSync(path, options) {
  options = readOptions(options);
  const fd = isFd(path) ? path : sync(requests.open(path, options.flag, 0o666));
  try {
    const pieces = new Pieces(sizeOf(sync(requests.fstat(fd))));
    while (!pieces.add(sync(pieces.request(fd))));
    return pieces.result(options.encoding);
  } finally {
    if (!isFd(path)) sync(requests.close(fd));
  }
}

// Opens, has `work(fd, done)` do something, and closes.
function withFile(path, flag, mode, signal, work, done) {
  const aborted = () => signal?.aborted && new AbortError(undefined, { cause: signal.reason });
  if (isFd(path)) {
    process.nextTick(() => {
      const error = aborted();
      if (error) done(error);
      else work(path, done);
    });
    return;
  }
  const opening = requests.open(path, flag, mode);
  const early = aborted();
  if (early) {
    process.nextTick(done, early);
    return;
  }
  start(opening, (error, fd) => {
    if (error !== null) {
      done(error);
      return;
    }
    work(fd, (failure, value) => {
      start(requests.close(fd), (closing) => {
        const wrong = failure ?? closing;
        if (wrong !== null || value === undefined) done(wrong);
        else done(null, value);
      });
    });
  });
}

function readAll(fd, encoding, signal, done) {
  start(requests.fstat(fd), (error, stats) => {
    if (error !== null) {
      done(error);
      return;
    }
    let pieces;
    try {
      pieces = new Pieces(sizeOf(stats));
    } catch (tooLarge) {
      done(tooLarge);
      return;
    }
    const next = () => {
      if (signal?.aborted) {
        done(new AbortError(undefined, { cause: signal.reason }));
        return;
      }
      start(pieces.request(fd), (failure, piece) => {
        if (failure !== null) done(failure);
        else if (!pieces.add(piece)) next();
        else finish(() => pieces.result(encoding), done);
      });
    };
    next();
  });
}

function finish(make, done) {
  let value;
  try {
    value = make();
  } catch (error) {
    done(error);
    return;
  }
  done(null, value);
}

function readFile(path, options, done) {
  options = readOptions(options);
  withFile(path, options.flag, 0o666, options.signal, (fd, ready) => readAll(fd, options.encoding, options.signal, ready), done);
}

function writeOptions(options, flag) {
  options = optionsOf(options, { encoding: 'utf8', mode: 0o666, flag, flush: false });
  validateBoolean(options.flush ?? false, 'options.flush');
  return options;
}

// An object may still be written by a method `toString` of its own.
let warned = false;
function textOfObject(data) {
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data) || !Object.hasOwn(data, 'toString') ||
      typeof data.toString !== 'function') {
    return data;
  }
  if (!warned) {
    warned = true;
    process.emitWarning('Implicit coercion of objects with own toString property is deprecated.', 'DeprecationWarning', 'DEP0162');
  }
  return String(data);
}

function checkData(data) {
  if (typeof data !== 'string' && !ArrayBuffer.isView(data)) {
    throw new ERR_INVALID_ARG_TYPE('data', ['string', 'Buffer', 'TypedArray', 'DataView'], data);
  }
}

const payloadOf = (data, encoding) => (typeof data === 'string' ? encode(data, encoding || 'utf8') : bytesOf(data));

// What is left when so many bytes are written; undefined at the end.
function restOf(payload, written) {
  const length = typeof payload === 'string' ? lengthOf(payload, 'utf8') : payload.length;
  if (written >= length) return undefined;
  const bytes = typeof payload === 'string' ? new Uint8Array(binding('text').encode(payload)) : payload;
  return bytes.subarray(written);
}

const writing = (fd, payload) => request(native.write, [fd, payload, -1], 'write');

function writeFileSync(path, data, options, flag = 'w') {
  options = writeOptions(options, flag);
  data = textOfObject(data);
  checkData(data);
  const fd = isFd(path) ? path : sync(requests.open(path, options.flag, options.mode));
  try {
    let payload = payloadOf(data, options.encoding);
    while (payload !== undefined) payload = restOf(payload, sync(writing(fd, payload)));
    if (options.flush) sync(requests.fsync(fd));
  } finally {
    if (!isFd(path)) sync(requests.close(fd));
  }
}

function writeAll(fd, payload, { signal, flush }, done) {
  const next = () => {
    if (signal?.aborted) {
      done(new AbortError(undefined, { cause: signal.reason }));
      return;
    }
    start(writing(fd, payload), (error, written) => {
      if (error !== null) {
        done(error);
        return;
      }
      payload = restOf(payload, written);
      if (payload !== undefined) next();
      else if (flush) start(requests.fsync(fd), done);
      else done(null);
    });
  };
  next();
}

function writeFile(path, data, options, done, flag = 'w') {
  options = writeOptions(options, flag);
  data = textOfObject(data);
  checkData(data);
  const payload = payloadOf(data, options.encoding);
  withFile(path, options.flag, options.mode, options.signal, (fd, ready) => writeAll(fd, payload, options, ready), done);
}

module.exports = { readFile, readFileSync, writeFile, writeFileSync, readAll, writeAll, withFile, readOptions, writeOptions, checkData, payloadOf };
