// Events: errors in once, captured rejections in ticks.
const { EventEmitter, once } = require('events');
const e = new EventEmitter({ captureRejections: true });
e.on('x', async () => {
  throw new Error('async x');
});
e.on('error', (er) => {
  console.log('error', er.message);
});
e.emit('x');
process.nextTick(() => console.log('tick'));
Promise.resolve().then(() => console.log('m'));
(async () => {
  process.nextTick(() => e.emit('go', 1));
  console.log('once', await once(e, 'go'));
  const p = once(e, 'end');
  process.nextTick(() => e.emit('error', new Error('E')));
  try {
    await p;
  } catch (er) {
    console.log('rejected', er.message);
  }
})();
