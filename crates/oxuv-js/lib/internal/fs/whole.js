// Whole files, in the steps that Node takes: opened, asked for their size, read or written piece by piece, closed.
'use strict';

const native = binding('fs');
const { AbortError, codes: { ERR_FS_FILE_TOO_LARGE, ERR_INVALID_ARG_TYPE } } = require('internal/codes');
const { validateBoolean } = require('internal/validators');
const { bufferClass, bytesOf, errorOf, optionsOf, request, start, sync } = require('internal/fs/util');
const { encode } = require('internal/fs/transfer');
const requests = require('internal/fs/requests');
const { nameOf, textOf, lengthOf } = require('internal/buffer_text');

const PIECE = 512 * 1024;
const PIECE_OF_UNKNOWN = 64 * 1024;
const MOST = 2 ** 31 - 1;
const ENOMEM = -12;
// What is written at a time: another thread gets a copy of it.
const WRITE_PIECE = 8 * 1024 * 1024;

const isFd = (path) => typeof path === 'number' && Number.isInteger(path) && path >= 0;

function sizeOf(stats) {
  const size = stats.isFile() ? stats.size : 0;
  if (size > MOST) throw new ERR_FS_FILE_TOO_LARGE(size);
  return size;
}

// What is read so far of a file. If its size is known, all goes into one place as it comes; else it is put together in the end.
class Pieces {
  constructor(size) {
    this.size = size;
    this.read = 0;
    this.whole = undefined;
    this.all = [];
  }

  request(fd) {
    const length = this.size === 0 ? PIECE_OF_UNKNOWN : Math.min(PIECE, this.size - this.read);
    return request(native.read, [fd, length, -1], 'read');
  }

  // True at the end.
  add(piece) {
    if (this.size > PIECE) {
      this.whole ??= new Uint8Array(this.size);
      this.whole.set(new Uint8Array(piece), this.read);
    } else if (piece.byteLength > 0) {
      this.all.push(new Uint8Array(piece));
    }
    this.read += piece.byteLength;
    if (this.read > MOST) throw new ERR_FS_FILE_TOO_LARGE(this.read);
    return piece.byteLength === 0 || this.read === this.size;
  }

  #joined() {
    if (this.whole !== undefined) return this.read === this.size ? this.whole : this.whole.slice(0, this.read);
    if (this.all.length < 2) return this.all[0] ?? new Uint8Array(0);
    const bytes = new Uint8Array(this.read);
    let at = 0;
    for (const piece of this.all) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  // Whoever hears of an error may need the memory.
  drop() {
    this.whole = undefined;
    this.all = [];
  }

  // Nothing is kept here afterwards.
  result(encoding) {
    const bytes = this.#joined();
    this.drop();
    if (encoding && encoding !== 'buffer') return textOf(bytes, nameOf(encoding));
    return bufferClass().from(bytes.buffer, bytes.byteOffset, bytes.length);
  }
}

function readOptions(options) {
  options = { ...optionsOf(options) };
  options.flag ||= 'r';
  return options;
}

function readFileSync(path, options) {
  options = readOptions(options);
  const fd = isFd(path) ? path : sync(requests.open(path, options.flag, 0o666));
  let pieces;
  try {
    pieces = new Pieces(sizeOf(sync(requests.fstat(fd))));
    while (!pieces.add(sync(pieces.request(fd))));
    return pieces.result(options.encoding);
  } catch (error) {
    pieces?.drop();
    throw error ?? errorOf(ENOMEM, { syscall: 'read' });
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
        if (failure !== null) {
          pieces.drop();
          done(failure);
          return;
        }
        let result;
        try {
          if (pieces.add(piece)) result = pieces.result(encoding);
        } catch (wrong) {
          pieces.drop();
          // Without memory for an error the engine throws null.
          done(wrong ?? errorOf(ENOMEM, { syscall: 'read' }));
          return;
        }
        if (result === undefined) next();
        else done(null, result);
      });
    };
    next();
  });
}

function readFile(path, options, done) {
  options = readOptions(options);
  withFile(path, options.flag, 0o666, options.signal, (fd, ready) => readAll(fd, options.encoding, options.signal, ready), done);
}

function writeOptions(options, flag) {
  options = { ...optionsOf(options, { encoding: 'utf8', mode: 0o666, flush: false }) };
  options.flag ||= flag;
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

// What is written, piece by piece.
class Rest {
  #bytes;
  #most;
  #at = 0;

  constructor(payload, most) {
    this.#bytes = payload;
    this.#most = most;
  }

  // A text goes as it is; what it is in bytes matters if it is not written at once.
  #toBytes() {
    if (typeof this.#bytes === 'string') this.#bytes = new Uint8Array(binding('text').encode(this.#bytes));
  }

  request(fd) {
    if (this.#bytes.length > this.#most / 3) this.#toBytes();
    const piece = typeof this.#bytes === 'string' ? this.#bytes : this.#bytes.subarray(this.#at, this.#at + this.#most);
    return request(native.write, [fd, piece, -1], 'write');
  }

  // So many bytes are written. True at the end.
  add(count) {
    this.#at += count;
    if (typeof this.#bytes === 'string' && count >= lengthOf(this.#bytes, 'utf8')) return true;
    this.#toBytes();
    return this.#at >= this.#bytes.length;
  }
}

function writeFileSync(path, data, options, flag = 'w') {
  options = writeOptions(options, flag);
  data = textOfObject(data);
  checkData(data);
  const fd = isFd(path) ? path : sync(requests.open(path, options.flag, options.mode));
  try {
    const rest = new Rest(payloadOf(data, options.encoding), WRITE_PIECE);
    while (!rest.add(sync(rest.request(fd))));
    if (options.flush) sync(requests.fsync(fd));
  } finally {
    if (!isFd(path)) sync(requests.close(fd));
  }
}

function writeAll(fd, payload, { signal, flush }, done) {
  const rest = new Rest(payload, signal ? PIECE : WRITE_PIECE);
  const next = () => {
    if (signal?.aborted) {
      done(new AbortError(undefined, { cause: signal.reason }));
      return;
    }
    start(rest.request(fd), (error, written) => {
      if (error !== null) done(error);
      else if (!rest.add(written)) next();
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
