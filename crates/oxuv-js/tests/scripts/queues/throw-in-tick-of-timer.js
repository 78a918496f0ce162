// a throw in a tick with timers due
process.on('uncaughtException', (e) => console.log('UE', e.message));
setTimeout(() => {
  console.log('t1');
  process.nextTick(() => {
    console.log('tick1');
    throw new Error('in tick');
  });
  process.nextTick(() => console.log('tick2'));
  Promise.resolve().then(() => console.log('micro'));
}, 1);
setTimeout(() => console.log('t2'), 1);
setTimeout(() => console.log('t3'), 2);
setImmediate(() => console.log('imm'));
const s = Date.now();
while (Date.now() - s < 5);
