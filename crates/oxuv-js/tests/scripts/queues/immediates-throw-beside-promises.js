// Immediates that throw beside ticks and promises.
process.on('uncaughtException', (e) => {
  console.log('UE', e.message);
  process.nextTick(() => console.log('tick of UE ' + e.message));
});
setImmediate(() => {
  process.nextTick(() => console.log('tick 1'));
  Promise.resolve().then(() => console.log('micro 1'));
  throw new Error('1');
});
setImmediate(() => {
  console.log('2');
  setImmediate(() => console.log('next turn'));
});
setImmediate(() => {
  Promise.resolve().then(() => {
    console.log('micro 3');
    process.nextTick(() => {
      throw new Error('tick 3');
    });
  });
});
setImmediate(() => {
  console.log('4');
  Promise.reject(new Error('rejected 4'));
});
setImmediate(() => {
  console.log('5');
  throw new Error('5');
});
