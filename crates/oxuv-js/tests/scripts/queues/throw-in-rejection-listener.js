// Throw in a listener of unhandledRejection: the others are told all the same (Node 20 forgets them).
process.on('unhandledRejection', (r) => {
  console.log('UR', r);
  throw new Error('from UR');
});
process.on('uncaughtException', (e, o) => {
  console.log('UE', e.message, o);
});
Promise.reject(1);
Promise.reject(2);
Promise.reject(3);
setImmediate(() => console.log('imm'));
process.nextTick(() => console.log('tick'));
