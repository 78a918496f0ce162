'use strict';
const assert = require('assert');
const dgram = require('dgram');
const dns = require('dns');
const net = require('net');
const { check, rounds, once } = require('./harness');

check('localhost and numbers', async () => {
  assert.deepStrictEqual(await dns.promises.lookup('localhost', { family: 4 }), { address: '127.0.0.1', family: 4 });
  assert.deepStrictEqual(await dns.promises.lookup('127.0.0.7'), { address: '127.0.0.7', family: 4 });
  const all = await dns.promises.lookup('localhost', { all: true });
  assert(all.some(({ address }) => address === '127.0.0.1'));
  const many = await Promise.all(Array.from({ length: rounds(100, 2000) }, () => dns.promises.lookup('localhost', 4)));
  assert(many.every(({ address }) => address === '127.0.0.1'));
});

check('the name of an address and a port', async () => {
  assert.deepStrictEqual(await dns.promises.lookupService('127.0.0.1', 80), { hostname: 'localhost', service: 'http' });
});

check('names that are not there', async () => {
  const error = await dns.promises.lookup('name.invalid').catch((error) => error);
  assert.deepStrictEqual([['ENOTFOUND', 'EAI_AGAIN'].includes(error.code), error.syscall, error.hostname], [true, 'getaddrinfo', 'name.invalid']);
  await assert.rejects(dns.promises.lookup('bad name'), { syscall: 'getaddrinfo' });
});

check('questions to a server of one\'s own', async () => {
  const server = dgram.createSocket('udp4');
  let drop = 3;
  server.on('message', (query, from) => {
    if (drop-- > 0) return;
    const end = query.indexOf(0, 12) + 5;
    const head = Buffer.from(query.subarray(0, end));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 6);
    head.writeUInt16BE(0, 10);
    server.send(Buffer.concat([head, Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 10, 1, 2, query[13]])]), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const resolver = new dns.promises.Resolver({ timeout: 50, tries: 6 });
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
  assert.deepStrictEqual(await resolver.resolve4('a.example', { ttl: true }), [{ address: '10.1.2.97', ttl: 9 }]);
  const names = Array.from({ length: 100 }, (_, i) => String.fromCharCode(97 + i % 26));
  const answers = await Promise.all(names.map((name) => resolver.resolve4(`${name}.example`)));
  assert.deepStrictEqual(answers, names.map((name) => [`10.1.2.${name.charCodeAt(0)}`]));
  server.close();
  await once(server, 'close');
  await assert.rejects(resolver.resolve4('b.example'), { code: 'ECONNREFUSED' });
});

check('a connection by name', async () => {
  const server = net.createServer((socket) => socket.end()).listen(0, 'localhost');
  await once(server, 'listening');
  const socket = net.connect(server.address().port, 'localhost').resume();
  await once(socket, 'close');
  server.close();
});
