// Names with letters that are no ASCII are asked for as servers know them; those with a zero not at all.
'use strict';

const dgram = require('dgram');
const dns = require('dns');
const net = require('net');
const http = require('http');

const NAME = 'good.example\0.evil';
const server = dgram.createSocket('udp4');
server.on('message', (message) => console.log('asked for', JSON.stringify(message.toString('latin1', 12, message.length - 4))));
server.bind(0, '127.0.0.1', async () => {
  const resolver = new dns.Resolver({ timeout: 100, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
  for (const name of ['é.b', '_srv._tcp.example']) await new Promise((resolve) => resolver.resolve4(name, (error) => resolve(console.log(error.code, error.hostname))));
  for (const [what, ask] of Object.entries({
    'lookup': () => dns.lookup(NAME, () => {}),
    'resolve': () => resolver.resolve(NAME, () => {}),
    'resolveMx': () => resolver.resolveMx(NAME, () => {}),
    'promises.lookup': () => dns.promises.lookup(NAME),
    'promises.resolve4': () => dns.promises.resolve4(NAME),
    'net.connect': () => net.connect(1, NAME),
    'http.get': () => http.get({ host: NAME, port: 1, headers: { host: 'a' } }),
  })) {
    try {
      await ask();
      console.log('%s: asked', what);
    } catch (error) {
      console.log('%s: %s %s', what, error.code, error.message);
    }
  }
  const socket = dgram.createSocket('udp4');
  socket.send('a', 1, NAME, (error) => {
    console.log('send:', error.code);
    socket.close();
    server.close();
  });
});
