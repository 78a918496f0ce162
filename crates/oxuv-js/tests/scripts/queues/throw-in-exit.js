// Throw in exit.
process.on('exit', () => {
  console.log('exit1');
  throw new Error('in exit');
});
process.on('exit', () => console.log('exit2'));
