// `process.stdin`.
'use strict';

const native = binding('stdio');
const { HandleInput } = require('internal/handle_input');

const PIECE = 64 * 1024;
const EBADF = -9;

// Pipes, sockets and what else can be waited for.
const polled = {
  isClosed: false,

  start(got) {
    if (this.isClosed) return EBADF;
    return native.startReading(got) ? 0 : fromFile.start(got);
  },
  stop() {
    native.stopReading();
    fromFile.stop();
  },
  ref() { native.setReferenced(true); },
  unref() { native.setReferenced(false); },
  close(callback) {
    this.isClosed = true;
    this.stop();
    if (callback !== undefined) process.nextTick(callback);
  },
};

// A file is read piece by piece in the pool.
const fromFile = {
  got: undefined,
  isUnderWay: false,
  // What has come after a stop, for the next start.
  kept: undefined,

  start(got) {
    this.got = got;
    if (this.kept !== undefined) process.nextTick(() => this.give(...this.kept));
    else if (!this.isUnderWay) this.read();
    return 0;
  },

  stop() { this.got = undefined; },

  read() {
    this.isUnderWay = true;
    const buffer = Buffer.allocUnsafeSlow(PIECE);
    require('fs').read(0, buffer, 0, PIECE, null, (error, count) => {
      this.isUnderWay = false;
      this.give(error ? error.errno : 0, error ? undefined : buffer.subarray(0, count));
    });
  },

  give(errno, bytes) {
    if (this.got === undefined) {
      this.kept = [errno, bytes];
      return;
    }
    this.kept = undefined;
    this.got(errno, bytes);
    if (this.got !== undefined && !this.isUnderWay) this.read();
  },

  ref() {},
  unref() {},
  close(callback) {
    this.stop();
    if (callback !== undefined) process.nextTick(callback);
  },
};

function make() {
  const kind = native.kind(0);
  if (kind === 'tty') {
    const { ReadStream } = require('tty');
    return new ReadStream(0);
  }
  if (kind === 'directory') {
    // There is nothing in it to read.
    const { Readable } = require('stream');
    const empty = new Readable({ read() {} });
    empty.push(null);
    return empty;
  }
  if (kind === 'pipe') return new HandleInput(0, polled);
  // The file stays open for others.
  return new HandleInput(0, kind === 'file' ? fromFile : polled, { highWaterMark: PIECE, autoDestroy: false, emitClose: false });
}

const stdin = make();
stdin._type = { tty: 'tty', pipe: 'pipe' }[native.kind(0)] ?? 'fs';
module.exports = stdin;
