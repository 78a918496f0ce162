// Writes with and without somebody who waits for them: what each says, and what comes in which order.
'use strict';
const net = require('net');
const log = console.log;
const s = net.createServer((c) => { c.setEncoding('utf8'); let all = ''; c.on('data', (d) => { all += d; }); c.on('end', () => { log('got', all.length, all.slice(0, 60)); c.end('done'); s.close(); }); }).listen(0, '127.0.0.1', () => {
  const c = net.connect(s.address().port, '127.0.0.1', () => {
    log(c.write('a', () => log('cb a')), c.writableLength, c.bytesWritten);
    log(c.write('b'), c.writableLength, c.bytesWritten);
    log(c.write(Buffer.from('c'), () => log('cb c')), c.writableLength);
    log(c.write(new Uint8Array([100, 101])), c.writableNeedDrain);
    log(c.write('é'), c.bytesWritten);
    log(c.write('\u00e9', 'latin1'), c.bytesWritten);
    log(c.write('66', 'hex'), c.bytesWritten);
    log(c.write(''), c.write(Buffer.alloc(0)));
    c.cork(); c.write('x'); log('corked', c.writableLength, c.bytesWritten); c.write('y'); c.uncork(); log('uncorked', c.writableLength, c.bytesWritten);
    setImmediate(() => { c.end('last', () => log('ended')); log(c.writableEnded, c.writableFinished); c.on('finish', () => log('finish', c.bytesWritten)); });
    process.nextTick(() => log('tick')); Promise.resolve().then(() => log('micro'));
    try { c.write('a', 'nope'); } catch (e) { log(e.code); } try { c.write({}); } catch (e) { log(e.code); }
  });
  c.on('data', (d) => log(`${d}`)); c.on('close', (b) => log('close', b));
});
