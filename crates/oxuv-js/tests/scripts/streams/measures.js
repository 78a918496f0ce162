// Histograms, the delay and the utilization of the loop, timed functions, observers.
'use strict';

const assert = require('assert');
const { performance, PerformanceObserver, createHistogram, monitorEventLoopDelay } = require('perf_hooks');

const histogram = createHistogram();
for (let i = 1; i <= 1000; i++) histogram.record(i * 1000);
assert.strictEqual(histogram.count, 1000);
assert.ok(Math.abs(histogram.mean - 500_500) < 500 && Math.abs(histogram.stddev - 288_675) < 500);
for (const percent of [1, 50, 90, 99.9, 100]) {
  const expected = percent * 10_000;
  assert.ok(Math.abs(histogram.percentile(percent) - expected) <= expected / 500, `${percent} %: ${histogram.percentile(percent)}`);
}
assert.throws(() => histogram.record(0), { code: 'ERR_OUT_OF_RANGE' });

function spin(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const delay = monitorEventLoopDelay({ resolution: 2 });
delay.enable();
const before = performance.eventLoopUtilization();
const seen = [];
const observer = new PerformanceObserver((list) => {
  for (const { entryType, name, duration } of list.getEntries()) seen.push(`${entryType} ${name} ${duration >= 0}`);
});
observer.observe({ entryTypes: ['mark', 'measure', 'function'] });
performance.mark('begin');
performance.timerify(function busy() { spin(1); })();

setTimeout(() => {
  // Idle so far.
  const idle = performance.eventLoopUtilization(before);
  assert.ok(idle.utilization < 0.9, JSON.stringify(idle));
  spin(60);
  setTimeout(() => {
    delay.disable();
    assert.ok(delay.max >= 55e6, `${delay.max}`);
    assert.ok(delay.min >= 1 && delay.min < 40e6, `${delay.min}`);
    const active = performance.eventLoopUtilization();
    assert.ok(active.active >= 60 && active.idle > 0 && active.utilization > 0 && active.utilization < 1, JSON.stringify(active));
    performance.measure('all', 'begin');
    setTimeout(() => {
      console.log(seen);
      assert.ok(performance.nodeTiming.loopStart > 0 && performance.nodeTiming.loopExit === -1);
    }, 5);
  }, 20);
}, 100);
