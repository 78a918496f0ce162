// Streams between sockets: a pipeline, an asynchronous iteration, and a proxy.
'use strict';
const net = require('net'); const log = console.log; const { pipeline, Transform } = require('stream');
const s = net.createServer({ allowHalfOpen: true }, (c) => { pipeline(c, new Transform({ transform(d, e, cb) { setImmediate(cb, null, `${d}`.toUpperCase()); } }), c, (e) => log('pipeline', e)); }).listen(0, '127.0.0.1', async () => {
  const c = net.connect(s.address().port, '127.0.0.1'); c.setEncoding('utf8');
  c.write('abc'); c.end('x'.repeat(200000));
  let n = 0, first; for await (const d of c) { first ??= d.slice(0, 5); n += d.length; } log(first, n); s.close();
  const up = net.createServer((x) => x.pipe(x)).listen(0, () => { const proxy = net.createServer((a) => { const b = net.connect(up.address().port); a.pipe(b).pipe(a); }).listen(0, () => {
    const k = net.connect(proxy.address().port); let got = 0; k.on('data', (d) => { got += d.length; if (got === 3000000) { log('all', got); k.end(); } }); k.on('close', () => { log('k close'); up.close(); proxy.close(); }); k.write(Buffer.alloc(3000000)); }); });
});
