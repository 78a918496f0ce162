// The module `fs`: the callback and the sync forms. The promise forms stand in fs/promises.js.
'use strict';

const { checkCallback, errorOf, own, start, sync, toPath } = require('internal/fs/util');
const requests = require('internal/fs/requests');

const lazy = (name) => () => require(name);
const whole = lazy('internal/fs/whole');
const transfer = lazy('internal/fs/transfer');
const directory = lazy('internal/fs/directory');
const several = lazy('internal/fs/several');
const remove = lazy('internal/fs/remove');
const copy = lazy('internal/fs/copy');
const streams = lazy('internal/fs/streams');
const watches = lazy('internal/fs/watch');
const watchedFiles = lazy('internal/fs/watch_file');
const fs = exports;

// While the script's steps are followed, a callback finds the values that are there now.
const bound = (callback) => (process._own.bind === undefined ? callback : process._own.bind(callback));

// The callback comes last; arguments between it and the first may be left out.
function takeCallback(args, count) {
  const found = args.findLastIndex((arg, index) => index > 0 && typeof arg === 'function');
  const at = found < 0 ? count : found;
  const callback = args[at];
  args.length = Math.min(args.length, at);
  return callback;
}

// As in Node, these look at the callback before anything else.
const CALLBACK_FIRST = new Set(['stat', 'lstat', 'fstat', 'readlink', 'rename', 'link', 'unlink', 'mkdtemp', 'realpath', 'readdir', 'opendir']);

const named = (name, method) => Object.defineProperty(method, 'name', { value: name, configurable: true });

// The requests with one call.
for (const name of ['access', 'open', 'close', 'lstat', 'fstat', 'statfs', 'mkdir', 'mkdtemp', 'rename', 'unlink', 'copyFile', 'link',
  'symlink', 'readlink', 'ftruncate', 'chmod', 'fchmod', 'chown', 'fchown', 'lchown', 'utimes', 'futimes', 'lutimes', 'fsync', 'fdatasync',
  'stat']) {
  const make = requests[name];
  fs[name] = named(name, (...args) => {
    const callback = takeCallback(args, make.length);
    if (CALLBACK_FIRST.has(name)) checkCallback(callback);
    const made = make(...args);
    start(made, bound(checkCallback(callback)));
  });
  fs[`${name}Sync`] = named(`${name}Sync`, (...args) => sync(make(...args)));
}

// Without a callback, an error has nobody to go to but the process.
fs.close = function close(fd, callback = (error) => { if (error) throw error; }) {
  const made = requests.close(fd);
  checkCallback(callback);
  start(made, callback);
};

// What may say that there is nothing.
for (const name of ['stat', 'lstat']) {
  fs[`${name}Sync`] = named(`${name}Sync`, (path, options = { bigint: false, throwIfNoEntry: true }) => {
    const { call, args, finish, ...rest } = requests[name](path, options);
    let found;
    try {
      found = call(undefined, ...args);
    } catch (error) {
      if (typeof error !== 'number') throw error;
      // ENOENT.
      if (options?.throwIfNoEntry === false && error === -2) return undefined;
      throw errorOf(error, rest);
    }
    return finish(found);
  });
}

// Those with several: name, from where.
for (const [names, from] of [[['truncate', 'realpath'], several], [['rm', 'rmdir'], remove], [['readdir', 'opendir'], directory]]) {
  for (const name of names) {
    fs[name] = named(name, (...args) => {
      const callback = takeCallback(args, 2);
      if (CALLBACK_FIRST.has(name)) checkCallback(callback, name === 'opendir' ? 'callback' : 'cb');
      while (args.length < 2) args.push(undefined);
      from()[name](...args, bound(callback));
    });
    fs[`${name}Sync`] = named(`${name}Sync`, (...args) => from()[`${name}Sync`](...args));
  }
}
fs.realpath.native = named('native', (...args) => {
  const callback = takeCallback(args, 2);
  checkCallback(callback);
  start(requests.realpath(...args), bound(callback));
});
fs.realpathSync.native = named('native', (path, options) => sync(requests.realpath(path, options)));

