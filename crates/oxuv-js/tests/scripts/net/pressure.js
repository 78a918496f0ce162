// A paused server holds the writer up, whose buffer is as large as it was made.
'use strict';
const net = require('net');
const s = net.createServer({ pauseOnConnect: true }, (c) => {
  console.log('paused', c.isPaused(), c.readableFlowing);
  let total = 0;
  c.on('data', (d) => { total += d.length; });
  c.on('end', () => { console.log('total', total, c.bytesRead); s.close(); });
  setTimeout(() => { console.log('so far', total, c.bytesRead); c.resume(); }, 100);
}).listen(0, () => {
  const c = net.connect({ port: s.address().port, host: '127.0.0.1', writableHighWaterMark: 1000, readableHighWaterMark: 5 });
  console.log(c.writableHighWaterMark, c.readableHighWaterMark);
  const piece = Buffer.alloc(1 << 20, 'x');
  console.log(c.write('small'), c.write(piece), c.writableNeedDrain, c.writableLength);
  c.once('drain', () => {
    console.log('drain', c.writableLength);
    let n = 0;
    const more = () => { for (;;) { if (n++ === 20) { c.end(); return; } if (!c.write(piece)) { c.once('drain', more); return; } } };
    more();
  });
  c.on('finish', () => console.log('finish', c.bytesWritten));
  c.on('close', (b) => console.log('close', b));
});
