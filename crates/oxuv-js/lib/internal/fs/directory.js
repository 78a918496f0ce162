// Directories: the class Dir, and listings that go down.
'use strict';

const native = binding('fs');
const { codes: { ERR_DIR_CLOSED, ERR_DIR_CONCURRENT_OPERATION, ERR_ILLEGAL_CONSTRUCTOR, ERR_MISSING_ARGS } } = require('internal/codes');
const { validateUint32, validateFunction } = require('internal/validators');
const { bufferClass, isRaw, nameOf, optionsOf, request, start, sync, toPath } = require('internal/fs/util');
const { typeOf } = require('internal/fs/stats');
const requests = require('internal/fs/requests');

const OURS = Symbol('ours');

// The whole of a directory, read when it was opened.
class Dir {
  #path;
  #entries;
  #next = 0;
  #isClosed = false;
  // Calls that have not come back.
  #pending = 0;

  constructor(mark, path, entries) {
    if (mark === undefined) throw new ERR_MISSING_ARGS('handle');
    if (mark !== OURS) throw new ERR_ILLEGAL_CONSTRUCTOR();
    this.#path = path;
    this.#entries = entries;
  }

  get path() { return this.#path; }

  #take() { return this.#next < this.#entries.length ? this.#entries[this.#next++] : null; }

  // Comes back in another turn, as a read of the system would.
  #later(done, take) {
    this.#pending++;
    setImmediate(() => {
      this.#pending--;
      done(null, take());
    });
  }

  #checkOpen() {
    if (this.#isClosed) throw new ERR_DIR_CLOSED();
  }

  read(callback) {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.#checkOpen();
        this.#later((error, entry) => (error ? reject(error) : resolve(entry)), () => this.#take());
      });
    }
    validateFunction(callback, 'callback');
    this.#checkOpen();
    return this.#later(callback, () => this.#take());
  }

  readSync() {
    this.#checkOpen();
    if (this.#pending > 0) throw new ERR_DIR_CONCURRENT_OPERATION();
    return this.#take();
  }

  close(callback) {
    if (callback === undefined) {
      return new Promise((resolve) => {
        this.#checkOpen();
        this.#isClosed = true;
        this.#later(resolve, () => undefined);
      }).then(() => undefined);
    }
    validateFunction(callback, 'callback');
    if (this.#isClosed) {
      process.nextTick(callback, new ERR_DIR_CLOSED());
      return undefined;
    }
    this.#isClosed = true;
    return this.#later((error) => callback(error), () => undefined);
  }

  closeSync() {
    this.#checkOpen();
    if (this.#pending > 0) throw new ERR_DIR_CONCURRENT_OPERATION();
    this.#isClosed = true;
  }

  async* entries() {
    try {
      for (let entry; (entry = await this.read()) !== null;) yield entry;
    } finally {
      if (!this.#isClosed) await this.close();
    }
  }
}
Object.defineProperty(Dir.prototype, Symbol.asyncIterator, {
  value: Dir.prototype.entries, enumerable: false, writable: true, configurable: true,
});

function opening(path, options) {
  const { encoding, bufferSize = 32, recursive } = optionsOf(options, { encoding: 'utf8' });
  path = toPath(path);
  validateUint32(bufferSize, 'options.bufferSize', true);
  if (recursive) {
    return request((callback) => {
      if (callback !== undefined) throw new TypeError('a deep directory is opened by a walk');
      return readdirSync(path, { encoding, withFileTypes: true, recursive: true });
    }, [], 'opendir', { path, finish: (entries) => new Dir(OURS, path, entries), isRecursive: true });
  }
  return request(native.list, [path, isRaw(encoding)], 'opendir', {
    path,
    finish: ([names, kinds]) => new Dir(OURS, path, names.map((name, at) => requests.entry(path, nameOf(name, encoding), kinds[at]))),
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
