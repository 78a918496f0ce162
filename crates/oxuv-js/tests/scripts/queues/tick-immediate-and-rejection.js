// Tick immediate and rejection.
process.on('uncaughtException', (e) => {
  console.log('UE', e.message);
  if (e.message === '1') {
    process.nextTick(() => {
      throw new Error('2');
    });
    setImmediate(() => {
      throw new Error('3');
    });
  }
});
process.on('unhandledRejection', (r) => {
  console.log('UR', r);
});
process.nextTick(() => {
  Promise.reject('r1');
  throw new Error('1');
});
process.nextTick(() => {
  console.log('after');
  Promise.reject('r2').catch(() => console.log('c'));
});
setTimeout(() => console.log('to'), 0);
const s = Date.now();
while (Date.now() - s < 3);
