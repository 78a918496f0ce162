// Thenables, async functions and ticks together.
const log = (x) => () => console.log(x);
(async () => {
  console.log('a1');
  await null;
  console.log('a2');
  await {
    then(r) {
      console.log('thenable');
      r();
    },
  };
  console.log('a3');
  await Promise.resolve();
  console.log('a4');
})();
Promise.resolve().then(log('p1')).then(log('p2')).then(log('p3')).then(log('p4')).then(log('p5'));
process.nextTick(log('t1'));
queueMicrotask(log('m1'));
Promise.resolve(new Promise((r) => r())).then(log('q1'));
new Promise((r) => r(Promise.resolve())).then(log('r1'));
process.nextTick(() =>
  Promise.resolve()
    .then(log('in tick'))
    .then(() => process.nextTick(log('t2'))),
);
