// Throw in tick unhandled.
process.nextTick(() => {
  throw new Error('uncaught tick');
});
process.nextTick(() => console.log('never'));
process.on('exit', (c) => {
  console.log('exit', c);
  process.nextTick(() => console.log('no'));
});
