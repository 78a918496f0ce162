// A throw in an exit listener that somebody deals with does not change the code.
process.exitCode = 3;
process.on('uncaughtException', (error) => console.log('handled', error.message));
process.on('exit', (code) => {
  console.log('exit', code);
  throw new Error('in exit');
});
