// Throw in the monitor of exceptions.
process.on('uncaughtExceptionMonitor', () => {
  throw new Error('in monitor');
});
process.on('uncaughtException', () => console.log('never'));
process.on('exit', (c) => console.log('exit', c));
setTimeout(() => {
  throw new Error('x');
}, 1);
