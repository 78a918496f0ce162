'use strict';
const assert = require('assert');
const fs = require('fs');
const http = require('http');
const https = require('https');
const crypto = require('crypto');
const { check, rounds, once, collect, digest } = require('./harness');

const listen = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
// The fetch of this Node warns that it is new.
process.removeAllListeners('warning');
const closed = (server) => new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));

function echo(request, response) {
  const hash = crypto.createHash('sha256');
  request.on('data', (chunk) => hash.update(chunk));
  request.on('end', () => {
    const size = Number(new URL(request.url, 'http://x').searchParams.get('size') || 0);
    response.setHeader('x-sum', hash.digest('hex'));
    response.end(Buffer.alloc(size, request.url));
  });
}

function ask(module, options, body) {
  return new Promise((resolve, reject) => {
    const request = module.request(options, async (response) => {
      try {
        resolve({ response, body: await collect(response), reused: request.reusedSocket });
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function load(module, port, extra, clients, requests) {
  const agent = new module.Agent({ keepAlive: true, maxSockets: clients, ...extra });
  let reused = 0;
  await Promise.all(Array.from({ length: clients }, async (_, client) => {
    for (let i = 0; i < requests; i++) {
      const body = crypto.randomBytes((client * 7919 + i * 104729) % 70000);
      const size = (client * 31 + i * 7) * 97 % 100000;
      const path = `/c${client}/${i}?size=${size}`;
      const answer = await ask(module, { port, host: '127.0.0.1', path, agent, method: 'POST' }, body);
      assert.strictEqual(answer.response.statusCode, 200);
      assert.strictEqual(answer.response.headers['x-sum'], digest(body));
      assert(answer.body.equals(Buffer.alloc(size, path)));
      reused += answer.reused ? 1 : 0;
    }
  }));
  agent.destroy();
  return reused;
}

check('http under load with keep-alive', async () => {
  const server = http.createServer(echo);
  let connections = 0;
  server.on('connection', () => connections++);
  const port = await listen(server);
  const clients = 50, requests = rounds(10, 60);
  const reused = await load(http, port, {}, clients, requests);
  assert(connections <= clients, `${connections} connections`);
  assert.strictEqual(reused, clients * requests - connections);
  await closed(server);
});

check('https under load with keep-alive', async () => {
  const server = https.createServer({ key: fs.readFileSync('key.pem'), cert: fs.readFileSync('cert.pem') }, echo);
  const port = await listen(server);
  const trust = { ca: fs.readFileSync('cert.pem'), servername: 'localhost' };
  const reused = await load(https, port, trust, 10, rounds(5, 30));
  assert(reused >= 10 * rounds(4, 29));
  await closed(server);
});

check('pipelined requests are answered in order', async () => {
  const server = http.createServer((request, response) => {
    setTimeout(() => response.end(request.url), request.url === '/0' ? 30 : 0);
  });
  const port = await listen(server);
  const socket = require('net').connect(port, '127.0.0.1');
  socket.write(Array.from({ length: 20 }, (_, i) =>
    `GET /${i} HTTP/1.1\r\nhost: x\r\n${i === 19 ? 'connection: close\r\n' : ''}\r\n`).join(''));
  const said = String(await collect(socket));
  assert.deepStrictEqual(said.match(/\r\n\/\d+/g).map((s) => Number(s.slice(3))), Array.from({ length: 20 }, (_, i) => i));
  await closed(server);
});

check('a streamed body of many megabytes, with a slow reader', async () => {
  const size = rounds(8, 64) * 1048576;
  const block = crypto.randomBytes(65536);
  const server = http.createServer(async (request, response) => {
    for (let sent = 0; sent < size; sent += block.length) {
      if (!response.write(block)) await once(response, 'drain');
    }
    response.end();
  });
  const port = await listen(server);
  const response = await once(http.get({ port, host: '127.0.0.1', agent: false }), 'response');
  let got = 0, pauses = 0;
  for await (const chunk of response) {
    for (let i = 0; i < chunk.length; i += 4096) {
      assert.strictEqual(chunk[i], block[(got + i) % block.length]);
    }
    got += chunk.length;
    if (++pauses % 200 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.strictEqual(got, size);
  await closed(server);
});

check('clients that go away in the middle', async () => {
  let gone = 0;
  const server = http.createServer((request, response) => {
    response.write('begin');
    response.on('close', () => gone += response.writableFinished ? 0 : 1);
  });
  const port = await listen(server);
  await Promise.all(Array.from({ length: 30 }, async () => {
    const request = http.get({ port, host: '127.0.0.1', agent: false });
    const response = await once(request, 'response');
    await once(response, 'data');
    response.on('error', () => {});
    request.destroy();
  }));
  for (let i = 0; i < 200 && gone < 30; i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.strictEqual(gone, 30);
  await closed(server);
});

check('timeouts of a server and of a client', async () => {
  const server = http.createServer(() => {});
  server.headersTimeout = 100;
  server.connectionsCheckingInterval = 20;
  const port = await listen(server);
  const request = http.get({ port, host: '127.0.0.1', agent: false, timeout: 50 });
  await once(request, 'timeout');
  request.destroy();
  await once(request, 'error').catch(() => {});
  server.closeAllConnections();
  await closed(server);
});

check('an upgrade to a protocol of one\'s own', async () => {
  const server = http.createServer();
  server.on('upgrade', (request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  const port = await listen(server);
  const request = http.get({ port, host: '127.0.0.1', agent: false, headers: { connection: 'upgrade', upgrade: 'echo' } });
  const [, socket] = await once(request, 'upgrade');
  socket.end('hello');
  assert.strictEqual(String(await collect(socket)), 'hello');
  await closed(server);
});

check('fetch', async () => {
  const server = http.createServer(echo);
  const port = await listen(server);
  const answer = await fetch(`http://127.0.0.1:${port}/f?size=1000`, { method: 'POST', body: 'abc' });
  assert.strictEqual(answer.headers.get('x-sum'), digest('abc'));
  assert.strictEqual((await answer.text()).length, 1000);
  server.closeAllConnections();
  await closed(server);
});
