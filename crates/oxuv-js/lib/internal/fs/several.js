// What needs several requests: each written once with callbacks, and once in a row.
'use strict';

const { checkCallback, start, sync, toPath, optionsOf, nameOf, isRaw, errorOf } = require('internal/fs/util');
const requests = require('internal/fs/requests');
const native = binding('fs');

function rm(path, options, done) {
  const checked = requests.checkRemoval(path, options);
  checkCallback(done);
  start(requests.lstat(checked.path), (error, stats) => {
    if (error !== null) done(checked.force && error.code === 'ENOENT' ? null : error);
    else if (stats.isDirectory() && !checked.recursive) done(requests.refuse(checked.path));
    else start(requests.removal(checked.path), (failure) => done(checked.force && failure?.code === 'ENOENT' ? null : failure));
  });
}

function rmSync(path, options) {
  const checked = requests.checkRemoval(path, options);
  try {
    const stats = sync(requests.lstat(checked.path));
    if (stats.isDirectory() && !checked.recursive) throw requests.refuse(checked.path);
    sync(requests.removal(checked.path));
  } catch (error) {
    if (!checked.force || error.code !== 'ENOENT') throw error;
  }
}

let warned = false;
function warnOfFd() {
  if (warned) return;
  warned = true;
  process.emitWarning('Using fs.truncate with a file descriptor is deprecated. Please use fs.ftruncate with a file descriptor instead.',
    'DeprecationWarning', 'DEP0081');
}

function truncate(path, length, done) {
  if (typeof path === 'number') {
    warnOfFd();
    start(requests.ftruncate(path, length), checkCallback(done));
    return;
  }
  requests.ftruncate(0, length);
  checkCallback(done);
  start(requests.open(path, 'r+'), (error, fd) => {
    if (error !== null) {
      done(error);
      return;
    }
    start(requests.ftruncate(fd, length), (failure) => start(requests.close(fd), (closing) => done(failure ?? closing)));
  });
}

function truncateSync(path, length) {
  if (typeof path === 'number') warnOfFd();
  if (typeof path === 'number') return sync(requests.ftruncate(path, length));
  requests.ftruncate(0, length);
  const fd = sync(requests.open(path, 'r+'));
  try {
    return sync(requests.ftruncate(fd, length));
  } finally {
    sync(requests.close(fd));
  }
}

// `realpath` looks at one part of the path after the other, so its errors name the first that is wrong.
function realpathRequest(path, options) {
  const { encoding } = optionsOf(options);
  path = toPath(path);
  return { path, encoding, call: native.realpath, args: [path, isRaw(encoding)], syscall: 'realpath' };
}

function realpathError(error, path) {
  const text = require('path').resolve(typeof path === 'string' ? path : require('internal/fs/util').bufferClass().from(path).toString());
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

function realpath(path, options, done) {
  const made = realpathRequest(path, options);
  start(made, (error, name) => {
    if (error !== null) done(realpathError(error, made.path));
    else done(null, nameOf(name, made.encoding));
  });
}

function realpathSync(path, options) {
  const made = realpathRequest(path, options);
  let name;
  try {
    name = sync(made);
  } catch (error) {
    throw realpathError(error, made.path);
  }
  return nameOf(name, made.encoding);
}

const promise = (method) => (...args) => new Promise((resolve, reject) => {
  method(...args, (error, value) => { if (error) reject(error); else resolve(value); });
});

module.exports = { rm, rmSync, truncate, truncateSync, realpath, realpathSync, promise };
