// Throws of immediates.
process.on('uncaughtException', (e) => console.log('UE', e.message));
setImmediate(() => {
  console.log('i1');
  process.nextTick(() => {
    console.log('tick i1');
    throw new Error('ti1');
  });
  process.nextTick(() => console.log('tick2 i1'));
});
setImmediate(() => {
  console.log('i2');
});
setImmediate(() => {
  console.log('i3');
  throw new Error('i3');
});
setImmediate(() => {
  console.log('i4');
  Promise.reject(new Error('rej'));
});
setImmediate(() => {
  console.log('i5');
  queueMicrotask(() => {
    throw new Error('micro');
  });
});
setImmediate(() => {
  console.log('i6');
});
