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

const accepted = [];
const server = net.createServer((socket) => {
  accepted.push(socket);
  socket.on('close', () => {
    if (++closed < SOCKETS) return;
    console.log('timeouts', timeouts);
    server.close(() => setImmediate(() => setImmediate(() => console.log('left open', open() - before <= SPARE))));
  });
  whenAllAreThere();
}).listen({ port: 0, host: '127.0.0.1', backlog: SOCKETS }, connect);

// A few at a time, as the queue of the listener has an end.
function connect() {
  for (let i = 0; i < 50; i++) {
    const socket = net.connect(server.address().port, '127.0.0.1', () => {
      if (++connected % 50 === 0 && connected < SOCKETS) connect();
      whenAllAreThere();
    });
    socket.resume();
  }
}

function whenAllAreThere() {
  if (connected < SOCKETS || accepted.length < SOCKETS) return;
  console.log('connected', connected, 'are they held?', open() - before >= 2 * SOCKETS);
  for (const socket of accepted) {
    socket.setTimeout(50, () => {
      timeouts++;
      socket.destroy();
    });
  }
}
