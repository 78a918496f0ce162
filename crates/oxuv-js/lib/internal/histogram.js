// Histograms of whole numbers, each kept to so many significant figures.
'use strict';

const { codes } = require('internal/codes');
const { validateInteger, validateNumber, validateObject } = require('internal/validators');

const { kClone } = require('internal/transferable');

const kMade = Symbol('made');
const LARGEST = 9223372036854775807n;
const custom = Symbol.for('nodejs.util.inspect.custom');

class Histogram {
  // Copies in the same thread have it in common.
  #state;

  constructor(made, { highest = LARGEST, figures = 3, state } = {}) {
    if (made !== kMade) throw new codes.ERR_ILLEGAL_CONSTRUCTOR();
    this.#state = state ?? {
      isRecordable: new.target === RecordableHistogram,
      // How often each value has come, by its lowest equal.
      counts: new Map(), total: 0, exceeds: 0, sum: 0, least: Infinity, most: 0,
      highest: Number(highest),
      // So many bits of a value count.
      bits: Math.ceil(Math.log2(2 * 10 ** figures)),
    };
  }

  [kClone]() { return { kind: 'Histogram', value: this.#state, isShared: true }; }

  // The width of the values that are taken for one.
  #step(value) {
    return 2 ** Math.max(0, Math.floor(Math.log2(value)) + 1 - this.#state.bits);
  }

  static put(histogram, value, count = 1) { histogram.#put(value, count); }

  #put(value, count) {
    if (value > this.#state.highest) {
      this.#state.exceeds += count;
      return;
    }
    const step = value < 1 ? 1 : this.#step(value);
    const key = Math.floor(value / step) * step;
    this.#state.counts.set(key, (this.#state.counts.get(key) ?? 0) + count);
    this.#state.total += count;
    this.#state.sum += value * count;
    this.#state.least = Math.min(this.#state.least, key);
    this.#state.most = Math.max(this.#state.most, key + step - 1);
  }

  static merge(into, from) {
    for (const [value, count] of from.#state.counts) into.#put(value, count);
  }

  get count() { return this.#state.total; }
  get countBigInt() { return BigInt(this.#state.total); }
  get exceeds() { return this.#state.exceeds; }
  get exceedsBigInt() { return BigInt(this.#state.exceeds); }
  get min() { return this.#state.total === 0 ? Number(LARGEST) : this.#state.least; }
  get minBigInt() { return this.#state.total === 0 ? LARGEST : BigInt(this.#state.least); }
  get max() { return this.#state.most; }
  get maxBigInt() { return BigInt(this.#state.most); }
  get mean() { return this.#state.total === 0 ? NaN : this.#state.sum / this.#state.total; }

  get stddev() {
    if (this.#state.total === 0) return NaN;
    const { mean } = this;
    let squares = 0;
    for (const [value, count] of this.#state.counts) {
      const step = value < 1 ? 1 : this.#step(value);
      squares += (value + Math.floor(step / 2) - mean) ** 2 * count;
    }
    return Math.sqrt(squares / this.#state.total);
  }

  #valueAt(percent) {
    if (this.#state.total === 0) return 0;
    let left = Math.max(1, Math.round(percent / 100 * this.#state.total));
    for (const value of [...this.#state.counts.keys()].sort((one, other) => one - other)) {
      left -= this.#state.counts.get(value);
      if (left <= 0) return value < 1 ? value : value + this.#step(value) - 1;
    }
    return this.#state.most;
  }

  percentile(percent) {
    validateNumber(percent, 'percentile');
    if (!(percent > 0 && percent <= 100)) throw new codes.ERR_INVALID_ARG_VALUE.RangeError('percentile', percent);
    return this.#valueAt(percent);
  }

  percentileBigInt(percent) { return BigInt(this.percentile(percent)); }

  // Each half of what is left, as far as there is something in it.
  get percentiles() {
    const found = new Map();
    if (this.#state.total > 0) {
      for (let percent = 0, last = -1; last < this.#state.most && percent < 100; percent += (100 - percent) / 2) {
        last = this.#valueAt(percent);
        found.set(percent, last);
        if (100 - percent < 1e-9) break;
      }
    }
    return found.set(100, this.#state.most);
  }

  get percentilesBigInt() { return new Map([...this.percentiles].map(([percent, value]) => [percent, BigInt(value)])); }

  reset() {
    this.#state.counts.clear();
    this.#state.total = this.#state.exceeds = this.#state.sum = this.#state.most = 0;
    this.#state.least = Infinity;
  }

  toJSON() {
    const { count, min, max, mean, exceeds, stddev, percentiles } = this;
    return { count, min, max, mean, exceeds, stddev, percentiles: Object.fromEntries(percentiles) };
  }

  [custom](depth, options) {
    if (depth < 0) return `[${this.constructor.name}]`;
    const { min, max, mean, exceeds, stddev, count, percentiles } = this;
    return `Histogram ${require('internal/inspect').inspect({ min, max, mean, exceeds, stddev, count, percentiles },
      { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
  }
}

class RecordableHistogram extends Histogram {
  #last;

  record(value) {
    if (typeof value === 'bigint') {
      if (value < 1n || value > LARGEST) throw new codes.ERR_OUT_OF_RANGE('val', `>= 1 && <= ${LARGEST}`, value);
    } else {
      validateInteger(value, 'val', 1);
    }
    Histogram.put(this, Number(value));
  }

  // The nanoseconds since it was called before.
  recordDelta() {
    const now = binding('process').nanoseconds();
    if (this.#last !== undefined && now > this.#last) Histogram.put(this, now - this.#last);
    this.#last = now;
  }

  add(other) {
    if (!(other instanceof Histogram)) throw new codes.ERR_INVALID_ARG_TYPE('other', 'RecordableHistogram', other);
    Histogram.merge(this, other);
  }
}

// Of the times between calls of a timer that should come in even steps.
class ELDHistogram extends Histogram {
  #resolution;
  #timer;

  constructor(made, resolution) {
    super(made);
    this.#resolution = resolution;
  }

  enable() {
    if (this.#timer !== undefined) return false;
    const { nanoseconds } = binding('process');
    let before = nanoseconds();
    this.#timer = setInterval(() => {
      const now = nanoseconds();
      if (now > before) Histogram.put(this, now - before);
      before = now;
    }, this.#resolution).unref();
    return true;
  }

  disable() {
    if (this.#timer === undefined) return false;
    clearInterval(this.#timer);
    this.#timer = undefined;
    return true;
  }
}

function createHistogram(options = {}) {
  validateObject(options, 'options');
  const { lowest = 1, highest = Number.MAX_SAFE_INTEGER, figures = 3 } = options;
  if (typeof lowest !== 'bigint') validateInteger(lowest, 'options.lowest', 1);
  if (typeof highest !== 'bigint') validateInteger(highest, 'options.highest', 2 * Number(lowest));
  else if (highest < 2n * BigInt(lowest)) throw new codes.ERR_INVALID_ARG_VALUE.RangeError('options.highest', highest);
  validateInteger(figures, 'options.figures', 1, 5);
  return new RecordableHistogram(kMade, { highest, figures });
}

function monitorEventLoopDelay(options = {}) {
  validateObject(options, 'options');
  const { resolution = 10 } = options;
  validateInteger(resolution, 'options.resolution', 1);
  return new ELDHistogram(kMade, resolution);
}

// A copy, that cannot be switched on and off.
const withState = (state) => new (state.isRecordable ? RecordableHistogram : Histogram)(kMade, { state });

module.exports = { withState, Histogram, RecordableHistogram, createHistogram, monitorEventLoopDelay };
