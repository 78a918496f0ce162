// A thousand connections that do nothing: requests go on beside them, and none is left behind.
'use strict';

const http = require('http');
const net = require('net');
const fs = require('fs');

const COUNT = 1000;
const open = () => fs.readdirSync('/proc/self/fd').length;
// One is kept in reserve from the first server on.
const before = open() + 1;
const server = http.createServer((request, response) => response.end('here'));
const idle = [];
let closed = 0;

server.listen(0, '127.0.0.1', () => {
  let connected = 0;
  for (let n = 0; n < COUNT; n++) {
    const socket = net.connect(server.address().port, '127.0.0.1');
    idle.push(socket);
    socket.on('error', () => {});
    socket.on('close', () => { closed++; });
    // Half of them have made a request.
    if (n % 2 === 0) socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.once(n % 2 === 0 ? 'data' : 'connect', () => { if (++connected === COUNT) setImmediate(ask); });
  }
});

function ask() {
  http.get({ port: server.address().port, host: '127.0.0.1' }, (response) => {
    response.on('data', (text) => console.log(`${text}`));
    response.on('end', () => {
      server.closeIdleConnections();
      setTimeout(() => {
        console.log('after closeIdleConnections:', closed);
        server.closeAllConnections();
        server.close(() => setTimeout(() => console.log('after closeAllConnections:', closed, 'descriptors left:', open() - before), 50));
      }, 100);
    });
  });
}
