'use strict';
const assert = require('assert');
const crypto = require('crypto');
const dgram = require('dgram');
const fs = require('fs');
const net = require('net');
const { check, rounds, once, collect, digest } = require('./harness');

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const closed = (server) => new Promise((resolve) => server.close(resolve));

for (const [name, where] of [['TCP', { port: 0, host: '127.0.0.1' }], ['IPv6', { port: 0, host: '::1' }], ['a pipe', { path: './echo.sock' }]]) {
  check(`echo over ${name}`, async () => {
    const server = net.createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
    server.listen(where);
    await once(server, 'listening');
    const target = where.path ? where : server.address();
    const to = where.path ? { path: where.path } : { port: target.port, host: target.address };
    await Promise.all(Array.from({ length: 20 }, async () => {
      const data = crypto.randomBytes(rounds(200000, 2000000));
      const socket = net.connect(to);
      const back = collect(socket);
      for (let i = 0; i < data.length; i += 50000) socket.write(data.subarray(i, i + 50000));
      socket.end();
      assert.strictEqual(digest(await back), digest(data));
      assert.strictEqual(socket.bytesWritten, data.length);
    }));
    await closed(server);
    if (where.path) assert(!fs.existsSync(where.path));
  });
}

check('errors by their names', async () => {
  const free = net.createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  const second = net.createServer().listen(port, '127.0.0.1');
  assert.strictEqual((await once(second, 'error')).code, 'EADDRINUSE');
  await closed(free);
  assert.strictEqual((await once(net.connect(port, '127.0.0.1'), 'error')).code, 'ECONNREFUSED');
  assert.strictEqual((await once(net.connect('./nowhere.sock'), 'error')).code, 'ENOENT');
  assert.strictEqual((await once(net.createServer().listen('./no/where'), 'error')).code, 'EACCES');
});

check('a reset is told', async () => {
  const server = net.createServer((socket) => socket.resetAndDestroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = net.connect(server.address().port, '127.0.0.1');
  assert.strictEqual((await once(socket, 'error')).code, 'ECONNRESET');
  await closed(server);
});

check('a writer is held back, and a paused reader gets all', async () => {
  let full = false;
  const server = net.createServer((socket) => {
    const block = Buffer.alloc(65536, 'x');
    let left = 400;
    const more = () => {
      while (left-- > 0) if (!socket.write(block)) { full = true; socket.once('drain', more); return; }
      socket.end();
    };
    more();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = net.connect(server.address().port, '127.0.0.1');
  await sleep(50);
  let got = 0;
  for await (const chunk of socket) {
    got += chunk.length;
    if (got % 7 === 0) await sleep(1);
  }
  assert.strictEqual(got, 400 * 65536);
  assert(full);
  await closed(server);
});

check('addresses, options, time-outs', async () => {
  const server = net.createServer({ noDelay: true, keepAlive: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const incoming = once(server, 'connection');
  const socket = net.connect({ port: server.address().port, host: 'localhost', family: 4, noDelay: true, keepAlive: true, localAddress: '127.0.0.1' });
  const peer = await incoming;
  await once(socket, 'connect');
  assert.deepStrictEqual([peer.remotePort, peer.remoteAddress, peer.remoteFamily], [socket.localPort, '127.0.0.1', 'IPv4']);
  const began = Date.now();
  socket.setTimeout(60);
  await once(socket, 'timeout');
  assert(Date.now() - began >= 55);
  socket.destroy();
  await once(peer.resume(), 'close');
  await closed(server);
});

check('two hundred connections at once', async () => {
  const server = net.createServer((socket) => socket.end(String(socket.remotePort))).listen(0, '127.0.0.1', 511);
  await once(server, 'listening');
  await Promise.all(Array.from({ length: 200 }, async () => {
    const socket = net.connect(server.address().port, '127.0.0.1');
    let port;
    socket.on('connect', () => port = socket.localPort);
    assert.strictEqual(Number(await collect(socket)), port);
  }));
  await closed(server);
});

check('datagrams there and back', async () => {
  const server = dgram.createSocket('udp4');
  server.on('message', (message, from) => server.send(message, from.port, from.address));
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const client = dgram.createSocket('udp4');
  client.connect(server.address().port, '127.0.0.1');
  await once(client, 'connect');
  for (let i = 0; i < rounds(200, 2000); i++) {
    const message = crypto.randomBytes(i * 37 % 9000);
    const back = once(client, 'message');
    client.send([message.subarray(0, 10), message.subarray(10)]);
    assert((await back)[0].equals(message));
  }
  assert(client.getRecvBufferSize() > 0 && client.getSendQueueSize() === 0);
  client.setTTL(3);
  client.close();
  server.close();
  await Promise.all([once(client, 'close'), once(server, 'close')]);
});

check('multicast on the loopback', async () => {
  const receiver = dgram.createSocket({ type: 'udp4', reuseAddr: true });
  receiver.bind(0);
  await once(receiver, 'listening');
  receiver.addMembership('239.1.2.3', '127.0.0.1');
  const sender = dgram.createSocket('udp4');
  sender.bind(0, '127.0.0.1');
  await once(sender, 'listening');
  sender.setMulticastInterface('127.0.0.1');
  sender.setMulticastLoopback(true);
  const got = once(receiver, 'message');
  sender.send('to all', receiver.address().port, '239.1.2.3');
  assert.strictEqual(String((await got)[0]), 'to all');
  receiver.dropMembership('239.1.2.3', '127.0.0.1');
  receiver.close();
  sender.close();
});

check('errors of datagrams', async () => {
  const socket = dgram.createSocket('udp4');
  assert.strictEqual((await new Promise((resolve) => socket.send(Buffer.alloc(70000), 9, '127.0.0.1', resolve))).code, 'EMSGSIZE');
  socket.connect(1, '127.0.0.1');
  await once(socket, 'connect');
  socket.send('x');
  assert.strictEqual((await once(socket, 'error')).code, 'ECONNREFUSED');
  socket.close();
});

check('closing while a connect is under way', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = Array.from({ length: 20 }, () => net.connect(server.address().port, '127.0.0.1'));
  for (const socket of sockets) socket.destroy();
  await Promise.all(sockets.map((socket) => once(socket, 'close')));
  await closed(server);
});
