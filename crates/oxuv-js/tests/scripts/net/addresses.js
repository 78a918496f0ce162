// Addresses of both ends, before, while and after they are connected.
'use strict';
const net = require('net');
const { existsSync, mkdtempSync, rmSync } = require('fs');
const { join } = require('path');

const folder = mkdtempSync(join(require('os').tmpdir(), 'oxuv-net-'));
const path = join(folder, 'a.sock');
process.on('exit', () => rmSync(folder, { recursive: true }));
const hide = (o) => JSON.stringify(o, (k, v) => (k.toLowerCase().includes('port') && v > 0 ? 'PORT' : v));
const s = net.createServer((c) => {
  console.log('server', c.remoteAddress, c.remoteFamily, typeof c.remotePort, c.localAddress, c.localFamily, c.localPort === s.address().port, hide(c.address()));
  c.end();
  c.on('close', () => console.log('server closed', c.remoteAddress, c.remotePort === undefined, c.localAddress, hide(c.address())));
});
s.listen({ port: 0, host: '::' }, () => {
  console.log(hide(s.address()), s._connectionKey.replace(/\d+$/, 'P'));
  const c = net.connect({ port: s.address().port, host: '127.0.0.1', localAddress: '127.0.0.2' }, () => {
    console.log('client', c.remoteAddress, c.remoteFamily, c.remotePort === s.address().port, c.localAddress, c.localFamily, hide(c.address()));
    c.resume();
  });
  console.log('before', c.remoteAddress, hide(c.address()));
  c.on('close', () => { console.log('closed', c.remoteAddress, c.localAddress);
    s.close(() => { console.log(s.address());
      const p = net.createServer((x) => { console.log('pipe', x.remoteAddress, hide(x.address())); x.end('hi'); p.close(); }).listen(path, () => { console.log(p.address() === path);
        const k = net.connect(path); k.on('data', (d) => console.log(`${d}`, k.remoteAddress, hide(k.address()), k.bytesRead)); k.on('close', () => console.log('end')); });
      p.on('close', () => console.log('p closed', existsSync(path)));
    }); });
});
