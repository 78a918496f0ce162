// `process.stdout` and `process.stderr`.
'use strict';

const native = binding('stdio');

// What the console writes to while nobody has asked for the stream: nothing more is loaded for a line of text.
function plain(fd) {
  const kind = native.kind(fd);
  return {
    isTTY: kind === 'tty',
    getColorDepth: (env = process.env) => require('internal/colours').depth(env),
    write(text) { native.write(fd, text); },
  };
}

function output(fd) {
  const { SyncOutput } = require('internal/sync_output');
  const kind = native.kind(fd);
  let stream;
  if (kind === 'tty') {
    const { WriteStream } = require('tty');
    stream = new WriteStream(fd);
    stream._type = 'tty';
    process.on('SIGWINCH', () => stream._refreshSize());
  } else {
    stream = new SyncOutput(fd);
    stream._type = kind === 'pipe' ? 'pipe' : 'fs';
  }
  stream._isStdio = true;
  // The descriptor stays open, and the stream comes to life again: others of this process write to it as well.
  stream.destroySoon = stream.destroy;
  stream._destroy = function(error, callback) {
    callback(error);
    this._undestroy();
    if (!this._writableState.emitClose) process.nextTick(() => this.emit('close'));
  };
  return stream;
}

module.exports = { output, plain };
