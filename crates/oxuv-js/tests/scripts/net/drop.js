// A server that has enough connections drops one more.
'use strict';
const net = require('net');
const s = net.createServer((c) => { c.on('error', () => {}); c.resume(); s.getConnections((e, n) => console.log('connections', n)); });
s.maxConnections = 1;
s.on('drop', (d) => { console.log('drop', Object.keys(d).join(), d.remoteFamily); a.destroy(); });
let a;
s.listen(0, '127.0.0.1', () => {
  a = net.connect(s.address().port, '127.0.0.1', () => {
    const b = net.connect(s.address().port, '127.0.0.1');
    b.on('connect', () => console.log('b connect')); b.on('end', () => console.log('b end')); b.on('close', (x) => { console.log('b close', x); s.close(() => console.log('closed')); }); b.resume();
  });
  a.on('close', () => console.log('a close'));
});
