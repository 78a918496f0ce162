// A half-open connection: one side has ended, the other one still speaks.
'use strict';
const net = require('net');
const log = console.log;

const server = net.createServer({ allowHalfOpen: true }, (socket) => {
  log('server: connection', socket.readyState, socket.pending, socket.connecting);
  socket.on('data', (data) => log('server: data', `${data}`));
  socket.on('end', () => {
    log('server: end', socket.readyState, socket.writable, socket.readable);
    socket.write('still here', () => log('server: written'));
    setTimeout(() => socket.end('bye', () => log('server: ended')), 20);
  });
  socket.on('finish', () => log('server: finish'));
});
server.listen(0, '127.0.0.1', () => {
  const client = net.connect({ port: server.address().port, host: '127.0.0.1' });
  log('client:', client.readyState, client.pending, client.connecting, client.bytesWritten);
  client.write('one', () => log('client: one written', client.bytesWritten));
  client.end('two');
  log('client:', client.readyState, client.writable, client.bytesWritten, client.writableLength);
  for (const name of ['connect', 'ready', 'end', 'finish', 'close']) {
    client.on(name, (...args) => log(`client: ${name}`, ...args, client.readyState));
  }
  client.on('data', (data) => log('client: data', `${data}`));
  client.on('close', () => server.close());
});
