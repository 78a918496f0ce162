// Directories: the class Dir, and listings that go down.
'use strict';

const native = binding('fs');
const { codes: { ERR_DIR_CLOSED, ERR_DIR_CONCURRENT_OPERATION, ERR_ILLEGAL_CONSTRUCTOR, ERR_MISSING_ARGS } } = require('internal/codes');
const { validateUint32, validateFunction } = require('internal/validators');
const { bufferClass, isRaw, nameOf, optionsOf, request, start, sync, toPath } = require('internal/fs/util');
const { typeOf } = require('internal/fs/stats');
const requests = require('internal/fs/requests');

const ASYNC_ITERATOR = Object.getPrototypeOf(Object.getPrototypeOf((async function* () {}).prototype));

const OURS = Symbol('ours');

// A directory that is read piece by piece.
class Dir {
  #path;
  // How it is read: `request()` for the next entries, `close()` for the end.
  #source;
  #entries = [];
  #isClosed = false;
  // Operations that wait for the one under way; null without one.
  #waiting = null;

  constructor(mark, path, source) {
    if (mark === undefined) throw new ERR_MISSING_ARGS('handle');
    if (mark !== OURS) throw new ERR_ILLEGAL_CONSTRUCTOR();
    this.#path = path;
    this.#source = source;
  }

  get path() { return this.#path; }

  // One operation after the other. Each calls `done(error, value)` later.
  #later(operation, done) {
    if (this.#waiting !== null) {
      this.#waiting.push([operation, done]);
      return;
    }
    this.#waiting = [];
    operation((error, value) => {
      const waiting = this.#waiting;
      this.#waiting = null;
      for (const [next, nextDone] of waiting) this.#later(next, nextDone);
      done(error, value);
    });
  }

  #checkOpen() {
    if (this.#isClosed) throw new ERR_DIR_CLOSED();
  }

  #checkIdle() {
    this.#checkOpen();
    if (this.#waiting !== null) throw new ERR_DIR_CONCURRENT_OPERATION();
  }

