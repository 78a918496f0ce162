// Abort signals: order of listeners, promises and timers.
const ac = new AbortController();
const { setTimeout: wait } = require('timers/promises');
ac.signal.addEventListener('abort', () => {
  console.log('l1');
  process.nextTick(() => console.log('tick'));
  queueMicrotask(() => console.log('micro'));
});
wait(50_000, null, { signal: ac.signal }).catch((e) => console.log('wait', e.name));
ac.signal.addEventListener('abort', () => console.log('l2'), { once: true });
setImmediate(() => {
  console.log('abort');
  ac.abort();
  console.log('aborted');
});
