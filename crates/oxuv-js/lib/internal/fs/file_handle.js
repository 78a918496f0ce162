// FileHandle: an open file of `fs.promises`.
'use strict';

const EventEmitter = require('events');
const { AbortError, codes: { ERR_INVALID_ARG_TYPE, ERR_INVALID_STATE } } = require('internal/codes');
const { promised, toPath } = require('internal/fs/util');
const requests = require('internal/fs/requests');
const transfer = require('internal/fs/transfer');
const whole = require('internal/fs/whole');
const { promise } = require('internal/fs/steps');

const OURS = Symbol('ours');

class FileHandle extends EventEmitter {
  #fd;
  #closing;
  // Users that have to be done before it is closed.
  #users = 1;
  #whenUnused;

  constructor(mark, fd) {
    if (mark !== OURS) throw new ERR_INVALID_STATE('a FileHandle is made by open()');
    super();
    this.#fd = fd;
  }

  get fd() { return this.#fd; }

  // Does something while the file stays open.
  async #use(syscall, work) {
    if (this.#fd === -1) throw Object.assign(new Error('file closed'), { code: 'EBADF', syscall });
    this.#users++;
    try {
      return await work(this.#fd);
    } finally {
      if (--this.#users === 0) this.#whenUnused?.();
    }
  }

  #ask(syscall, make) { return this.#use(syscall, (fd) => promised(make(fd))); }

  async #transfer(syscall, count, what, make) {
    return this.#use(syscall, async (fd) => {
      const made = make(fd);
      return { __proto__: null, [count]: made.isEmpty ? 0 : await promised(made), [what]: made[what] };
    });
  }

  appendFile(data, options) { return writeFile(this, data, options, 'a'); }
  chmod(mode) { return this.#ask('fchmod', (fd) => requests.fchmod(fd, mode)); }
  chown(uid, gid) { return this.#ask('fchown', (fd) => requests.fchown(fd, uid, gid)); }
  datasync() { return this.#ask('fdatasync', (fd) => requests.fdatasync(fd)); }
  read(...args) {
    // What is no buffer holds the options, if it holds anything.
    if (!ArrayBuffer.isView(args[0])) args = [typeof args[0] === 'object' ? args[0] : {}];
    return this.#transfer('read', 'bytesRead', 'buffer', (fd) => transfer.read(fd, ...args));
  }

  readv(buffers, position) { return this.#transfer('read', 'bytesRead', 'buffers', (fd) => transfer.readv(fd, buffers, position)); }
  readFile(options) { return readFile(this, options); }
  stat(options) { return this.#ask('fstat', (fd) => requests.fstat(fd, options)); }
  sync() { return this.#ask('fsync', (fd) => requests.fsync(fd)); }
  truncate(length) { return this.#ask('ftruncate', (fd) => requests.ftruncate(fd, length)); }
  utimes(atime, mtime) { return this.#ask('futime', (fd) => requests.futimes(fd, atime, mtime)); }
  write(...args) {
    if (args[0]?.byteLength === 0) return Promise.resolve({ __proto__: null, bytesWritten: 0, buffer: args[0] });
    return this.#transfer('write', 'bytesWritten', 'buffer', (fd) => transfer.write(fd, ...args));
  }
  writev(buffers, position) { return this.#transfer('write', 'bytesWritten', 'buffers', (fd) => transfer.writev(fd, buffers, position)); }
  writeFile(data, options) { return writeFile(this, data, options, 'w'); }

  close() {
    if (this.#fd === -1) return Promise.resolve();
    return this.#closing ??= this.#close();
  }

  async #close() {
    const fd = this.#fd;
    this.#fd = -1;
    if (--this.#users > 0) await new Promise((resolve) => { this.#whenUnused = resolve; });
    try {
      await promised(requests.close(fd));
    } finally {
      this.#closing = undefined;
      this.emit('close');
    }
  }

  createReadStream(options) { return new (require('fs').ReadStream)(undefined, { ...options, fd: this }); }
  createWriteStream(options) { return new (require('fs').WriteStream)(undefined, { ...options, fd: this }); }
  readLines(options) {
    return require('readline').createInterface({ input: this.createReadStream(options), crlfDelay: Infinity });
  }

  // For functions outside of the class.
  static use(handle, syscall, work) { return handle.#use(syscall, work); }
  static hold(handle) { handle.#users++; }
  static release(handle) {
    if (--handle.#users === 0) handle.#whenUnused?.();
  }
}
const { use, hold, release } = FileHandle;
for (const name of ['use', 'hold', 'release']) delete FileHandle[name];
Object.defineProperty(FileHandle.prototype, Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose'), {
  value: function asyncDispose() { return this.close(); }, writable: true, configurable: true,
});

async function open(path, flags, mode) {
  return new FileHandle(OURS, await promised(requests.open(path, flags, mode)));
}

async function readFile(path, options) {
  if (!(path instanceof FileHandle)) return promise(whole.readFile)(typeof path === 'number' ? path : toPath(path), options);
  const { encoding, signal } = whole.readOptions(options);
  return use(path, 'read', (fd) => promise(whole.readAll)(fd, encoding, signal));
}

const isIterable = (data) => typeof data === 'object' && data !== null && !ArrayBuffer.isView(data) &&
  (typeof data[Symbol.asyncIterator] === 'function' || typeof data[Symbol.iterator] === 'function');

async function writeFile(path, data, options, flag) {
  const checked = whole.writeOptions(options, flag);
  if (!isIterable(data)) whole.checkData(data);
  if (path instanceof FileHandle) return use(path, 'write', (fd) => writeInto(fd, data, checked));
  if (!isIterable(data)) return promise((done) => whole.writeFile(path, data, options, done, flag))();
  if (checked.signal?.aborted) throw new AbortError(undefined, { cause: checked.signal.reason });
  const file = await open(path, checked.flag, checked.mode);
  try {
    await use(file, 'write', (fd) => writeInto(fd, data, checked));
  } finally {
    await file.close();
  }
  return undefined;
}

async function writeInto(fd, data, options) {
  const write = promise(whole.writeAll);
  if (!isIterable(data)) return write(fd, whole.payloadOf(data, options.encoding), options);
  for await (const piece of data) {
    if (typeof piece !== 'string' && !ArrayBuffer.isView(piece)) {
      throw new ERR_INVALID_ARG_TYPE('data', ['string', 'Buffer', 'TypedArray', 'DataView'], piece);
    }
    await write(fd, whole.payloadOf(piece, options.encoding), { signal: options.signal });
  }
  if (options.flush) await promised(requests.fsync(fd));
  return undefined;
}

module.exports = { FileHandle, hold, release, open, readFile, writeFile };
