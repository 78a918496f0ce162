// Peers that are slow, endless or gone: each is got rid of in its way, and leaves no descriptor.
'use strict';

const http = require('http');
const net = require('net');
const fs = require('fs');

const open = () => fs.readdirSync('/proc/self/fd').length;
// One is kept in reserve from the first server on.
const before = open() + 1;
const events = [];
const server = http.createServer({
  headersTimeout: 150, requestTimeout: 300, keepAliveTimeout: 100, connectionsCheckingInterval: 25,
}, (request, response) => {
  request.on('error', (error) => events.push(`request ${error.code}`));
  response.on('close', () => events.push(`response ${response.writableFinished ? 'finished' : 'cut'}`));
  if (request.url === '/endless') {
    let count = 0;
    request.on('data', (part) => {
      count += part.length;
      if (count > 1 << 18) request.destroy();
    });
  } else if (request.url === '/stream') {
    response.write('x'.repeat(1 << 16));
  } else {
    request.resume();
    request.on('end', () => response.end('done'));
  }
});

// Opens a connection, and tells how it ended.
function peer(use) {
  events.length = 0;
  return new Promise((resolve) => {
    const socket = net.connect(server.address().port, '127.0.0.1', () => use(socket));
    let got = '';
    const timers = [];
    socket.every = (ms, text) => timers.push(setInterval(() => socket.write(text), ms));
    socket.on('data', (part) => { got += part; });
    socket.on('error', () => {});
    socket.on('close', () => {
      for (const timer of timers) clearInterval(timer);
      setTimeout(() => resolve(`${got.split('\r\n')[0].slice(0, 50)} [${events}]`), 20);
    });
  });
}

const HEAD = ' HTTP/1.1\r\nHost: a\r\n';

async function main() {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  console.log('silent:', await peer(() => {}));
  console.log('half a head:', await peer((socket) => socket.write(`GET /${HEAD}`)));
  console.log('a head in drops:', await peer((socket) => {
    socket.write(`GET /${HEAD}`);
    socket.every(20, 'A: b\r\n');
  }));
  console.log('a body in drops:', await peer((socket) => {
    socket.write(`POST /${HEAD}Content-Length: 1000\r\n\r\n`);
    socket.every(20, 'x');
  }));
  console.log('endless fields:', await peer((socket) => {
    socket.write(`GET /${HEAD}`);
    socket.every(1, 'A: bbbbbbbbbbbbbbbbbbbbbbb\r\n'.repeat(100));
  }));
  console.log('an endless body:', await peer((socket) => {
    socket.write(`POST /endless${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    socket.every(1, `8000\r\n${'x'.repeat(0x8000)}\r\n`.repeat(10));
  }));
  console.log('idle after a request:', await peer((socket) => socket.write(`GET /${HEAD}\r\n`)));
  console.log('reset while it gets:', await peer((socket) => {
    socket.write(`GET /stream${HEAD}\r\n`);
    socket.once('data', () => socket.resetAndDestroy());
  }));
  console.log('reset while it sends:', await peer((socket) => {
    socket.write(`POST /${HEAD}Content-Length: 1000\r\n\r\nabc`);
    setTimeout(() => socket.resetAndDestroy(), 20);
  }));
  server.close(() => setTimeout(() => console.log('closed, descriptors left:', open() - before), 20));
}

main();
