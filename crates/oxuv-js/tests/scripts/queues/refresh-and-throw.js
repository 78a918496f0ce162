// Refresh, unref and throw.
process.on('uncaughtException', (e) => console.log('UE', e.message));
let n = 0;
const t = setTimeout(() => {
  console.log('t', ++n);
  if (n < 3) t.refresh();
  if (n === 1) throw new Error('once');
}, 2);
setTimeout(() => console.log('never'), 500_000).unref();
t.unref();
const watch = setInterval(() => {
  if (n < 3) return;
  console.log('end');
  clearInterval(watch);
}, 10);
