// Two streams: what is written to the one is read from the other.
'use strict';

const { Duplex } = require('stream');

function half(other) {
  let taken;
  const stream = new Duplex({
    read() {
      const callback = taken;
      taken = undefined;
      callback?.();
    },
    write(chunk, encoding, callback) {
      if (chunk.length === 0) process.nextTick(callback);
      else other().take(chunk, callback);
    },
    final(callback) {
      other().once('end', callback);
      other().push(null);
    },
  });
  stream.take = (chunk, callback) => {
    taken = callback;
    stream.push(chunk);
  };
  return stream;
}

module.exports = function makeDuplexPair() {
  const clientSide = half(() => serverSide);
  const serverSide = half(() => clientSide);
  return { clientSide, serverSide };
};
