// A connection that is reset, and a socket that was never connected.
'use strict';
const net = require('net');
const s = net.createServer((c) => {
  c.on('data', () => { console.log('data'); c.resetAndDestroy(); });
  c.on('close', (b) => { console.log('server close', b); s.close(); });
}).listen(0, () => {
  const c = net.connect(s.address().port, '127.0.0.1');
  c.write('x');
  c.on('error', (e) => console.log(e.message, e.code, e.syscall, Object.keys(e).join()));
  c.on('end', () => console.log('end')); c.on('close', (b) => console.log('close', b, c.errored?.code));
  c.resume();
  const d = new net.Socket(); try { d.resetAndDestroy(); } catch (e) { console.log(e.message); }
  d.on('error', (e) => console.log(e.code, e.message)); d.on('close', (b) => console.log('d', b));
});
