// Throw in handler.
process.on('uncaughtException', (e) => {
  console.log('UE', e.message);
  throw new Error('second');
});
process.on('exit', (c) => console.log('exit', c));
setTimeout(() => {
  throw new Error('first');
}, 1);
setTimeout(() => console.log('never'), 1);
