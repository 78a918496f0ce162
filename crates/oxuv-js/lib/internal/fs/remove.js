// `rm` and `rmdir`, which may go down and try again.
'use strict';

const native = binding('fs');
const { validateBoolean, validateInt32, validateObject, validateUint32 } = require('internal/validators');
const { checkCallback, request, shown, toPath } = require('internal/fs/util');
const { promise, run, runSync } = require('internal/fs/steps');
const { infoError } = require('internal/fs/system_error');
const requests = require('internal/fs/requests');

// What may pass: somebody else has the file, or puts files into the directory.
const PASSING = new Set(['EBUSY', 'EMFILE', 'ENFILE', 'ENOTEMPTY', 'EPERM']);

function check(options, defaults) {
  if (options === undefined) return defaults;
  validateObject(options, 'options');
  options = { ...defaults, ...options };
  validateBoolean(options.recursive, 'options.recursive');
  if (defaults.force !== undefined) validateBoolean(options.force, 'options.force');
  validateInt32(options.retryDelay, 'options.retryDelay', 0);
  validateUint32(options.maxRetries, 'options.maxRetries');
  return options;
}

function* removal(path, needsDirectory, syscall, { maxRetries, retryDelay }) {
  for (let tries = 1; ; tries++) {
    try {
      yield request(native.rm, [path, needsDirectory], syscall, { path, finish: () => undefined });
      return;
    } catch (error) {
      if (tries > maxRetries || !PASSING.has(error.code)) throw error;
    }
    yield tries * retryDelay;
  }
}

function* rmSteps(path, options) {
  try {
    const stats = yield { ...requests.lstat(path), syscall: 'stat' };
    if (stats.isDirectory() && !options.recursive) {
      throw infoError('ERR_FS_EISDIR', 'EISDIR', { message: 'is a directory', syscall: 'rm', path: shown(path) });
    }
    yield* removal(path, false, 'rm', options);
  } catch (error) {
    if (!options.force || error.code !== 'ENOENT') throw error;
  }
}

const rmOptions = (options) => check(options, { recursive: false, force: false, retryDelay: 100, maxRetries: 0 });
const rmdirOptions = (options) => check(options, { recursive: false, retryDelay: 100, maxRetries: 0 });

function rm(path, options, done) {
  path = toPath(path);
  run(rmSteps(path, rmOptions(options)), checkCallback(done));
}

function rmSync(path, options) {
  path = toPath(path);
  return runSync(rmSteps(path, rmOptions(options)));
}

let warned = false;
function warn() {
  if (warned) return;
  warned = true;
  process.emitWarning('In future versions of Node.js, fs.rmdir(path, { recursive: true }) will be removed. Use fs.rm(path, { recursive: true }) instead',
    'DeprecationWarning', 'DEP0147');
}

function* rmdirSteps(path, options) {
  if (options.recursive) yield* removal(path, true, 'rmdir', options);
  else yield request(native.rmdir, [path], 'rmdir', { path, finish: () => undefined });
}

function checkedRmdir(path, options) {
  path = toPath(path);
  options = rmdirOptions(options);
  if (options.recursive) warn();
  return rmdirSteps(path, options);
}

function rmdir(path, options, done) {
  checkCallback(done);
  run(checkedRmdir(path, options), done);
}

const rmdirSync = (path, options) => runSync(checkedRmdir(path, options));

module.exports = { rm, rmSync, rmdir, rmdirSync, rmOptions, promises: { rm: promise(rm), rmdir: promise(rmdir) } };
