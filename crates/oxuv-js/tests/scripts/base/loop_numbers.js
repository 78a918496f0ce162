// What the loop says of itself: which numbers there are, their units, and that they agree with what happened.
'use strict';
const { performance, monitorEventLoopDelay, PerformanceEntry } = require('perf_hooks');
const { Worker } = require('worker_threads');
const { inspect } = require('util');
const log = console.log;
const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end;); };
const { nodeTiming } = performance;

log(Object.keys(nodeTiming), nodeTiming instanceof PerformanceEntry);
log(Object.keys(JSON.parse(JSON.stringify(nodeTiming))).sort(), inspect(nodeTiming).split('\n', 1));
log(Object.keys(performance.eventLoopUtilization()), performance.eventLoopUtilization().utilization);
log(nodeTiming.loopStart, nodeTiming.loopExit, nodeTiming.idleTime, nodeTiming.uvMetricsInfo);

const delay = monitorEventLoopDelay({ resolution: 10 });
log(delay.constructor.name, inspect(delay, { depth: -1 }), delay.count, delay.min, delay.max, delay.mean);
log([delay.enable(), delay.enable()]);
for (const resolution of [0, 'x', 1.5]) {
  try {
    monitorEventLoopDelay({ resolution });
  } catch (error) {
    log(error.code, error.name);
  }
}

// A wait, then work: of both the first who asks hears.
setTimeout(() => {
  spin(150);
  const all = performance.eventLoopUtilization();
  log('idle', all.idle > 200, 'active', all.active >= 150);
  log('share', Math.abs(all.utilization - all.active / (all.idle + all.active)) < 1e-9);
  log('idle time', Math.abs(nodeTiming.idleTime - all.idle) < 1, nodeTiming.loopStart > 0);
  const { loopCount, events, eventsWaiting } = nodeTiming.uvMetricsInfo;
  log('counts', loopCount > 0, events >= 0, eventsWaiting <= events);
  setTimeout(() => {
    const after = performance.eventLoopUtilization();
    const between = performance.eventLoopUtilization(all);
    log('between', between.idle > 50, between.idle < after.idle, between.active < after.active);
    log('two', inspect(performance.eventLoopUtilization(after, all)) !== inspect(after));
    log([delay.disable(), delay.disable()], delay.min >= 9e6, delay.max >= 150e6, delay.exceeds);
    log(delay.percentile(100) === delay.max);
    delay.reset();
    log(delay.count, delay.max, delay.percentiles.size);
    workers();
  }, 100);
}, 300);

function workers() {
  const worker = new Worker('setTimeout(() => {}, 600)', { eval: true });
  worker.on('online', () => setTimeout(() => {
    const { idle, active, utilization } = worker.performance.eventLoopUtilization();
    log('worker', idle > 50, active > 0, utilization < 0.9);
    worker.terminate().then(() => log(worker.performance.eventLoopUtilization()));
  }, 400));
}
