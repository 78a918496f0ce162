// Exit in exit.
process.on('exit', (c) => {
  console.log('exit', c);
  process.exit(5);
});
process.on('uncaughtException', () => {
  console.log('UE');
  process.exit(4);
});
throw new Error('x');
