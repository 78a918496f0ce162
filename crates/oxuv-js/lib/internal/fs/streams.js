// ReadStream and WriteStream: files as streams. They are made by the functions of `fs`, which scripts may replace.
'use strict';

const { Readable, Writable, finished } = require('stream');
const { codes: { ERR_INVALID_ARG_TYPE, ERR_METHOD_NOT_IMPLEMENTED, ERR_OUT_OF_RANGE } } = require('internal/codes');
const { validateFunction, validateInteger } = require('internal/validators');
const { bytesOf, optionsOf, own, request, start, toPath } = require('internal/fs/util');

const { deprecate } = require('util');

const fs = require('fs');
const native = binding('fs');
const bufferClass = () => require('buffer').Buffer;
const handles = () => require('internal/fs/file_handle');

const kFs = Symbol('fs');
const kIsBusy = Symbol('isBusy');
const kIdle = Symbol('idle');

const HIGH_WATER_MARK = 64 * 1024;

// What a stream takes for `fs` when its file is a FileHandle.
function operationsOf(handle) {
  const pass = (promise, count, what, done) => promise.then((found) => process.nextTick(done, null, found[count], found[what]),
    (error) => process.nextTick(done, error, 0));
  return {
    open() { throw new ERR_METHOD_NOT_IMPLEMENTED('open()'); },
    close(fd, done) {
      handles().release(handle);
      handle.close().then(() => process.nextTick(done, null), (error) => process.nextTick(done, error));
    },
    read(fd, buffer, offset, length, position, done) { pass(handle.read(buffer, offset, length, position), 'bytesRead', 'buffer', done); },
    write(fd, buffer, offset, length, position, done) { pass(handle.write(buffer, offset, length, position), 'bytesWritten', 'buffer', done); },
    writev(fd, buffers, position, done) { pass(handle.writev(buffers, position), 'bytesWritten', 'buffers', done); },
  };
}

function takeFile(stream, path, options, flags) {
  const { fd } = options;
  if (fd === undefined || fd === null) {
    stream.fd = null;
    stream[kFs] = options.fs || fs;
    validateFunction(stream[kFs].open, 'options.fs.open');
    stream.path = typeof path === 'object' && path !== null && !ArrayBuffer.isView(path) ? toPath(path) : path;
    stream.flags = options.flags === undefined ? flags : options.flags;
    stream.mode = options.mode === undefined ? 0o666 : options.mode;
    toPath(stream.path);
  } else if (typeof fd === 'number') {
    stream[kFs] = options.fs || fs;
    stream.fd = fd;
  } else if (typeof fd === 'object' && fd instanceof handles().FileHandle) {
    if (options.fs) throw new ERR_METHOD_NOT_IMPLEMENTED('FileHandle with fs');
    stream[kFs] = operationsOf(fd);
    handles().hold(fd);
    fd.on('close', () => stream.close());
    stream.fd = fd.fd;
  } else {
    throw new ERR_INVALID_ARG_TYPE('options.fd', ['number', 'FileHandle'], fd);
  }
  options.autoDestroy = options.autoClose === undefined ? true : options.autoClose;
  if (options.autoDestroy) validateFunction(stream[kFs].close, 'options.fs.close');
  stream[kIsBusy] = false;
}

const checkPosition = (position, name) => validateInteger(position, name, 0);

// With what a script's object inherits.
function given(options) {
  if (typeof options !== 'object' || options === null) return optionsOf(options);
  const all = {};
  for (const name in options) all[name] = options[name];
  return optionsOf(all);
}

// Opens the file. A script may have put an `open` of its own in the place of ours: that tells by events.
function construct(done) {
  const stream = this;
  if (typeof stream.fd === 'number') {
    done();
    return;
  }
  if (stream.open !== openRead && stream.open !== openWrite) {
    const { emit } = stream;
    stream.emit = function(...args) {
      if (args[0] === 'open') {
        this.emit = emit;
        done();
      } else if (args[0] === 'error') {
        this.emit = emit;
        done(args[1]);
        return true;
      }
      return Reflect.apply(emit, this, args);
    };
    stream.open();
    return;
  }
  stream[kFs].open(stream.path, stream.flags, stream.mode, (error, fd) => {
    if (error) {
      done(error);
      return;
    }
    stream.fd = fd;
    done();
    stream.emit('open', fd);
    stream.emit('ready');
  });
}

