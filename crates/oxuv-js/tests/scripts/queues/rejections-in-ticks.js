// Rejections in ticks.
process.on('unhandledRejection', (r, p) => {
  console.log('UR', r.message);
});
process.on('rejectionHandled', () => console.log('RH'));
process.nextTick(() => {
  const p = Promise.reject(new Error('in tick'));
  process.nextTick(() => {
    console.log('tick2');
    p.catch(() => console.log('caught in time'));
  });
});
process.nextTick(() => {
  const p = Promise.reject(new Error('stays'));
  setImmediate(() => setTimeout(() => p.catch(() => console.log('late')), 2));
});
Promise.resolve().then(() => {
  Promise.reject(new Error('from micro'));
  process.nextTick(() => console.log('tick from micro'));
});
setImmediate(() => console.log('imm'));
