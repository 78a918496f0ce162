// Timers made and cleared by handlers of exceptions.
process.on('uncaughtException', (e) => {
  console.log('UE', e.message);
  clearTimeout(b);
  setTimeout(() => console.log('new'), 1);
  setImmediate(() => console.log('imm of UE'));
});
setTimeout(() => {
  throw new Error('a');
}, 1);
const b = setTimeout(() => console.log('never'), 1);
setTimeout(() => console.log('c'), 1);
setImmediate(() => console.log('imm'));
const s = Date.now();
while (Date.now() - s < 5);