fs.exists = function exists(path, callback) {
  checkCallback(callback);
  let made;
  try {
    made = requests.access(path);
  } catch {
    callback(false);
    return;
  }
  start(made, (error) => callback(error === null));
};
Object.defineProperty(fs.exists, Symbol.for('nodejs.util.promisify.custom'), {
  value: (path) => new Promise((resolve) => { fs.exists(path, resolve); }),
});
fs.existsSync = function existsSync(path) {
  try {
    sync(requests.access(path));
    return true;
  } catch {
    return false;
  }
};

fs.readFile = function readFile(path, options, callback) {
  callback ||= options;
  checkCallback(callback);
  whole().readFile(typeof path === 'number' ? path : toPath(path), options, bound(callback));
};
fs.readFileSync = function readFileSync(path, options) { return whole().readFileSync(path, options); };
fs.writeFile = function writeFile(path, data, options, callback) {
  callback ||= options;
  checkCallback(callback);
  whole().writeFile(path, data, options, bound(callback));
};
fs.writeFileSync = function writeFileSync(path, data, options) { whole().writeFileSync(path, data, options); };
fs.appendFile = function appendFile(path, data, options, callback) {
  callback ||= options;
  checkCallback(callback);
  whole().writeFile(path, data, options, callback, 'a');
};
fs.appendFileSync = function appendFileSync(path, data, options) { whole().writeFileSync(path, data, options, 'a'); };

// The callbacks of these get what was read into or written from, too.
for (const [name, what] of [['read', 'buffer'], ['write', 'buffer'], ['readv', 'buffers'], ['writev', 'buffers']]) {
  fs[name] = named(name, (...args) => {
    const callback = bound(checkCallback(takeCallback(args, args.length)));
    const made = transfer()[name](...args);
    if (made.isEmpty) process.nextTick(callback, null, 0, made[what]);
    else start(made, (error, count) => callback(error, error === null ? count : 0, made[what]));
  });
  fs[`${name}Sync`] = named(`${name}Sync`, (...args) => {
    const made = transfer()[name](...args);
    return made.isEmpty ? 0 : sync(made);
  });
  const count = name.startsWith('read') ? 'bytesRead' : 'bytesWritten';
  Object.defineProperty(fs[name], Symbol.for('nodejs.util.promisify.custom'), {
    value: (...args) => new Promise((resolve, reject) => {
      fs[name](...args, (error, number, given) => { if (error) reject(error); else resolve({ [count]: number, [what]: given }); });
    }),
  });
}

own.read = fs.read;

fs.cp = function cp(from, to, options, callback) {
  if (typeof options === 'function') {
    callback = options;
    options = undefined;
  }
  checkCallback(callback);
  copy().cp(from, to, options, callback);
};
fs.cpSync = function cpSync(from, to, options) { copy().cpSync(from, to, options); };

fs.watch = function watch(path, options, listener) { return watches().watch(path, options, listener); };
fs.watchFile = function watchFile(path, options, listener) { return watchedFiles().watchFile(path, options, listener); };
fs.unwatchFile = function unwatchFile(path, listener) { watchedFiles().unwatchFile(path, listener); };

fs.createReadStream = function createReadStream(path, options) { return new fs.ReadStream(path, options); };
fs.createWriteStream = function createWriteStream(path, options) { return new fs.WriteStream(path, options); };

// Loaded when they are first asked for.
function define(name, get, isEnumerable = true) {
  Object.defineProperty(fs, name, {
    get, set(value) { Object.defineProperty(fs, name, { value, writable: true, enumerable: true, configurable: true }); },
    enumerable: isEnumerable, configurable: true,
  });
}
define('constants', () => require('internal/fs/constants'));
define('promises', () => require('fs/promises'));
define('Stats', () => require('internal/fs/stats').Stats);
define('Dirent', () => require('internal/fs/stats').Dirent);
define('Dir', () => directory().Dir);
for (const name of ['ReadStream', 'WriteStream']) {
  define(name, () => streams()[name]);
  define(`File${name}`, () => streams()[name]);
}
define('_toUnixTimestamp', () => require('internal/fs/util').toTime);
// Linux has no modes of links.
fs.lchmod = fs.lchmodSync = undefined;
fs.F_OK = 0;
fs.R_OK = 4;
fs.W_OK = 2;
fs.X_OK = 1;
