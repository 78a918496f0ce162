// A stream that writes at once: what a script has printed is out when its next line runs.
'use strict';

const native = binding('stdio');
const { Writable } = require('stream');
const { errnoException } = require('internal/codes');

class SyncOutput extends Writable {
  constructor(fd, options) {
    super({ decodeStrings: false, ...options });
    this.fd = fd;
  }

  _write(chunk, encoding, callback) {
    const errno = native.write(this.fd, typeof chunk === 'string' ? bytesOf(chunk, encoding) : chunk);
    callback(errno === 0 ? null : errnoException(errno, 'write'));
  }

  ref() { return this; }
  unref() { return this; }
}

// UTF-8 is made on the other side.
function bytesOf(text, encoding) {
  if (encoding === 'utf8' || encoding === 'utf-8') return text;
  return Buffer.from(text, encoding);
}

module.exports = { SyncOutput };
