// Intervals and throws.
process.on('uncaughtException', (e) => console.log('UE', e.message));
let n = 0;
const i = setInterval(() => {
  n++;
  console.log('i', n);
  process.nextTick(() => {
    console.log('t', n);
    if (n === 2) throw new Error('tick of interval');
  });
  if (n === 3) clearInterval(i);
  if (n === 1) throw new Error('interval');
}, 2);
