// throw in main with handler, then queues
process.on('uncaughtException', (e) => {
  console.log('UE', e.message);
  process.nextTick(() => console.log('tick of UE'));
  Promise.resolve().then(() => console.log('micro of UE'));
});
process.nextTick(() => console.log('tick'));
Promise.resolve().then(() => console.log('micro'));
setImmediate(() => console.log('imm'));
setTimeout(() => console.log('to'), 0);
const s = Date.now();
while (Date.now() - s < 3);
throw new Error('main');
