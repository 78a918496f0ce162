// PerformanceObserver: is told of entries when there are some.
'use strict';

const { codes } = require('internal/codes');
const { validateFunction, validateObject } = require('internal/validators');
const { performance, internal: { kMade, watchers } } = require('internal/performance');

const TYPES = Object.freeze(['dns', 'function', 'gc', 'http', 'http2', 'mark', 'measure', 'net', 'resource']);

class PerformanceObserverEntryList {
  #entries;

  constructor(made, entries) {
    if (made !== kMade) throw new codes.ERR_ILLEGAL_CONSTRUCTOR();
    this.#entries = entries.sort((one, other) => one.startTime - other.startTime);
  }

  getEntries() { return this.#entries.slice(); }
  getEntriesByType(type) { return this.#entries.filter((entry) => entry.entryType === `${type}`); }
  getEntriesByName(name, type) {
    return this.#entries.filter((entry) => entry.name === `${name}` && (type === undefined || entry.entryType === type));
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options) {
    return `PerformanceObserverEntryList ${require('internal/inspect').inspect(this.#entries, options)}`;
  }
}

const observing = new Set();
let isPlanned = false;

// All that wait are told on one immediate.
function plan() {
  if (isPlanned) return;
  isPlanned = true;
  setImmediate(() => {
    isPlanned = false;
    for (const observer of [...observing]) observer._deliver();
  });
}

function tell(entry) {
  for (const observer of observing) observer._note(entry);
}

class PerformanceObserver {
  #callback;
  #types = new Set();
  #kind;
  #waiting = [];

  static get supportedEntryTypes() { return TYPES; }

  constructor(callback) {
    validateFunction(callback, 'callback');
    this.#callback = callback;
    for (const name of ['_note', '_deliver']) Object.defineProperty(this, name, { value: this[name].bind(this) });
  }

  observe(options = {}) {
    validateObject(options, 'options');
    const { entryTypes, type, buffered } = options;
    if (entryTypes === undefined && type === undefined) throw new codes.ERR_MISSING_ARGS('options.entryTypes', 'options.type');
    if (entryTypes != null && type != null) {
      throw new codes.ERR_INVALID_ARG_VALUE('options.entryTypes', entryTypes, 'options.entryTypes can not set with options.type together');
    }
    const kind = entryTypes === undefined ? 'single' : 'multiple';
    if (this.#kind !== undefined && this.#kind !== kind) return;
    if (entryTypes !== undefined && !Array.isArray(entryTypes)) {
      throw new codes.ERR_INVALID_ARG_TYPE('options.entryTypes', 'string[]', entryTypes);
    }
    const wanted = (entryTypes ?? [type]).filter((each) => TYPES.includes(each));
    if (wanted.length === 0) return;
    this.#kind = kind;
    if (kind === 'multiple') this.#types.clear();
    for (const each of wanted) this.#types.add(each);
    observing.add(this);
    watchers.tell = tell;
    if (buffered && type !== undefined) {
      this.#waiting.push(...performance.getEntriesByType(type));
      if (this.#waiting.length > 0) plan();
    }
  }

  disconnect() {
    observing.delete(this);
    this.#types.clear();
    this.#waiting = [];
    this.#kind = undefined;
    if (observing.size === 0) watchers.tell = undefined;
  }

  takeRecords() {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  _note(entry) {
    if (!this.#types.has(entry.entryType)) return;
    this.#waiting.push(entry);
    plan();
  }

  _deliver() {
    if (this.#waiting.length === 0) return;
    const list = new PerformanceObserverEntryList(kMade, this.takeRecords());
    Reflect.apply(this.#callback, this, [list, this]);
  }
}

module.exports = { PerformanceObserver, PerformanceObserverEntryList };
