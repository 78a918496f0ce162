// The module `tty`: terminals.
'use strict';

const native = binding('tty');
const stdio = binding('stdio');
const { HandleInput } = require('internal/handle_input');
const { SyncOutput } = require('internal/sync_output');
const { codes, errnoException } = require('internal/codes');
const cursor = require('internal/cursor');
const { validateInteger } = require('internal/validators');

const EOF = -4095;

function isatty(fd) {
  return Number.isInteger(fd) && fd >= 0 && fd <= 2 ** 31 - 1 && native.isTerminal(fd);
}

function checkDescriptor(fd) {
  if (fd >> 0 !== fd || fd < 0) throw new codes.ERR_INVALID_FD(fd);
}

// Like an error of a system call, with the code of ours.
function initFailed(errno) {
  const [code, message] = binding('util').systemError(errno);
  const info = { errno, code, message, syscall: 'uv_tty_init' };
  const error = new codes.ERR_TTY_INIT_FAILED(info);
  Object.defineProperty(error, 'name', { value: 'SystemError', writable: true, enumerable: false, configurable: true });
  return Object.assign(error, { info, errno, syscall: info.syscall });
}

// What a terminal's handle is to a stream that reads.
function sourceOf(handle) {
  return {
    start(got) {
      handle.onread = (count, bytes) => (count < 0 && count !== EOF ? got(count) : got(0, bytes));
      return handle.readStart();
    },
    stop() { handle.readStop(); },
    ref() { handle.ref(); },
    unref() { handle.unref(); },
    close(callback) { handle.close(callback); },
  };
}

class TerminalInput extends HandleInput {
  #handle;

  constructor(fd, options) {
    checkDescriptor(fd);
    const handle = native.open(fd);
    if (typeof handle === 'number') throw initFailed(handle);
    super(fd, sourceOf(handle), { highWaterMark: 0, ...options });
    this.#handle = handle;
    this.isRaw = false;
    this.isTTY = true;
  }

  // Whether keys come one by one as they are typed, or as lines.
  setRawMode(isRaw) {
    isRaw = Boolean(isRaw);
    const errno = native.setRawMode(this.#handle, isRaw);
    if (errno !== 0) {
      this.emit('error', errnoException(errno, 'setRawMode'));
      return this;
    }
    this.isRaw = isRaw;
    return this;
  }
}

class TerminalOutput extends SyncOutput {
  constructor(fd) {
    checkDescriptor(fd);
    if (!native.isTerminal(fd)) throw initFailed(-22);
    super(fd);
    this.isTTY = true;
    const size = stdio.windowSize(fd);
    // A window of no size is one that nobody has set the size of.
    if (size !== undefined && size !== null && size[0] > 0) [this.columns, this.rows] = size;
  }

  _refreshSize() {
    const size = stdio.windowSize(this.fd);
    if (!size || (size[0] === this.columns && size[1] === this.rows)) return;
    [this.columns, this.rows] = size;
    this.emit('resize');
  }

  getWindowSize() { return [this.columns, this.rows]; }
  clearLine(direction, callback) { return cursor.clearLine(this, direction, callback); }
  clearScreenDown(callback) { return cursor.clearScreenDown(this, callback); }
  cursorTo(x, y, callback) { return cursor.cursorTo(this, x, y, callback); }
  moveCursor(dx, dy, callback) { return cursor.moveCursor(this, dx, dy, callback); }
  getColorDepth(env = process.env) { return require('internal/colours').depth(env); }

  hasColors(count, env) {
    if (env === undefined && (count === undefined || (typeof count === 'object' && count !== null))) [count, env] = [16, count];
    else validateInteger(count, 'count', 2);
    return count <= 2 ** this.getColorDepth(env);
  }
}

// As in Node, both may be called without `new`.
function ReadStream(fd, options) {
  return Reflect.construct(TerminalInput, [fd, options], new.target ?? ReadStream);
}
ReadStream.prototype = TerminalInput.prototype;
ReadStream.prototype.constructor = ReadStream;
Object.setPrototypeOf(ReadStream, TerminalInput);

function WriteStream(fd) {
  return Reflect.construct(TerminalOutput, [fd], new.target ?? WriteStream);
}
WriteStream.prototype = TerminalOutput.prototype;
WriteStream.prototype.constructor = WriteStream;
Object.setPrototypeOf(WriteStream, TerminalOutput);

module.exports = { isatty, ReadStream, WriteStream };