// They are open already, or will be; these stand for old programs that call them.
const openRead = deprecate(() => {}, 'ReadStream.prototype.open() is deprecated', 'DEP0135');
const openWrite = deprecate(() => {}, 'WriteStream.prototype.open() is deprecated', 'DEP0135');

function destroy(error, done) {
  // What is under way has the file until its end.
  if (this[kIsBusy]) this.once(kIdle, (failure) => close(this, error || failure, done));
  else close(this, error, done);
}

function close(stream, error, done) {
  if (stream.fd === null || stream.fd === undefined) {
    done(error);
    return;
  }
  stream[kFs].close(stream.fd, (failure) => done(failure || error));
  stream.fd = null;
}

function ReadStream(path, options) {
  if (!(this instanceof ReadStream)) return new ReadStream(path, options);
  options = { highWaterMark: HIGH_WATER_MARK, ...given(options) };
  options.highWaterMark ??= HIGH_WATER_MARK;
  takeFile(this, path, options, 'r');
  validateFunction(this[kFs].read, 'options.fs.read');
  this.start = options.start;
  this.end = options.end ?? Infinity;
  this.pos = undefined;
  this.bytesRead = 0;
  if (this.start !== undefined) {
    checkPosition(this.start, 'start');
    this.pos = this.start;
  }
  if (this.end !== Infinity) {
    checkPosition(this.end, 'end');
    if (this.start !== undefined && this.start > this.end) throw new ERR_OUT_OF_RANGE('start', `<= "end" (here: ${this.end})`, this.start);
  }
  Reflect.apply(Readable, this, [options]);
  if (options.encoding) this.setEncoding(options.encoding);
  return undefined;
}
Object.setPrototypeOf(ReadStream.prototype, Readable.prototype);
Object.setPrototypeOf(ReadStream, Readable);

// Reads into memory of its own, which becomes the buffer as it is.
function readWhole(fd, length, position, done) {
  start(request(native.read, [fd, length, position ?? -1], 'read'), (error, bytes) => {
    if (error !== null) done(error, 0);
    else done(null, bytes.byteLength, bufferClass().from(bytes));
  });
}

function readPiece(stream, length, done) {
  const chosen = stream[kFs];
  if (chosen === fs && chosen.read === own.read && Number.isInteger(stream.fd)) {
    readWhole(stream.fd, length, stream.pos, done);
    return;
  }
  const buffer = bufferClass().allocUnsafeSlow(length);
  chosen.read(stream.fd, buffer, 0, length, stream.pos, (error, count, filled = buffer) => {
    if (error || count === filled.length) {
      done(error, count, filled);
      return;
    }
    // Much room for little would stay taken as long as the script has it.
    const fit = bufferClass().allocUnsafeSlow(count);
    fit.set(bytesOf(filled).subarray(0, count));
    done(null, count, fit);
  });
}

ReadStream.prototype._construct = construct;
ReadStream.prototype._destroy = destroy;
ReadStream.prototype.open = openRead;
ReadStream.prototype._read = function(size) {
  const length = Math.min(this.end - (this.pos ?? this.bytesRead) + 1, size);
  if (length <= 0) {
    this.push(null);
    return;
  }
  this[kIsBusy] = true;
  readPiece(this, length, (error, count, buffer) => {
    this[kIsBusy] = false;
    if (this.destroyed) {
      this.emit(kIdle, error);
    } else if (error) {
      if (this.autoClose) this.destroy(error);
      else fail(this, error);
    } else if (count > 0) {
      if (this.pos !== undefined) this.pos += count;
      this.bytesRead += count;
      this.push(buffer);
    } else {
      this.push(null);
    }
  });
};

// An error of a stream that stays open.
function fail(stream, error) {
  const state = stream._readableState;
  state.errored ??= error;
  if (state.errorEmitted) return;
  state.errorEmitted = true;
  stream.emit('error', error);
}

