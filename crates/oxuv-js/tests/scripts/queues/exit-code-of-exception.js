// The exit code of exceptions in odd places.
process.on('exit', (c) => {
  console.log('exit', c);
  process.exitCode = 12;
});
process.exitCode = 3;
setTimeout(() => {
  throw new Error('x');
}, 1);
