// What `performance` says of the loop, and of functions.
'use strict';

const native = binding('perf');
const { codes } = require('internal/codes');
const { validateFunction, validateObject } = require('internal/validators');
const { performance, PerformanceEntry, internal: { kMade, make, watchers } } = require('internal/performance');
const { origin } = process._own;

const sinceOrigin = (time) => (time < 0 ? -1 : time / 1e6 - origin);
const loopStart = () => sinceOrigin(native.loopSpan()[0]);

function eventLoopUtilization(one, other) {
  const start = loopStart();
  if (start <= 0) return { idle: 0, active: 0, utilization: 0 };
  if (other) return utilization(one.idle - other.idle, one.active - other.active);
  const idle = native.idle();
  const active = performance.now() - start - idle;
  return one ? utilization(idle - one.idle, active - one.active) : utilization(idle, active);
}

const utilization = (idle, active) => ({ idle, active, utilization: active / (idle + active) });

function uvMetricsInfo() {
  const [loopCount, events, eventsWaiting] = native.metrics();
  return { loopCount, events, eventsWaiting };
}

class PerformanceNodeTiming extends PerformanceEntry {
  constructor() {
    super(kMade, 'node', 'node', 0, 0);
    const fixed = { name: 'node', entryType: 'node', startTime: 0 };
    const lively = {
      duration: () => performance.now(),
      nodeStart: () => 0,
      v8Start: () => 0,
      environment: () => 0,
      loopStart,
      loopExit: () => sinceOrigin(native.loopSpan()[1]),
      bootstrapComplete: () => 0,
      idleTime: () => native.idle(),
      uvMetricsInfo,
    };
    for (const [name, value] of Object.entries(fixed)) Object.defineProperty(this, name, { value, enumerable: true, configurable: true });
    for (const [name, get] of Object.entries(lively)) Object.defineProperty(this, name, { get, enumerable: true, configurable: true });
  }

  toJSON() {
    const { uvMetricsInfo: _, ...times } = this;
    return times;
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options) {
    return `PerformanceNodeTiming ${require('internal/inspect').inspect({ ...this }, options)}`;
  }
}

function timerify(callback, options = {}) {
  validateFunction(callback, 'fn');
  validateObject(options, 'options');
  const { histogram } = options;
  if (histogram !== undefined && typeof histogram?.record !== 'function') {
    throw new codes.ERR_INVALID_ARG_TYPE('options.histogram', 'RecordableHistogram', histogram);
  }
  const done = (args, start) => {
    const duration = performance.now() - start;
    histogram?.record(Math.max(1, Math.ceil(duration * 1e6)));
    if (watchers.tell === undefined) return;
    const entry = make(callback.name, 'function', start, duration, args);
    for (const [i, arg] of args.entries()) entry[i] = arg;
    watchers.tell(entry);
  };
  function timerified(...args) {
    const start = performance.now();
    const result = new.target ? Reflect.construct(callback, args, callback) : Reflect.apply(callback, this, args);
    if (!new.target && typeof result?.finally === 'function') return result.finally(() => done(args, start));
    done(args, start);
    return result;
  }
  return Object.defineProperties(timerified, {
    length: { configurable: false, enumerable: true, value: callback.length },
    name: { configurable: false, enumerable: true, value: `timerified ${callback.name}` },
  });
}

module.exports = { eventLoopUtilization, utilization, timerify, nodeTiming: new PerformanceNodeTiming() };