  #take(entries) {
    if (entries !== undefined) this.#entries = entries.reverse();
    return this.#entries.pop() ?? null;
  }

  #read(done) {
    this.#later((ready) => {
      if (this.#entries.length > 0) process.nextTick(ready, null, this.#take());
      else start(this.#source.request(), (error, entries) => (error === null ? ready(null, this.#take(entries)) : ready(error)));
    }, done);
  }

  read(callback) {
    this.#checkOpen();
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.#read((error, entry) => (error ? reject(error) : resolve(entry)));
      });
    }
    validateFunction(callback, 'callback');
    return this.#read(callback);
  }

  readSync() {
    this.#checkIdle();
    return this.#take(this.#entries.length > 0 ? undefined : sync(this.#source.request()));
  }

  #close(done) {
    this.#isClosed = true;
    this.#later((ready) => start(this.#source.close(), ready), done);
  }

  close(callback) {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.#checkOpen();
        this.#close((error) => (error ? reject(error) : resolve()));
      });
    }
    validateFunction(callback, 'callback');
    if (this.#isClosed) {
      process.nextTick(callback, new ERR_DIR_CLOSED());
      return undefined;
    }
    return this.#close((error) => callback(error));
  }

  closeSync() {
    this.#checkIdle();
    this.#isClosed = true;
    sync(this.#source.close());
  }

  // By hand: whoever leaves a loop finds the directory closed, also where the loop does not wait for that.
  entries() {
    const close = async () => { if (!this.#isClosed) await this.close(); };
    return {
      __proto__: ASYNC_ITERATOR,
      next: async () => {
        const value = this.#isClosed ? null : await this.read();
        if (value !== null) return { value, done: false };
        await close();
        return { value: undefined, done: true };
      },
      async return(value) {
        await close();
        return { value, done: true };
      },
    };
  }
}
Object.defineProperty(Dir.prototype, Symbol.asyncIterator, {
  value: Dir.prototype.entries, enumerable: false, writable: true, configurable: true,
});

// What a Dir reads of: a directory of the system's, or entries that are known.
const sourceOf = (handle, path, encoding, count) => ({
  request: () => request((callback) => handle.read(callback, count, isRaw(encoding)), [], 'scandir', {
    path, finish: ([names, kinds]) => names.map((name, at) => requests.entry(path, nameOf(name, encoding), kinds[at])),
  }),
  close: () => request((callback) => handle.close(callback), [], 'closedir', { finish: () => undefined }),
});
const knownSource = (entries) => {
  const give = (value) => (callback) => {
    if (callback === undefined) return value;
    setImmediate(callback, 0, value);
    return undefined;
  };
  return { request: () => request(give(entries.splice(0)), [], 'scandir'), close: () => request(give(undefined), [], 'closedir') };
};

function opening(path, options) {
  const { encoding, bufferSize = 32, recursive } = optionsOf(options, { encoding: 'utf8' });
  path = toPath(path);
  validateUint32(bufferSize, 'options.bufferSize', true);
  if (recursive) {
    return request((callback) => {
      if (callback !== undefined) throw new TypeError('a deep directory is opened by a walk');
      return readdirSync(path, { encoding, withFileTypes: true, recursive: true });
    }, [], 'opendir', { path, finish: (entries) => new Dir(OURS, path, knownSource(entries)), isRecursive: true });
  }
  return request(native.opendir, [path], 'opendir', {
    path, finish: (handle) => new Dir(OURS, path, sourceOf(handle, path, encoding, bufferSize)),
  });
}

const opendirSync = (path, options) => sync(opening(path, options));

function opendir(path, options, done) {
  const made = opening(path, options);
  if (!made.isRecursive) {
    start(made, done);
    return;
  }
  readdir(path, { ...options, withFileTypes: true, recursive: true }, (error, entries) => {
    if (error !== null) done(error);
    else done(null, made.finish(entries));
  });
}

const below = (path, name) => {
  if (typeof path === 'string' && typeof name === 'string') return require('path').join(path, name);
  const Buffer = bufferClass();
  return Buffer.concat([Buffer.from(path), Buffer.from('/'), Buffer.from(name)]);
};

// One listing of many directories: breadth first, each directory's own entries together.
class Walk {
  constructor(path, options) {
    this.root = toPath(path);
    this.options = optionsOf(options);
    this.todo = [{ path: this.root, prefix: undefined }];
    this.found = [];
  }

  request() {
    const { path } = this.todo[0];
    return requests.readdir(path, { ...this.options, withFileTypes: true, recursive: false });
  }

  // True at the end.
  add(entries) {
    const { path, prefix } = this.todo.shift();
    for (const entry of entries) {
      const name = prefix === undefined ? entry.name : below(prefix, entry.name);
      this.found.push(this.options.withFileTypes ? entry : name);
      if (typeOf(entry) === 2) this.todo.push({ path: below(path, entry.name), prefix: name });
    }
    return this.todo.length === 0;
  }
}

function readdirSync(path, options) {
  const made = requests.readdir(path, options);
  if (!made.isRecursive) return sync(made);
  const walk = new Walk(path, options);
  while (!walk.add(sync(walk.request())));
  return walk.found;
}

function readdir(path, options, done) {
  const made = requests.readdir(path, options);
  if (!made.isRecursive) {
    start(made, done);
    return;
  }
  const walk = new Walk(path, options);
  const next = () => start(walk.request(), (error, entries) => {
    if (error !== null) done(error);
    else if (walk.add(entries)) done(null, walk.found);
    else next();
  });
  next();
}

const promise = (method) => (path, options) => new Promise((resolve, reject) => {
  method(path, options, (error, value) => { if (error) reject(error); else resolve(value); });
});

module.exports = {
  Dir, opendir, opendirSync, readdir, readdirSync, promises: { opendir: promise(opendir), readdir: promise(readdir) },
};
