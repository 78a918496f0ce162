// `fs.watch` and `fs.promises.watch`: the system tells of changes.
'use strict';

const native = binding('fs');
const EventEmitter = require('events');
const { AbortError, codes: { ERR_INTERNAL_ASSERTION, ERR_INVALID_ARG_VALUE }, systemError } = require('internal/codes');
const { validateAbortSignal, validateBoolean, validateFunction, validateObject } = require('internal/validators');
const { isEncoding } = require('internal/buffer_text');
const { isRaw, nameOf, optionsOf, shown, toPath } = require('internal/fs/util');

const ENOSPC = -28;

function errorOf(errno, path) {
  const error = systemError({ errno, syscall: 'watch', path });
  if (errno === ENOSPC) error.message = `ENOSPC: System limit for number of file watchers reached, watch '${path}'`;
  error.filename = path;
  return error;
}

// Handles of ours.
const made = new WeakSet();

// Starts to watch. `handle.onchange(errno, eventType, name)` is called for all that happens.
function begin(path, { persistent, recursive, encoding }, onchange) {
  let handle;
  try {
    handle = native.watch(path, Boolean(recursive), isRaw(encoding), (errno, isRename, name) => {
      handle.onchange(errno, isRename ? 'rename' : 'change', nameOf(name, encoding) ?? null);
    });
  } catch (error) {
    throw typeof error === 'number' ? errorOf(error, shown(path)) : error;
  }
  made.add(handle);
  handle.onchange = onchange;
  if (!persistent) handle.unref();
  return handle;
}

const noHandle = { close() {}, ref() {}, unref() {}, hasRef: () => false };

// Scripts can reach it.
function checkHandle(handle) {
  if (!made.has(handle)) throw new ERR_INTERNAL_ASSERTION('handle must be a FSEvent');
}

const kStart = Symbol('kFSWatchStart');

class FSWatcher extends EventEmitter {
  _handle = noHandle;

  [kStart](path, options) {
    if (this._handle !== noHandle) {
      checkHandle(this._handle);
      return;
    }
    this._handle = begin(toPath(path), options, (errno, eventType, name) => {
      if (errno === 0) {
        this.emit('change', eventType, name);
        return;
      }
      if (this._handle !== null) {
        this._handle.close();
        this._handle = null;
      }
      this.emit('error', errorOf(errno, name ?? shown(path)));
    });
  }

  close() {
    const handle = this._handle;
    if (handle === null) return;
    this._handle = null;
    if (handle === noHandle) return;
    checkHandle(handle);
    handle.close();
    process.nextTick(() => this.emit('close'));
  }

  ref() {
    this._handle?.ref();
    return this;
  }

  unref() {
    this._handle?.unref();
    return this;
  }
}
Object.defineProperty(FSWatcher.prototype, Symbol.dispose ?? Symbol.for('nodejs.dispose'), {
  value: function dispose() { this.close(); }, writable: true, configurable: true,
});

function watch(path, options, listener) {
  if (typeof options === 'function') listener = options;
  const { persistent = true, recursive = false, encoding, signal } = optionsOf(options);
  if (listener !== undefined) validateFunction(listener, 'listener');
  const watcher = new FSWatcher();
  watcher[kStart](path, { persistent, recursive, encoding });
  if (listener) watcher.on('change', listener);
  if (signal?.aborted) {
    process.nextTick(() => watcher.close());
  } else if (signal !== undefined) {
    const onAbort = () => watcher.close();
    signal.addEventListener('abort', onAbort, { once: true });
    watcher.once('close', () => signal.removeEventListener('abort', onAbort));
  }
  return watcher;
}

// Events from the handle, until an error or the end.
class Events {
  #waiting = [];
  #failure;
  #wake;

  add(event) {
    this.#waiting.push(event);
    this.#wake?.();
  }

  fail(error) {
    this.#failure ??= { error };
    this.#wake?.();
  }

  async next() {
    while (this.#waiting.length === 0 && this.#failure === undefined) {
      await new Promise((resolve) => { this.#wake = resolve; });
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#waiting.shift();
  }
}

async function* watchEvents(path, options = {}) {
  path = toPath(path);
  validateObject(options, 'options');
  const { persistent = true, recursive = false, encoding = 'utf8', signal } = options;
  validateBoolean(persistent, 'options.persistent');
  validateBoolean(recursive, 'options.recursive');
  validateAbortSignal(signal, 'options.signal');
  if (encoding && encoding !== 'buffer' && !isEncoding(encoding)) {
    throw new ERR_INVALID_ARG_VALUE('options.encoding', encoding, 'is invalid encoding');
  }
  const aborted = () => new AbortError(undefined, { cause: signal.reason });
  if (signal?.aborted) throw aborted();
  const events = new Events();
  const handle = begin(path, { persistent, recursive, encoding }, (errno, eventType, filename) => {
    if (errno === 0) events.add({ __proto__: null, eventType, filename });
    else events.fail(errorOf(errno, filename ?? shown(path)));
  });
  const onAbort = () => events.fail(aborted());
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) yield await events.next();
  } finally {
    handle.close();
    signal?.removeEventListener('abort', onAbort);
  }
}

module.exports = { FSWatcher, watch, watchEvents };
