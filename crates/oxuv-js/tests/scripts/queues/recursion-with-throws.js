// nextTick recursion with throw, microtask recursion, ordering of two immediates queues
process.on('uncaughtException', (e) => console.log('UE', e.message));
let n = 0;
(function f() {
  process.nextTick(() => {
    if (++n < 5) f();
    if (n === 3) throw new Error('t' + n);
    console.log('n', n);
  });
})();
let m = 0;
(function g() {
  queueMicrotask(() => {
    if (++m < 5) g();
    if (m === 2) throw new Error('m' + m);
    console.log('m', m);
  });
})();
setImmediate(() => {
  console.log('I1');
  setImmediate(() => console.log('I1b'));
  process.nextTick(() => {
    console.log('t');
    setImmediate(() => console.log('I1c'));
  });
});
setImmediate(() => console.log('I2'));
