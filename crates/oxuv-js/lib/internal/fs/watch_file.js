// `fs.watchFile` and `fs.unwatchFile`: files are looked at again and again.
'use strict';

const native = binding('fs');
const EventEmitter = require('events');
const { errorOf, shown, toPath } = require('internal/fs/util');
const { validateFunction, validateUint32 } = require('internal/validators');
const { noStats, statsOf } = require('internal/fs/stats');

const INTERVAL = 5007;

class StatWatcher extends EventEmitter {
  #handle = null;
  #isBig;
  // Each call of watchFile counts for one; ref and unref take that back and forth.
  #refs = 1;
  #mostRefs = 1;

  constructor(isBig) {
    super();
    this.#isBig = Boolean(isBig);
  }

  start(path, isPersistent, interval) {
    if (this.#handle !== null) return;
    validateUint32(interval, 'interval');
    const stats = (numbers) => (numbers === undefined ? noStats(this.#isBig) : statsOf(numbers));
    try {
      this.#handle = native.watchFile(path, interval, this.#isBig, (errno, current, previous) => {
        this.emit('change', stats(current), stats(previous));
      });
    } catch (error) {
      throw typeof error === 'number' ? errorOf(error, { syscall: 'watch', path }) : error;
    }
    if (!isPersistent) this.unref();
  }

  stop() {
    if (this.#handle === null) return;
    process.nextTick(() => this.emit('stop'));
    this.#handle.close();
    this.#handle = null;
  }

  ref() {
    if (this.#refs === this.#mostRefs) return this;
    if (this.#handle !== null && this.#refs++ === 0) this.#handle.ref();
    return this;
  }

  unref() {
    if (this.#refs === 0) return this;
    if (this.#handle !== null && --this.#refs === 0) this.#handle.unref();
    return this;
  }

  // One listener more, or so many less.
  static count(watcher, change) {
    watcher.#mostRefs = Math.max(0, watcher.#mostRefs + change);
    if (change > 0) watcher.ref();
    else if (watcher.#refs > watcher.#mostRefs) watcher.unref();
  }
}
const { count } = StatWatcher;
delete StatWatcher.count;

const watchers = new Map();

const nameOf = (path) => require('path').resolve(shown(toPath(path)));

function watchFile(path, options, listener) {
  path = nameOf(path);
  if (options === null || typeof options !== 'object') {
    listener = options;
    options = {};
  }
  const { interval, persistent, bigint } = { interval: INTERVAL, persistent: true, ...options };
  validateFunction(listener, 'listener');
  let watcher = watchers.get(path);
  if (watcher === undefined) {
    watcher = new StatWatcher(bigint);
    watcher.start(path, persistent, interval);
    watchers.set(path, watcher);
  } else {
    count(watcher, 1);
  }
  watcher.on('change', listener);
  return watcher;
}

function unwatchFile(path, listener) {
  path = nameOf(path);
  const watcher = watchers.get(path);
  if (watcher === undefined) return;
  const before = watcher.listenerCount('change');
  if (typeof listener === 'function') watcher.removeListener('change', listener);
  else watcher.removeAllListeners('change');
  const after = watcher.listenerCount('change');
  if (after < before) count(watcher, after - before);
  if (after === 0) {
    watcher.stop();
    watchers.delete(path);
  }
}

module.exports = { StatWatcher, watchFile, unwatchFile };
