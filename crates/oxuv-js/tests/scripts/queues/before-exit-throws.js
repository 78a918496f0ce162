// beforeExit that throws into a handler, again and again.
let n = 0;
process.on('uncaughtException', (e) => console.log('UE', e.message));
process.on('beforeExit', () => {
  console.log('BE', ++n);
  if (n < 3) throw new Error('be' + n);
});
process.on('exit', (c) => console.log('exit', c, n));
