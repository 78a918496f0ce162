// Agents: how many connections there are, who waits, and what becomes of them.
'use strict';

const http = require('http');

let connections = 0;
const server = http.createServer((request, response) => setTimeout(() => response.end(request.url), 5));
server.on('connection', () => connections++);

const sizes = (set) => Object.values(set).map((list) => list.length);

function get(agent, path) {
  return new Promise((resolve, reject) => {
    http.get({ port: server.address().port, host: '127.0.0.1', path, agent }, (response) => {
      response.resume();
      response.on('close', () => setImmediate(resolve, path));
    }).on('error', reject);
  });
}

async function several(options, count = 5) {
  connections = 0;
  const agent = new http.Agent(options);
  const asked = Promise.all(Array.from({ length: count }, (_, n) => get(agent, `/${n}`)));
  console.log(options);
  console.log('  in use', sizes(agent.sockets), 'waiting', sizes(agent.requests));
  await asked;
  await new Promise((resolve) => setTimeout(resolve, 20));
  console.log('  connections', connections, 'free', sizes(agent.freeSockets), 'in all', agent.totalSocketCount);
  agent.destroy();
  await new Promise((resolve) => setTimeout(resolve, 20));
  console.log('  after destroy', sizes(agent.freeSockets), sizes(agent.sockets), agent.totalSocketCount);
}

async function errors() {
  const agent = new http.Agent({ keepAlive: true });
  const hangUp = http.createServer((request) => request.socket.destroy());
  await new Promise((resolve) => hangUp.listen(0, '127.0.0.1', resolve));
  await new Promise((resolve) => {
    http.get({ port: hangUp.address().port, host: '127.0.0.1', agent })
      .on('error', ({ code, message }) => console.log(code, message)).on('close', resolve);
  });
  const { port } = hangUp.address();
  await new Promise((resolve) => hangUp.close(resolve));
  await new Promise((resolve) => {
    http.get({ port, host: '127.0.0.1', agent }).on('error', ({ code, syscall, address }) => console.log(code, syscall, address)).on('close', resolve);
  });
  const aborted = http.get({ port: server.address().port, host: '127.0.0.1', agent });
  await new Promise((resolve) => {
    aborted.on('error', ({ code, message }) => console.log(code, message)).on('close', resolve);
    aborted.destroy();
  });
  const late = http.get({ port: server.address().port, host: '127.0.0.1', agent, timeout: 1 });
  await new Promise((resolve) => {
    late.on('timeout', () => late.destroy(new Error('too late'))).on('error', ({ message }) => console.log(message)).on('close', resolve);
  });
  for (const wrong of [{ path: '/a b' }, { method: 'G T' }, { protocol: 'ftp:' }, { headers: { 'a b': 1 } }, { headers: { a: 'ä\n' } }, { agent: {} }]) {
    try {
      http.request(wrong);
    } catch ({ name, code, message }) {
      console.log(name, code, message);
    }
  }
}

async function main() {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await several({});
  await several({ keepAlive: true });
  await several({ keepAlive: true, maxSockets: 2 });
  await several({ keepAlive: true, maxSockets: 2, scheduling: 'fifo' });
  await several({ keepAlive: true, maxFreeSockets: 1 });
  await several({ keepAlive: true, maxTotalSockets: 3 });
  console.log(new http.Agent().getName({ host: 'a', port: 1, localAddress: 'b', family: 6 }));
  await errors();
  server.close(() => console.log('closed'));
}

main();
