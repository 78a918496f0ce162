// A peer that does not read holds the writer up: `write` says so, memory does not grow, and all comes when it reads at last.
'use strict';
const net = require('net');

const PIECE = Buffer.alloc(64 << 10, 'a');
const PIECES = 800;
let most = 0;
let written = 0;

const server = net.createServer((socket) => {
  const more = () => {
    while (written < PIECES) {
      written++;
      const goesOn = socket.write(PIECE);
      most = Math.max(most, socket.writableLength);
      if (!goesOn) {
        socket.once('drain', more);
        return;
      }
    }
    socket.end();
  };
  more();
  server.close();
}).listen(0, '127.0.0.1', () => {
  const peer = net.connect(server.address().port, '127.0.0.1');
  peer.pause();
  setTimeout(() => {
    console.log('held up', written < PIECES, 'waiting', most <= 2 * PIECE.length, 'read', peer.bytesRead);
    let got = 0;
    peer.on('data', (data) => { got += data.length; });
    peer.resume();
    peer.on('end', () => console.log('all', got === PIECES * PIECE.length, 'most', most <= 2 * PIECE.length));
  }, 200);
});
