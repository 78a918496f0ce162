// Who observes connections and look-ups, and subscribes to what is made; and what keeps the loop running meanwhile.
'use strict';

const net = require('net');
const dns = require('dns');
const http = require('http');
const dgram = require('dgram');
const channels = require('diagnostics_channel');
const { PerformanceObserver } = require('perf_hooks');

const heard = [];
for (const name of ['net.client.socket', 'net.server.socket', 'udp.socket', 'http.client.request.start', 'http.client.response.finish',
  'http.server.request.start', 'http.server.response.finish']) {
  channels.channel(name).subscribe((message, from) => heard.push(`${from}: ${Object.keys(message)}`));
}
const entries = [];
const observer = new PerformanceObserver((list) => {
  for (const { name, entryType, detail } of list.getEntries()) entries.push(`${entryType} ${name}: ${Object.keys(detail).filter((key) => key !== 'order')}`);
});
observer.observe({ entryTypes: ['net', 'dns'] });

console.log(process.getActiveResourcesInfo());
setTimeout(() => {}, 1);
setTimeout(() => {}, 1000).unref();
setImmediate(() => {});
console.log(process.getActiveResourcesInfo());
dgram.createSocket('udp4').close();

const server = http.createServer((request, response) => response.end('text'));
server.listen(0, '127.0.0.1', () => {
  console.log(process.getActiveResourcesInfo().includes('TCPServerWrap'));
  const { port } = server.address();
  http.get({ port, host: '127.0.0.1', agent: false }, (response) => {
    response.resume().on('end', () => {
      server.close();
      dns.lookupService('127.0.0.1', port, () => {});
      dns.lookup('localhost', () => {
        setTimeout(() => {
          console.log([...new Set(heard)].sort());
          console.log(entries.sort());
        }, 50);
      });
    });
  });
});
