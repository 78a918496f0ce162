// FileHandle: an open file of `fs.promises`.
'use strict';

const EventEmitter = require('events');
const { codes: { ERR_INTERNAL_ASSERTION, ERR_INVALID_ARG_TYPE, ERR_INVALID_STATE } } = require('internal/codes');
const { checkAborted, promised, start, toPath } = require('internal/fs/util');
const requests = require('internal/fs/requests');
const transfer = require('internal/fs/transfer');
const whole = require('internal/fs/whole');
const { promise } = require('internal/fs/steps');
const { kCheck, kTransfer } = require('internal/transferable');

const OURS = Symbol('ours');

// Of a handle: its number, how many use it, the promise of its end, and what is to be done when nobody uses it.
let stateOf;

// A handle that was forgotten is closed, but that is no way to do it.
const forgotten = new FinalizationRegistry((state) => {
  const { fd } = state;
  if (fd === -1) return;
  state.fd = -1;
  start(requests.close(fd), () => {});
  process.emitWarning(`Closing file descriptor ${fd} on garbage collection`);
  warnOfForgotten();
});

let warned = false;
function warnOfForgotten() {
  if (warned) return;
  warned = true;
  process.emitWarning('Closing a FileHandle object on garbage collection is deprecated. Please close FileHandle objects explicitly using ' +
    'FileHandle.prototype.close(). In the future, an error will be thrown if a file descriptor is closed during garbage collection.',
  'DeprecationWarning', 'DEP0137');
}

function hold(handle) { stateOf(handle).users++; }
function release(handle) {
  const state = stateOf(handle);
  if (--state.users === 0) state.whenUnused?.();
}

// Does something while the file stays open.
async function use(handle, syscall, work) {
  const state = stateOf(handle);
  if (state === undefined) throw new ERR_INTERNAL_ASSERTION('handle must be an instance of FileHandle');
  if (state.fd === -1) throw Object.assign(new Error('file closed'), { code: 'EBADF', syscall });
  state.users++;
  try {
    return await work(state.fd);
  } finally {
    release(handle);
  }
}

const ask = (handle, syscall, make) => use(handle, syscall, (fd) => promised(make(fd)));

const transferred = (handle, syscall, count, what, make) => use(handle, syscall, async (fd) => {
  const made = make(fd);
  return { __proto__: null, [count]: made.isEmpty ? 0 : await promised(made), [what]: made[what] };
});

class FileHandle extends EventEmitter {
  #state;

  constructor(mark, fd) {
    if (mark !== OURS) throw new ERR_INVALID_STATE('a FileHandle is made by open()');
    super();
    this.#state = { fd, users: 1, closing: undefined, whenUnused: undefined };
    forgotten.register(this, this.#state, this.#state);
  }

  static {
    stateOf = (handle) => (typeof handle === 'object' && handle !== null && #state in handle ? handle.#state : undefined);
  }

  get fd() { return this.#state.fd; }

  appendFile(data, options) { return writeFile(this, data, options, 'a'); }
  chmod(mode) { return ask(this, 'fchmod', (fd) => requests.fchmod(fd, mode)); }
  chown(uid, gid) { return ask(this, 'fchown', (fd) => requests.fchown(fd, uid, gid)); }
  datasync() { return ask(this, 'fdatasync', (fd) => requests.fdatasync(fd)); }
  sync() { return ask(this, 'fsync', (fd) => requests.fsync(fd)); }
  stat(options) { return ask(this, 'fstat', (fd) => requests.fstat(fd, options)); }
  truncate(length) { return ask(this, 'ftruncate', (fd) => requests.ftruncate(fd, length)); }
  utimes(atime, mtime) { return ask(this, 'futime', (fd) => requests.futimes(fd, atime, mtime)); }

  read(...args) {
    // What is no buffer holds the options, if it holds anything.
    if (!ArrayBuffer.isView(args[0])) args = [typeof args[0] === 'object' ? args[0] : {}];
    return transferred(this, 'read', 'bytesRead', 'buffer', (fd) => transfer.read(fd, ...args));
  }
  readv(buffers, position) { return transferred(this, 'read', 'bytesRead', 'buffers', (fd) => transfer.readv(fd, buffers, position)); }
  readFile(options) { return readFile(this, options); }
  readLines(options) {
    return require('readline').createInterface({ input: this.createReadStream(options), crlfDelay: Infinity });
  }
  createReadStream(options) { return new (require('fs').ReadStream)(undefined, { ...options, fd: this }); }

  write(...args) {
    if (args[0]?.byteLength === 0) return Promise.resolve({ __proto__: null, bytesWritten: 0, buffer: args[0] });
    return transferred(this, 'write', 'bytesWritten', 'buffer', (fd) => transfer.write(fd, ...args));
  }
  writev(buffers, position) {
    return transferred(this, 'write', 'bytesWritten', 'buffers', (fd) => transfer.writev(fd, buffers, position));
  }
  writeFile(data, options) { return writeFile(this, data, options, 'w'); }
  createWriteStream(options) { return new (require('fs').WriteStream)(undefined, { ...options, fd: this }); }

  [kCheck]() {
    const { users, fd, closing } = this.#state;
    if (fd !== -1 && users === 1 && closing === undefined) return;
    throw new DOMException('FileHandle in use, or closed', 'DataCloneError');
  }

  // Its number, which is the receiver's from then on.
  [kTransfer]() {
    const { fd } = this.#state;
    this.#state.fd = -1;
    forgotten.unregister(this.#state);
    return fd;
  }

  // Whoever uses it may end what is begun.
  close() {
    const state = this.#state;
    if (state.fd === -1) return Promise.resolve();
    if (state.closing === undefined) {
      state.closing = --state.users === 0 ? shut(state)
        : new Promise((resolve, reject) => { state.whenUnused = () => shut(state).then(resolve, reject); });
      this.emit('close');
    }
    return state.closing;
  }
}

async function shut(state) {
  const { fd } = state;
  state.fd = -1;
  forgotten.unregister(state);
  await promised(requests.close(fd));
}

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
  checkAborted(checked.signal);
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
  checkAborted(options.signal);
  for await (const piece of data) {
    if (typeof piece !== 'string' && !ArrayBuffer.isView(piece)) {
      throw new ERR_INVALID_ARG_TYPE('data', ['string', 'Buffer', 'TypedArray', 'DataView'], piece);
    }
    await write(fd, whole.payloadOf(piece, options.encoding), { signal: options.signal });
  }
  if (options.flush) await promised(requests.fsync(fd));
  return undefined;
}

const withNumber = (fd) => new FileHandle(OURS, fd);

module.exports = { withNumber, FileHandle, hold, release, open, readFile, writeFile };
