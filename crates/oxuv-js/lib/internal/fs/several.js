// What needs several requests.
'use strict';

const { bufferClass, checkCallback, errorOf, isRaw, nameOf, optionsOf, start, sync, toPath } = require('internal/fs/util');
const { run, runSync } = require('internal/fs/steps');
const requests = require('internal/fs/requests');
const native = binding('fs');
const { basename, dirname, join, resolve } = require('path');

let warned = false;
function warnOfFd() {
  if (warned) return;
  warned = true;
  process.emitWarning('Using fs.truncate with a file descriptor is deprecated. Please use fs.ftruncate with a file descriptor instead.',
    'DeprecationWarning', 'DEP0081');
}

function* truncateSteps(path, length) {
  const fd = yield requests.open(path, 'r+');
  try {
    yield requests.ftruncate(fd, length);
  } finally {
    yield requests.close(fd);
  }
}

function truncate(path, length, done) {
  if (typeof path === 'number') {
    warnOfFd();
    start(requests.ftruncate(path, length), checkCallback(done));
    return;
  }
  checkTruncation(path, length);
  run(truncateSteps(path, length), checkCallback(done));
}

function truncateSync(path, length) {
  if (typeof path === 'number') {
    warnOfFd();
    return sync(requests.ftruncate(path, length));
  }
  checkTruncation(path, length);
  return runSync(truncateSteps(path, length));
}

function checkTruncation(path, length) {
  requests.ftruncate(0, length);
  toPath(path);
}

// `realpath` looks at one part of the path after the other, so its errors name the first that is wrong.
function realpathRequest(path, options) {
  const { encoding } = optionsOf(options);
  path = toPath(path);
  return { path, encoding, call: native.realpath, args: [path, isRaw(encoding)], syscall: 'realpath' };
}

function realpathError(error, path) {
  const text = resolve(typeof path === 'string' ? path : bufferClass().from(path).toString());
  for (let end = text.indexOf('/', 1); ; end = text.indexOf('/', end + 1)) {
    const part = end < 0 ? text : text.slice(0, end);
    try {
      sync(requests.lstat(part));
    } catch (found) {
      return found;
    }
    if (end < 0) return errorOf(error.errno, { syscall: error.errno === -2 ? 'stat' : 'lstat', path: text });
  }
}

function* realpathSteps(made) {
  let name;
  try {
    name = yield made;
  } catch (error) {
    const last = error.code === 'ENOENT' ? yield* nameless(made.path) : undefined;
    if (last === undefined) throw realpathError(error, made.path);
    name = isRaw(made.encoding) ? bufferClass().from(last) : last;
  }
  return nameOf(name, made.encoding);
}

// Links to pipes and sockets (`/dev/stdin`) lead to something that is there, but has no path: their text stands for one.
function* nameless(path) {
  if (typeof path !== 'string') return undefined;
  try {
    const stats = yield requests.stat(path);
    if (!stats.isFIFO() && !stats.isSocket()) return undefined;
    for (let at = path; ;) {
      const folder = yield requests.realpath(dirname(resolve(at)));
      at = join(folder, basename(at));
      const target = yield* linkTarget(at);
      if (target === undefined) return at;
      at = resolve(folder, target);
    }
  } catch {
    return undefined;
  }
}

function* linkTarget(path) {
  try {
    return yield requests.readlink(path);
  } catch {
    return undefined;
  }
}

function realpath(path, options, done) { run(realpathSteps(realpathRequest(path, options)), done); }
const realpathSync = (path, options) => runSync(realpathSteps(realpathRequest(path, options)));

module.exports = { truncate, truncateSync, realpath, realpathSync };