ReadStream.prototype.close = function(callback) {
  if (callback) finished(this, callback);
  this.destroy();
};

function WriteStream(path, options) {
  if (!(this instanceof WriteStream)) return new WriteStream(path, options);
  options = { ...given(options), decodeStrings: true };
  takeFile(this, path, options, 'w');
  const { write, writev } = this[kFs];
  if (!write && !writev) throw new ERR_INVALID_ARG_TYPE('options.fs.write', 'function', write);
  if (write) validateFunction(write, 'options.fs.write');
  if (writev) validateFunction(writev, 'options.fs.writev');
  // One of them is enough.
  if (!write) this._write = null;
  if (!writev) this._writev = null;
  this.start = options.start;
  this.pos = undefined;
  this.bytesWritten = 0;
  if (this.start !== undefined) {
    checkPosition(this.start, 'start');
    this.pos = this.start;
  }
  Reflect.apply(Writable, this, [options]);
  if (options.encoding) this.setDefaultEncoding(options.encoding);
  return undefined;
}
Object.setPrototypeOf(WriteStream.prototype, Writable.prototype);
Object.setPrototypeOf(WriteStream, Writable);

// How often a write may come back with nothing written.
const MOST_TRIES = 5;

// Has `write` called until all is written. `take(count)` moves on by so many bytes, and says how many are left.
function writeOn(stream, write, take, done, tries = 0) {
  write((error, count) => {
    if (error?.code === 'EAGAIN') {
      error = null;
      count = 0;
    }
    if (stream.destroyed || error) {
      done(error);
      return;
    }
    stream.bytesWritten += count;
    if (take(count) === 0) done();
    else if (count === 0 && tries === MOST_TRIES) done(new Error('write failed'));
    else writeOn(stream, write, take, done, count === 0 ? tries + 1 : 0);
  });
}

// Something is under way from now on; what is to be called at its end.
function begin(stream, done) {
  stream[kIsBusy] = true;
  return (error) => {
    stream[kIsBusy] = false;
    done(error);
    if (stream.destroyed) stream.emit(kIdle, error);
  };
}

WriteStream.prototype._construct = construct;
WriteStream.prototype._destroy = destroy;
WriteStream.prototype.open = openWrite;
WriteStream.prototype._write = function(data, encoding, done) {
  let position = this.pos;
  if (position !== undefined) this.pos += data.length;
  writeOn(this, (next) => this[kFs].write(this.fd, data, 0, data.length, position, next), (count) => {
    data = data.subarray(count);
    if (position !== undefined) position += count;
    return data.length;
  }, begin(this, done));
};

WriteStream.prototype._writev = function(pieces, done) {
  let chunks = pieces.map(({ chunk }) => chunk);
  let left = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  let position = this.pos;
  if (position !== undefined) this.pos += left;
  writeOn(this, (next) => this[kFs].writev(this.fd, chunks, position, next), (count) => {
    left -= count;
    if (position !== undefined) position += count;
    while (chunks.length > 0 && count >= chunks[0].length) count -= chunks.shift().length;
    if (count > 0) chunks = [chunks[0].subarray(count), ...chunks.slice(1)];
    return left;
  }, begin(this, done));
};

WriteStream.prototype.close = function(callback) {
  if (callback) {
    if (this.closed) {
      process.nextTick(callback);
      return;
    }
    this.on('close', callback);
  }
  if (!this.autoClose) this.on('finish', this.destroy);
  // What was written is to arrive.
  this.end();
};
WriteStream.prototype.destroySoon = WriteStream.prototype.end;

for (const [Class, state] of [[ReadStream, '_readableState'], [WriteStream, '_writableState']]) {
  Object.defineProperty(Class.prototype, 'autoClose', {
    get() { return this[state].autoDestroy; }, set(value) { this[state].autoDestroy = value; }, configurable: true,
  });
  Object.defineProperty(Class.prototype, 'pending', { get() { return this.fd === null; }, configurable: true });
}

module.exports = { ReadStream, WriteStream };
