// `process.stdin`.
'use strict';

const native = binding('stdio');
const EventEmitter = require('events');

const PIECE = 64 * 1024;

// A readable stream. It reads, and keeps the loop, only while somebody wants to hear.
class Input extends EventEmitter {
  #state = { isFlowing: null, hasEnd: false, endEmitted: false, isReading: false, isDestroyed: false };
  #decoder;
  #waiting = [];

  constructor() {
    super();
    this.fd = 0;
    const kind = native.kind(0);
    this._type = kind === 'tty' ? 'tty' : kind === 'pipe' ? 'pipe' : 'fs';
    if (kind === 'tty') {
      this.isTTY = true;
      this.isRaw = false;
    }
    this.isFile = kind !== 'tty' && kind !== 'pipe';
    Object.defineProperty(this, 'isFile', { enumerable: false });
  }

  get readable() { return !this.#state.endEmitted && !this.#state.isDestroyed; }
  get readableFlowing() { return this.#state.isFlowing; }
  get readableEnded() { return this.#state.endEmitted; }
  get readableLength() { return this.#waiting.reduce((sum, chunk) => sum + chunk.length, 0); }
  get readableEncoding() { return this.#decoder?.encoding ?? null; }
  get destroyed() { return this.#state.isDestroyed; }

  on(name, listener) {
    super.on(name, listener);
    if (name === 'data') {
      if (this.#state.isFlowing !== false && this.listenerCount('readable') === 0) this.resume();
    } else if (name === 'readable') {
      this.#state.isFlowing = false;
      process.nextTick(() => {
        if (this.#waiting.length > 0 || this.#state.hasEnd) this.emit('readable');
        this.#read();
      });
    }
    return this;
  }

  addListener(name, listener) { return this.on(name, listener); }

  setEncoding(encoding) {
    const { StringDecoder } = require('string_decoder');
    this.#decoder = new StringDecoder(encoding);
    this.#waiting = this.#waiting.map((chunk) => this.#decoder.write(chunk)).filter((text) => text !== '');
    return this;
  }

  isPaused() { return this.#state.isFlowing === false; }

  pause() {
    if (this.#state.isFlowing !== false) {
      this.#state.isFlowing = false;
      this.#stop();
      this.emit('pause');
    }
    return this;
  }

  resume() {
    if (this.#state.isFlowing) return this;
    this.#state.isFlowing = this.listenerCount('readable') === 0;
    process.nextTick(() => {
      if (!this.#state.isFlowing) return;
      this.emit('resume');
      this.#flow();
    });
    return this;
  }

  #flow() {
    while (this.#state.isFlowing && this.#waiting.length > 0) this.emit('data', this.#waiting.shift());
    if (!this.#state.isFlowing || this.#waiting.length > 0) return;
    if (this.#state.hasEnd) this.#emitEnd();
    else this.#read();
  }

  // All that has come, or so much of it.
  read(count) {
    const length = this.readableLength;
    if (count === 0 || length === 0 || (count > length && !this.#state.hasEnd)) {
      if (this.#state.hasEnd && length === 0) this.#emitEnd();
      else if (!this.#state.hasEnd) this.#read();
      return null;
    }
    const isText = typeof this.#waiting[0] === 'string';
    const all = isText ? this.#waiting.join('') : require('buffer').Buffer.concat(this.#waiting);
    const end = count === undefined ? length : Math.min(count, length);
    const rest = all.slice(end);
    this.#waiting = rest.length > 0 ? [rest] : [];
    if (this.#state.hasEnd && rest.length === 0) this.#emitEnd();
    const chunk = all.slice(0, end);
    this.emit('data', chunk);
    return chunk;
  }

  #emitEnd() {
    if (this.#state.endEmitted) return;
    this.#state.endEmitted = true;
    process.nextTick(() => {
      this.emit('end');
      // A file stays open for others.
      if (!this.isFile) this.emit('close');
    });
  }

  #read() {
    if (this.#state.isReading || this.#state.hasEnd || this.#state.isDestroyed) return;
    this.#state.isReading = true;
    if (!this.isFile && native.startReading((errno, bytes) => this.#got(errno, bytes))) return;
    this.isFile = true;
    binding('fs').read((errno, bytes) => {
      this.#state.isReading = false;
      this.#got(errno, bytes);
      if (this.#state.isFlowing || this.listenerCount('readable') > 0) this.#read();
    }, 0, PIECE, -1);
  }

  #stop() {
    if (!this.#state.isReading || this.isFile) return;
    this.#state.isReading = false;
    native.stopReading();
  }

  #got(errno, bytes) {
    if (errno !== 0) {
      this.#stop();
      this.#state.hasEnd = true;
      this.destroy(require('internal/codes').systemError({ errno, syscall: 'read' }));
      return;
    }
    let chunk;
    if (bytes.byteLength > 0) {
      chunk = require('buffer').Buffer.from(bytes);
      if (this.#decoder !== undefined) chunk = this.#decoder.write(chunk);
    } else {
      this.#stop();
      this.#state.hasEnd = true;
      chunk = this.#decoder?.end() ?? '';
    }
    if (chunk.length > 0) {
      if (this.#state.isFlowing && this.#waiting.length === 0) this.emit('data', chunk);
      else this.#waiting.push(chunk);
    }
    if (this.#state.isFlowing) {
      if (this.#state.hasEnd) this.#flow();
    } else if (this.listenerCount('readable') > 0) {
      this.emit('readable');
    }
  }

  destroy(error) {
    if (this.#state.isDestroyed) return this;
    this.#state.isDestroyed = true;
    this.#stop();
    process.nextTick(() => {
      if (error) this.emit('error', error);
      this.emit('close');
    });
    return this;
  }

  pipe(target, options) {
    this.on('data', (chunk) => {
      if (target.write(chunk) === false && target.writableNeedDrain) {
        this.pause();
        target.once('drain', () => this.resume());
      }
    });
    if (options?.end !== false && target !== process.stdout && target !== process.stderr) this.on('end', () => target.end());
    target.emit('pipe', this);
    return target;
  }

  unpipe() { return this; }
  ref() { return this; }
  unref() { return this; }
  setRawMode(isRaw) {
    this.isRaw = Boolean(isRaw);
    return this;
  }

  async* [Symbol.asyncIterator]() {
    const chunks = [];
    let wake;
    let failure;
    let isOver = false;
    const changed = () => { wake?.(); };
    this.on('end', () => { isOver = true; changed(); });
    this.on('error', (error) => { failure = error; isOver = true; changed(); });
    this.on('data', (chunk) => { chunks.push(chunk); changed(); });
    try {
      for (;;) {
        while (chunks.length > 0) yield chunks.shift();
        if (failure !== undefined) throw failure;
        if (isOver) return;
        await new Promise((resolve) => { wake = resolve; });
      }
    } finally {
      if (!isOver) this.destroy();
    }
  }
}

module.exports = new Input();
