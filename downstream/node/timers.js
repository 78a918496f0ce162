'use strict';
const assert = require('assert');
const fs = require('fs');
const { monitorEventLoopDelay, performance } = require('perf_hooks');
const timers = require('timers/promises');
const { check, rounds, once } = require('./harness');

check('ten thousand timers, those of a delay in order and none early', async () => {
  const count = rounds(10000, 100000);
  const began = performance.now();
  const last = new Map();
  let left = count, early = 0, disorder = 0;
  await new Promise((resolve) => {
    for (let i = 0; i < count; i++) {
      const delay = 1 + (i * 7919) % 500;
      setTimeout(() => {
        if (performance.now() - began < delay - 1) early++;
        if (i < (last.get(delay) || 0)) disorder++;
        last.set(delay, i);
        if (--left === 0) resolve();
      }, delay);
    }
  });
  assert.deepStrictEqual([early, disorder], [0, 0]);
});

check('an order that is always the same', async () => {
  const seen = [];
  await new Promise((resolve) => fs.stat('.', () => {
    setTimeout(() => { seen.push('timeout'); resolve(); }, 0);
    setImmediate(() => { seen.push('immediate'); process.nextTick(() => seen.push('tick of it')); });
    setImmediate(() => seen.push('second'));
    process.nextTick(() => seen.push('tick'));
    Promise.resolve().then(() => seen.push('promise'));
  }));
  assert.deepStrictEqual(seen, ['tick', 'promise', 'immediate', 'tick of it', 'second', 'timeout']);
});

check('intervals, refreshes, and what is cleared', async () => {
  let ticks = 0;
  for await (const value of timers.setInterval(5, 'v')) {
    assert.strictEqual(value, 'v');
    if (++ticks === 20) break;
  }
  let fired = false;
  const put = setTimeout(() => fired = true, 60);
  for (let i = 0; i < 5; i++) {
    await timers.setTimeout(20);
    put.refresh();
  }
  assert(!fired);
  clearTimeout(put);
  const never = setTimeout(() => assert.fail('cleared'), 10);
  clearTimeout(never);
  await assert.rejects(timers.setTimeout(1000, null, { signal: AbortSignal.timeout(10) }), { name: 'AbortError' });
});

check('the delay of the loop is measured', async () => {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await timers.setTimeout(50);
  const until = Date.now() + 80;
  while (Date.now() < until);
  await timers.setTimeout(30);
  delay.disable();
  assert(delay.max > 70e6, String(delay.max));
});

check('the time spent waiting is measured', async () => {
  const began = performance.now();
  const before = performance.eventLoopUtilization();
  await timers.setTimeout(100);
  const { idle, active, utilization } = performance.eventLoopUtilization(before);
  assert(idle > 50 && idle <= performance.now() - began && active >= 0 && utilization < 0.9, `${idle} ${active} ${utilization}`);
});

check('immediates in thousands, with timers between', async () => {
  let immediates = 0, timeouts = 0;
  const timer = setInterval(() => timeouts++, 1);
  await new Promise((resolve) => {
    const more = () => (++immediates < 200000 ? setImmediate(more) : resolve());
    more();
  });
  clearInterval(timer);
  assert(timeouts > 5, String(timeouts));
});
