// A capture callback that throws.
process.setUncaughtExceptionCaptureCallback((e) => {
  console.log('cap', e.message);
  throw new Error('second');
});
process.on('exit', (c) => console.log('exit', c));
setTimeout(() => {
  throw new Error('x');
}, 1);
