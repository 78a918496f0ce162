// A peer sends more than there is memory for: that is an exception, and whoever deals with it can go on.
'use strict';
const net = require('net');

const kept = [];
const sockets = [];
process.once('uncaughtException', (error) => {
  kept.length = 0;
  console.log('uncaught', error?.message);
  server.close();
  for (const socket of sockets) socket.destroy();
});

const server = net.createServer((socket) => {
  sockets.push(socket);
  socket.on('data', (data) => kept.push(data));
}).listen(0, '127.0.0.1', () => {
  const piece = Buffer.alloc(65536);
  const peer = net.connect(server.address().port, '127.0.0.1');
  sockets.push(peer);
  const more = () => {
    while (peer.write(piece));
    peer.once('drain', more);
  };
  peer.on('error', () => {});
  peer.on('close', () => console.log('closed'));
  more();
});
