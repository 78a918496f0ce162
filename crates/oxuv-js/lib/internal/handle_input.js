// A readable stream over something that calls when bytes have come, such as a terminal. It reads, and keeps the loop, only while
// somebody wants to hear.
'use strict';

const { Readable } = require('stream');
const { errnoException } = require('internal/codes');

// A source has `start(got)`, `stop()`, `ref()`, `unref()` and `close(callback)`. It calls `got(errno, bytes)`; no bytes are
// the end.
class HandleInput extends Readable {
  #source;
  #isReading = false;
  #isReferenced = true;

  constructor(fd, source, options) {
    super({ highWaterMark: 16 * 1024, ...options });
    this.fd = fd;
    this.#source = source;
    Object.defineProperty(this, '_handle', { value: source, writable: true, enumerable: false, configurable: true });
    // A script that pauses may want to end: once it is certain, nothing is read.
    this.on('pause', () => process.nextTick(() => {
      if (this.isPaused() && this.#isReading) this.#stop();
    }));
  }

  _read() {
    if (this.#isReading || this.destroyed) return;
    this.#isReading = true;
    const errno = this.#source.start((errno, bytes) => this.#got(errno, bytes));
    if (errno !== 0) {
      this.#isReading = false;
      this.destroy(errnoException(errno, 'read'));
    } else if (!this.#isReferenced) {
      this.#source.unref();
    }
  }

  #stop() {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#source.stop();
    // Whoever wants more asks for it anew.
    this._readableState.reading = false;
  }

  #got(errno, bytes) {
    if (errno !== 0) {
      this.#stop();
      this.destroy(errnoException(errno, 'read'));
    } else if (bytes === undefined || bytes.byteLength === 0) {
      this.#stop();
      this.push(null);
      // With nothing left to read the end is at hand.
      this.read(0);
    } else if (!this.push(Buffer.from(bytes))) {
      this.#stop();
    }
  }

  _destroy(error, callback) {
    this.#stop();
    this.#source.close(() => callback(error));
  }

  ref() {
    this.#isReferenced = true;
    if (!this.destroyed) this.#source.ref();
    return this;
  }

  unref() {
    this.#isReferenced = false;
    if (!this.destroyed) this.#source.unref();
    return this;
  }
}

module.exports = { HandleInput };
