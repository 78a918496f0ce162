'use strict';
const assert = require('assert');
const cluster = require('cluster');
const dgram = require('dgram');
const http = require('http');
const { fork } = require('child_process');
const net = require('net');

const role = process.env.ROLE;
if (role) {
  if (role === 'http') {
    http.createServer((request, response) => {
      if (request.url === '/die') process.exit(7);
      response.end(String(cluster.worker.id));
    }).listen(0, '127.0.0.1');
  } else if (role === 'udp') {
    const socket = dgram.createSocket('udp4');
    socket.on('message', (message, from) => socket.send(`${cluster.worker.id}:${message}`, from.port, from.address));
    socket.bind(0, '127.0.0.1');
  } else {
    process.on('message', (message, handle) => {
      if (message === 'take') handle.end(`worker ${process.pid}`);
      else if (message === 'listen') handle.on('connection', (socket) => socket.end(`through ${process.pid}`));
      else if (message === 'udp') handle.once('message', (said, from) => handle.send(`got ${said}`, from.port, from.address, () => handle.close()));
      process.send('have');
    });
    process.send('ready');
  }
} else {
  const { check, rounds, once, collect, library } = require('./harness');
  const workers = 3;

  const start = (role, env = {}) => cluster.fork({ ROLE: role, ...env });
  const listening = (worker) => new Promise((resolve) => worker.once('listening', resolve));
  const gone = (worker) => new Promise((resolve) => worker.once('exit', (code, signal) => resolve([code, signal])));
  const get = (port, path = '/') => new Promise((resolve, reject) => {
    http.get({ port, host: '127.0.0.1', path, agent: false }, async (response) => resolve(String(await collect(response))))
      .on('error', reject);
  });

  for (const policy of [cluster.SCHED_RR, cluster.SCHED_NONE]) {
    const name = policy === cluster.SCHED_RR ? 'by the primary' : 'by shared sockets';
    check(`connections handed out ${name}`, async () => {
      cluster.schedulingPolicy = policy;
      const all = Array.from({ length: workers }, () => start('http'));
      const places = await Promise.all(all.map(listening));
      const { port } = places[0];
      assert(places.every((place) => place.port === port));
      assert.strictEqual(library(all[0].process.pid), process.env.OXUV_LIBRARY);
      const said = {};
      for (let i = 0; i < rounds(10, 50); i++) {
        for (const id of await Promise.all(Array.from({ length: 12 }, () => get(port)))) said[id] = (said[id] || 0) + 1;
      }
      assert.strictEqual(Object.values(said).reduce((a, b) => a + b), 12 * rounds(10, 50));
      assert(Object.keys(said).length >= (policy === cluster.SCHED_RR ? workers : 1));
      // One dies, another takes its place on the same port.
      await assert.rejects(get(port, '/die'), { code: 'ECONNRESET' });
      const dead = all.find((worker) => worker.isDead()) || await new Promise((resolve) => cluster.once('exit', resolve));
      assert.strictEqual(dead.process.exitCode, 7);
      const next = start('http');
      assert.strictEqual((await listening(next)).port, port);
      assert.match(await get(port), /^\d+$/);
      const ends = [...all.filter((worker) => worker !== dead), next];
      const codes = ends.map(gone);
      ends[0].kill('SIGTERM');
      for (const worker of ends.slice(1)) worker.disconnect();
      assert.deepStrictEqual((await codes[0]).filter(Boolean), ['SIGTERM']);
      for (const code of codes.slice(1)) assert.deepStrictEqual(await code, [0, null]);
    });
  }

  check('datagrams in a cluster', async () => {
    const all = Array.from({ length: workers }, () => start('udp'));
    const [{ port }] = await Promise.all(all.map(listening));
    const client = dgram.createSocket('udp4');
    for (let i = 0; i < 50; i++) {
      const back = once(client, 'message');
      client.send(String(i), port, '127.0.0.1');
      assert.match(String((await back)[0]), new RegExp(`^\\d+:${i}$`));
    }
    client.close();
    const codes = all.map(gone);
    for (const worker of all) worker.disconnect();
    await Promise.all(codes);
  });

  check('sockets, servers and datagram sockets passed to a worker', async () => {
    const worker = fork(__filename, { env: { ...process.env, ROLE: 'take' } });
    await once(worker, 'message');
    const send = async (message, handle) => {
      const have = once(worker, 'message');
      worker.send(message, handle);
      await have;
    };
    const accept = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(accept, 'listening');
    for (let i = 0; i < 20; i++) {
      const incoming = once(accept, 'connection');
      const client = net.connect(accept.address().port, '127.0.0.1');
      await send('take', await incoming);
      assert.strictEqual(String(await collect(client)), `worker ${worker.pid}`);
    }
    const { port } = accept.address();
    await send('listen', accept);
    await new Promise((resolve) => accept.close(resolve));
    assert.strictEqual(String(await collect(net.connect(port, '127.0.0.1'))), `through ${worker.pid}`);
    const socket = dgram.createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const place = socket.address().port;
    await send('udp', socket);
    socket.close();
    const client = dgram.createSocket('udp4');
    const back = once(client, 'message');
    client.send('hello', place, '127.0.0.1');
    assert.strictEqual(String((await back)[0]), 'got hello');
    client.close();
    const end = gone(worker);
    worker.kill();
    await end;
  });
}
