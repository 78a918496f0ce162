// What callbacks throw goes to the process, and the connection goes on.
'use strict';
const net = require('net');
process.on('uncaughtException', (e, o) => console.log('uncaught', e.message, o));
const s = net.createServer((c) => { c.on('data', (d) => { process.nextTick(() => console.log('tick')); if (`${d}` === 'one') { c.write('ok'); throw new Error('in data'); } c.end(); }); process.nextTick(() => console.log('tick of connection')); throw new Error('in connection'); }).listen(0, () => {
  const c = net.connect(s.address().port, '127.0.0.1', () => { c.write('one'); });
  c.on('data', () => { c.write('two'); throw new Error('in client data'); });
  c.on('end', () => console.log('end'));
  c.on('close', () => { s.close(); console.log('close'); });
});
