// What comes in which order, of a connection and a few writes.
'use strict';
const net = require('net');
const log = console.log;
const s = net.createServer((c) => {
  log('connection'); process.nextTick(() => log('tick in connection')); Promise.resolve().then(() => log('promise in connection'));
  c.once('readable', () => { log('readable'); log(`${c.read()}`); process.nextTick(() => log('tick in readable')); setImmediate(() => log('immediate from read')); c.end('x'); log('ended'); c.once('finish', () => log('s finish')); c.once('close', () => log('s close')); });
});
s.on('close', () => log('server close'));
s.listen(0, '127.0.0.1'); log('listen called', s.listening);
s.on('listening', () => {
  const c = net.connect(s.address().port, '127.0.0.1'); 
  c.on('connect', () => { log('connect'); process.nextTick(() => log('tick in connect')); c.cork(); c.write('a', () => log('a')); c.write('b', () => log('b')); c.write('c', 'latin1', () => log('c')); c.uncork(); log('written'); });
  c.on('ready', () => log('ready'));
  c.on('data', (d) => { log('data', `${d}`); });
  c.on('end', () => { log('end', c.writableEnded); process.nextTick(() => log('tick in end')); });
  c.on('finish', () => log('finish')); c.on('close', (x) => { log('close', x); s.close(); log('after close'); });
});
process.on('exit', () => log('exit'));
