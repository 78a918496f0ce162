// Exit within a tick, a microtask waiting.
process.on('exit', (c) => console.log('exit', c));
Promise.resolve().then(() => console.log('never'));
process.nextTick(() => {
  console.log('tick');
  process.exit(6);
});
process.nextTick(() => console.log('never'));
