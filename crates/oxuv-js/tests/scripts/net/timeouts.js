// Time-outs of both sides, and what puts them off.
'use strict';
const net = require('net');
const s = net.createServer((c) => { c.setTimeout(50); c.on('timeout', () => { console.log('server timeout', c.timeout); c.end('late'); c.setTimeout(0); }); c.on('close', () => s.close(() => console.log('closed'))); }).listen(0, () => {
  const c = net.connect({ port: s.address().port, host: '127.0.0.1', timeout: 1000 });
  console.log(c.timeout);
  c.setTimeout(30, () => console.log('once'));
  c.on('timeout', () => console.log('client timeout'));
  c.on('data', (d) => { console.log(`${d}`); c.setTimeout(0); });
  c.on('close', () => console.log('close', c.timeout));
});
