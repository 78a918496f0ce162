// A thousand sockets that do nothing cost no more than themselves, and a script that has better things to do is not held up.
'use strict';
const net = require('net');
const fs = require('fs');
// The loop keeps a descriptor for the day that there is no other.
const SPARE = 1;
const open = () => fs.readdirSync('/proc/self/fd').length;

const SOCKETS = 1000;
const before = open();
let connected = 0;
let timeouts = 0;
let closed = 0;

const server = net.createServer((socket) => {
  socket.setTimeout(300, () => {
    timeouts++;
    socket.destroy();
  });
  socket.on('close', () => {
    if (++closed < SOCKETS) return;
    console.log('timeouts', timeouts);
    server.close(() => setImmediate(() => setImmediate(() => console.log('left open', open() - before <= SPARE))));
  });
}).listen({ port: 0, host: '127.0.0.1', backlog: SOCKETS }, connect);

// A few at a time, as the queue of the listener has an end.
function connect() {
  for (let i = 0; i < 50; i++) {
    const socket = net.connect(server.address().port, '127.0.0.1', () => {
      if (++connected === SOCKETS) server.getConnections(() => console.log('connected', connected, 'are they held?', open() - before > SOCKETS));
      else if (connected % 50 === 0) connect();
    });
    socket.resume();
  }
}
