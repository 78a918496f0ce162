// `process.stdout` and `process.stderr`.
'use strict';

const native = binding('stdio');
const EventEmitter = require('events');

const codes = () => require('internal/codes').codes;
const isBytes = (value) => ArrayBuffer.isView(value) && value instanceof Uint8Array;

// A writable stream that writes at once: what a script has printed is out when the next line of it runs.
class Output extends EventEmitter {
  #state = { isEnded: false, isDestroyed: false, encoding: 'utf8', needsDrain: false };

  constructor(fd) {
    super();
    this.fd = fd;
    this._type = native.kind(fd) === 'tty' ? 'tty' : native.kind(fd) === 'pipe' ? 'pipe' : 'fs';
    if (this._type === 'tty') this.isTTY = true;
    this._isStdio = true;
  }

  get writable() { return !this.#state.isEnded && !this.#state.isDestroyed; }
  get writableEnded() { return this.#state.isEnded; }
  get writableFinished() { return this.#state.isEnded; }
  get writableLength() { return 0; }
  get writableHighWaterMark() { return 16384; }
  get writableNeedDrain() { return false; }
  get writableObjectMode() { return false; }
  get writableCorked() { return 0; }
  get destroyed() { return this.#state.isDestroyed; }

  write(chunk, encoding, callback) {
    if (typeof encoding === 'function') [encoding, callback] = [undefined, encoding];
    if (chunk === null) throw new (codes().ERR_STREAM_NULL_VALUES)();
    if (typeof chunk !== 'string' && !isBytes(chunk)) {
      throw new (codes().ERR_INVALID_ARG_TYPE)('chunk', ['string', 'Buffer', 'Uint8Array'], chunk);
    }
    if (this.#state.isEnded || this.#state.isDestroyed) {
      const error = this.#state.isEnded ? new (codes().ERR_STREAM_WRITE_AFTER_END)() : new (codes().ERR_STREAM_DESTROYED)('write');
      this.#fail(error, callback);
      return false;
    }
    const failed = native.write(this.fd, typeof chunk === 'string' ? this.#bytesOf(chunk, encoding ?? this.#state.encoding) : chunk);
    if (failed !== 0) {
      this.#fail(require('internal/codes').systemError({ errno: failed, syscall: 'write' }), callback);
      return false;
    }
    if (typeof callback === 'function') process.nextTick(callback, null);
    return true;
  }

  // UTF-8 is made on the other side.
  #bytesOf(text, encoding) {
    if (encoding === 'utf8' || encoding === 'buffer') return text;
    const { nameOf, bytesOf } = require('internal/buffer_text');
    const name = nameOf(encoding);
    if (name === undefined) throw new (codes().ERR_UNKNOWN_ENCODING)(encoding);
    return name === 'utf8' ? text : bytesOf(text, name);
  }

  // Who has a callback is told by it; else the listeners are, and without any the process.
  #fail(error, callback) {
    process.nextTick(() => {
      if (typeof callback === 'function') callback(error);
      if (typeof callback !== 'function' || this.listenerCount('error') > 0) this.emit('error', error);
    });
  }

  end(chunk, encoding, callback) {
    if (typeof chunk === 'function') [chunk, encoding, callback] = [undefined, undefined, chunk];
    else if (typeof encoding === 'function') [encoding, callback] = [undefined, encoding];
    if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
    if (typeof callback === 'function') {
      if (this.#state.isEnded) process.nextTick(callback);
      else this.once('finish', callback);
    }
    if (!this.#state.isEnded) {
      this.#state.isEnded = true;
      process.nextTick(() => this.emit('finish'));
    }
    return this;
  }

  // The descriptor stays open: others of this process write to it as well.
  destroy(error) {
    if (this.#state.isDestroyed) return this;
    this.#state.isDestroyed = true;
    process.nextTick(() => {
      if (error) this.emit('error', error);
      this.emit('close');
    });
    return this;
  }

  destroySoon() { this.destroy(); }
  cork() {}
  uncork() {}
  ref() { return this; }
  unref() { return this; }
  setDefaultEncoding(encoding) {
    this.#state.encoding = `${encoding}`.toLowerCase();
    return this;
  }
}

// What only terminals can do.
class TerminalOutput extends Output {
  get columns() { return native.windowSize(this.fd)?.[0]; }
  get rows() { return native.windowSize(this.fd)?.[1]; }
  getWindowSize() { return [this.columns, this.rows]; }

  getColorDepth(env = process.env) {
    if (env.FORCE_COLOR !== undefined) return { 0: 1, 2: 8, 3: 24 }[env.FORCE_COLOR] ?? 4;
    if (env.NODE_DISABLE_COLORS || env.NO_COLOR || env.TERM === 'dumb') return 1;
    if (/^(truecolor|24bit)$/.test(env.COLORTERM ?? '')) return 24;
    if (/-256(color)?$/.test(env.TERM ?? '')) return 8;
    return env.COLORTERM || /^(xterm|screen|tmux|rxvt|vt100|linux|cygwin|ansi|color)/i.test(env.TERM ?? '') ? 4 : 1;
  }

  hasColors(count = 16, env = undefined) {
    if (typeof count === 'object' && count !== null) [count, env] = [16, count];
    return count <= 2 ** this.getColorDepth(env);
  }

  clearLine(direction, callback) { return this.write(`\x1b[${direction < 0 ? 1 : direction > 0 ? 0 : 2}K`, callback); }
  clearScreenDown(callback) { return this.write('\x1b[0J', callback); }
  cursorTo(x, y, callback) {
    if (typeof y === 'function') [y, callback] = [undefined, y];
    return this.write(typeof y === 'number' ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`, callback);
  }

  moveCursor(dx, dy, callback) {
    const part = (count, more, less) => (count > 0 ? `\x1b[${count}${more}` : count < 0 ? `\x1b[${-count}${less}` : '');
    return this.write(`${part(dx, 'C', 'D')}${part(dy, 'B', 'A')}`, callback);
  }
}

const output = (fd) => (native.kind(fd) === 'tty' ? new TerminalOutput(fd) : new Output(fd));

module.exports = { output };
