// `performance`: the clock of this program, marks and measures.
'use strict';

const process = require('process');
const native = binding('process');
const { codes } = require('internal/codes');

const kMade = Symbol('made');
const { origin } = process._own;
const now = () => native.nanoseconds() / 1e6 - origin;
const timeOrigin = native.epoch() - now();

class PerformanceEntry {
  #name; #type; #start; #duration;

  constructor(made, name, type, start, duration) {
    if (made !== kMade) throw new codes.ERR_ILLEGAL_CONSTRUCTOR();
    this.#name = name;
    this.#type = type;
    this.#start = start;
    this.#duration = duration;
  }

  get name() { return this.#name; }
  get entryType() { return this.#type; }
  get startTime() { return this.#start; }
  get duration() { return this.#duration; }

  toJSON() {
    const { name, entryType, startTime, duration, detail } = this;
    return detail === undefined ? { name, entryType, startTime, duration } : { name, entryType, startTime, duration, detail };
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options) {
    if (depth < 0) return this;
    const { inspect } = require('internal/inspect');
    const { name, entryType, startTime, duration } = this;
    return `${this.constructor.name} ${inspect({ name, entryType, startTime, duration, ...('detail' in this && { detail: this.detail }) },
      { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
  }
}

const cloneDetail = (detail) => (detail == null ? null : require('internal/structured_clone').structuredClone(detail));

class PerformanceMark extends PerformanceEntry {
  #detail;

  constructor(name, options = {}) {
    if (arguments.length === 0) throw new codes.ERR_MISSING_ARGS('name');
    require('internal/validators').validateObject(options ?? {}, 'options');
    const start = options?.startTime ?? now();
    require('internal/validators').validateNumber(start, 'startTime');
    if (start < 0) throw new codes.ERR_PERFORMANCE_INVALID_TIMESTAMP(start);
    super(kMade, `${name}`, 'mark', start, 0);
    this.#detail = cloneDetail(options?.detail);
  }

  get detail() { return this.#detail; }
}

class PerformanceMeasure extends PerformanceEntry {
  #detail;

  constructor(made, name, start, duration, detail) {
    super(made, name, 'measure', start, duration);
    this.#detail = cloneDetail(detail);
  }

  get detail() { return this.#detail; }
}

let entries = [];

const { watchers } = require('internal/observed');

function add(entry) {
  entries.push(entry);
  watchers.tell?.(entry);
}

// An entry that only observers see.
function make(name, type, start, duration, detail) {
  const entry = new PerformanceEntry(kMade, name, type, start, duration);
  return Object.defineProperty(entry, 'detail', { value: detail, enumerable: true, configurable: true });
}

function timeOf(mark) {
  if (mark === undefined) return undefined;
  if (typeof mark === 'number') {
    if (mark < 0) throw new codes.ERR_PERFORMANCE_INVALID_TIMESTAMP(mark);
    return mark;
  }
  const known = entries.findLast((entry) => entry.entryType === 'mark' && entry.name === `${mark}`);
  if (known === undefined) throw new (globalThis.DOMException)(`The "${mark}" performance mark has not been set`, 'SyntaxError');
  return known.startTime;
}

const byTime = (list) => list.sort((one, other) => one.startTime - other.startTime);

class Performance extends require('internal/event_target').EventTarget {
  constructor(made) {
    if (made !== kMade) throw new codes.ERR_ILLEGAL_CONSTRUCTOR();
    super();
  }

  now() { return now(); }
  get timeOrigin() { return timeOrigin; }

  mark(name, options) {
    const mark = new PerformanceMark(name, options);
    add(mark);
    return mark;
  }

  measure(name, startOrOptions, endMark) {
    require('internal/validators').validateString(name, 'name');
    const options = startOrOptions !== null && typeof startOrOptions === 'object' ? startOrOptions : {};
    const { start, end, duration, detail } = options === startOrOptions ? options : { start: startOrOptions, end: endMark };
    if (options === startOrOptions && start !== undefined && end !== undefined && duration !== undefined) {
      throw new codes.ERR_INVALID_ARG_VALUE('options', options, 'must not have all of start, end and duration');
    }
    const last = timeOf(end) ?? (start !== undefined && duration !== undefined ? timeOf(start) + duration : now());
    const first = timeOf(start) ?? (duration !== undefined && end !== undefined ? last - duration : 0);
    const measure = new PerformanceMeasure(kMade, name, first, last - first, detail);
    add(measure);
    return measure;
  }

  clearMarks(name) {
    entries = entries.filter((entry) => entry.entryType !== 'mark' || (name !== undefined && entry.name !== `${name}`));
  }

  clearMeasures(name) {
    entries = entries.filter((entry) => entry.entryType !== 'measure' || (name !== undefined && entry.name !== `${name}`));
  }

  getEntries() { return byTime(entries.slice()); }
  getEntriesByName(name, type) {
    if (arguments.length === 0) throw new codes.ERR_MISSING_ARGS('name');
    return byTime(entries.filter((entry) => entry.name === `${name}` && (type === undefined || entry.entryType === type)));
  }
  getEntriesByType(type) {
    if (arguments.length === 0) throw new codes.ERR_MISSING_ARGS('type');
    return byTime(entries.filter((entry) => entry.entryType === `${type}`));
  }

  toJSON() {
    const { nodeTiming } = this;
    return { nodeTiming, timeOrigin, eventLoopUtilization: this.eventLoopUtilization() };
  }
}
// These are rarely asked for.
for (const name of ['eventLoopUtilization', 'nodeTiming', 'timerify']) {
  Object.defineProperty(Performance.prototype, name, {
    get() { return require('internal/performance_loop')[name]; },
    enumerable: true,
    configurable: true,
  });
}
for (const name of ['now', 'timeOrigin', 'mark', 'measure', 'clearMarks', 'clearMeasures', 'getEntries', 'getEntriesByName', 'getEntriesByType', 'toJSON']) {
  Object.defineProperty(Performance.prototype, name, { enumerable: true });
}
for (const Class of [Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure]) {
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: Class.name, configurable: true });
}

module.exports = {
  performance: new Performance(kMade), Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure,
  internal: { kMade, make, watchers },
};
