// Before exit and exit.
process.on('beforeExit', () => {
  console.log('BE');
  if (!globalThis.once) {
    globalThis.once = 1;
    process.nextTick(() => {
      console.log('tick');
      setTimeout(() => console.log('to'), 1);
    });
  }
});
process.on('exit', (c) => {
  console.log('exit', c);
  process.nextTick(() => console.log('never'));
  Promise.resolve().then(() => console.log('never2'));
  process.exitCode = 9;
});
