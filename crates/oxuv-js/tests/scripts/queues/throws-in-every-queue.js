// Throws in every queue.
process.on('uncaughtException', (e, o) => console.log('UE', e.message, o));
queueMicrotask(() => {
  console.log('m1');
  queueMicrotask(() => {
    console.log('nested');
    throw new Error('n1');
  });
  throw new Error('m1');
});
queueMicrotask(() => {
  console.log('m2');
  process.nextTick(() => {
    console.log('tick');
    throw new Error('tick');
  });
});
Promise.resolve().then(() => {
  console.log('p');
  throw new Error('p');
});
process.nextTick(() => {
  console.log('T1');
  queueMicrotask(() => {
    console.log('mt');
    throw new Error('mt');
  });
});
process.nextTick(() => {
  console.log('T2');
  throw new Error('T2');
});
process.nextTick(() => {
  console.log('T3');
});
setTimeout(() => console.log('timeout'), 0);
setImmediate(() => console.log('immediate'));
const s = Date.now();
while (Date.now() - s < 3);
