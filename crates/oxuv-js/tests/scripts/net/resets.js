// Peers that reset in mid-stream: each is an error and a close, and nothing stays open.
'use strict';
const net = require('net');
const fs = require('fs');
// The loop keeps a descriptor for the day that there is no other.
const SPARE = 1;
const open = () => fs.readdirSync('/proc/self/fd').length;

const PEERS = 60;
const before = open();
const events = { ECONNRESET: 0, EPIPE: 0, close: 0, failed: 0, end: 0 };

const server = net.createServer((socket) => {
  // More than the kernel takes, so that the reset meets a write under way.
  socket.write(Buffer.alloc(4 << 20));
  socket.on('data', () => {});
  socket.on('end', () => events.end++);
  socket.on('error', (error) => events[error.code]++);
  socket.on('close', (hasFailed) => {
    events.close++;
    if (hasFailed) events.failed++;
    if (events.close === PEERS) server.close();
  });
});

server.on('close', () => {
  // The descriptors are closed at once.
  console.log('errors', events.ECONNRESET + events.EPIPE === PEERS, 'closed', events.close, 'failed', events.failed, 'ends', events.end);
  setImmediate(() => console.log('left open', open() - before <= SPARE));
});

server.listen(0, '127.0.0.1', () => {
  for (let i = 0; i < PEERS; i++) {
    const peer = net.connect(server.address().port, '127.0.0.1', () => {
      peer.write('half a requ');
      peer.once('data', () => peer.resetAndDestroy());
    });
  }
});
