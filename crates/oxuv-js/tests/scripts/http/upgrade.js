// Other protocols that begin as HTTP: upgrades and tunnels, on both sides.
'use strict';

const http = require('http');
const net = require('net');

const server = http.createServer((request, response) => response.end('no upgrade'));
server.on('upgrade', (request, socket, head) => {
  console.log('upgrade', request.headers.upgrade, `${head}`);
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello ');
  socket.pipe(socket);
});
server.on('connect', (request, socket, head) => {
  console.log('connect', request.url, `${head}`);
  socket.end('HTTP/1.1 200 Connected\r\n\r\ntunnel');
});

function upgrade(next) {
  const request = http.request({
    port: server.address().port, host: '127.0.0.1', headers: { Connection: 'Upgrade', Upgrade: 'echo' },
  });
  request.on('upgrade', (response, socket, head) => {
    console.log(response.statusCode, response.headers.upgrade);
    let got = `${head}`;
    socket.on('data', (part) => { got += part; });
    socket.on('close', () => {
      console.log(got);
      next();
    });
    socket.end('and back');
  });
  request.end();
}

function tunnel(next) {
  const request = http.request({ port: server.address().port, host: '127.0.0.1', method: 'CONNECT', path: 'other:80' });
  request.on('connect', (response, socket, head) => {
    let got = `${head}`;
    socket.on('data', (part) => { got += part; });
    socket.on('end', () => {
      console.log(response.statusCode, got);
      socket.end();
      next();
    });
  });
  request.end();
}

// With the first bytes of the other protocol right behind the head.
function early(next) {
  const socket = net.connect(server.address().port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly');
  socket.end();
  socket.resume();
  socket.on('close', next);
}

// Nobody waits for it: a request as any other.
function withoutListener() {
  server.removeAllListeners('upgrade');
  http.get({ port: server.address().port, host: '127.0.0.1', headers: { Connection: 'Upgrade', Upgrade: 'echo' } }, (response) => {
    response.on('data', (part) => console.log(response.statusCode, `${part}`));
    response.on('end', () => server.close(() => console.log('closed')));
  });
}

server.listen(0, '127.0.0.1', () => upgrade(() => tunnel(() => early(withoutListener))));
