// Throws of timers.
process.on('uncaughtException', (e) => console.log('UE', e.message));
setTimeout(() => {
  console.log('a');
  throw new Error('ta');
}, 1);
setTimeout(() => {
  console.log('b');
  process.nextTick(() => console.log('tick b'));
}, 1);
setTimeout(() => {
  console.log('c');
}, 2);
setTimeout(() => {
  console.log('d');
  throw new Error('td');
}, 2);
setTimeout(() => {
  console.log('e');
  Promise.resolve().then(() => console.log('me'));
}, 3);
const s = Date.now();
while (Date.now() - s < 8);
