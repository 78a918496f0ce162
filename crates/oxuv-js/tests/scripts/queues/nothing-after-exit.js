// Nothing new is taken in exit, and immediates of beforeExit exit.
process.on('exit', () => {
  console.log('e');
  setTimeout(() => console.log('never'), 0);
  setImmediate(() => console.log('never'));
  process.nextTick(() => console.log('never'));
});
process.once('beforeExit', () => {
  console.log('be');
  Promise.resolve().then(() =>
    setImmediate(() => {
      console.log('imm');
      process.nextTick(() => process.exit());
      setImmediate(() => console.log('never'));
    }),
  );
});
