// More connections than the limit of descriptors has room for: errors are events, what is there goes on, nothing stays open.
'use strict';
const net = require('net');
const fs = require('fs');
// The loop keeps a descriptor for the day that there is no other.
const SPARE = 1;
const open = () => fs.readdirSync('/proc/self/fd').length;

const PEERS = 300;
const before = open();
const codes = new Set();
let closed = 0;
let served = 0;

const server = net.createServer((socket) => {
  socket.on('error', (error) => codes.add(error.code));
  socket.end('x');
  served++;
  socket.resume();
});
server.on('error', (error) => codes.add(error.code));
server.listen(0, '127.0.0.1', () => {
  for (let i = 0; i < PEERS; i++) {
    const peer = net.connect(server.address().port, '127.0.0.1');
    peer.on('error', (error) => codes.add(error.code));
    peer.on('close', () => {
      if (++closed === PEERS) after();
    });
    peer.resume();
  }
});

// Whoever comes later is served as if nothing had been.
function after() {
  console.log('all closed; were there too many?', codes.has('EMFILE'), 'other errors', [...codes].filter((code) => !['EMFILE', 'ECONNRESET', 'EPIPE'].includes(code)));
  const late = net.connect(server.address().port, '127.0.0.1');
  late.on('data', (data) => console.log('late', `${data}`));
  late.on('close', () => server.close(() => setImmediate(() => console.log('left open', open() - before <= SPARE))));
}
