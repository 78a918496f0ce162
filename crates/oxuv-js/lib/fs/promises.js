// The module `fs/promises`.
'use strict';

const { promised } = require('internal/fs/util');
const requests = require('internal/fs/requests');
const { codes: { ERR_METHOD_NOT_IMPLEMENTED } } = require('internal/codes');

const { promise } = require('internal/fs/steps');

const several = () => require('internal/fs/several');
const directory = () => require('internal/fs/directory').promises;
const remove = () => require('internal/fs/remove').promises;
const handle = () => require('internal/fs/file_handle');

for (const name of ['access', 'copyFile', 'rename', 'mkdir', 'readlink', 'symlink', 'lstat', 'stat', 'statfs', 'link', 'unlink', 'chmod',
  'lchown', 'chown', 'utimes', 'lutimes', 'realpath', 'mkdtemp']) {
  const make = requests[name];
  exports[name] = Object.defineProperty(async (...args) => promised(make(...args)), 'name', { value: name });
}

Object.assign(exports, {
  async open(path, flags, mode) { return handle().open(path, flags, mode); },
  async opendir(path, options) { return directory().opendir(path, options); },
  async readdir(path, options) { return directory().readdir(path, options); },
  async truncate(path, length) { return promise(several().truncate)(path, length); },
  async rm(path, options) { return remove().rm(path, options); },
  async rmdir(path, options) { return remove().rmdir(path, options); },
  async cp(from, to, options) { return require('internal/fs/copy').promises.cp(from, to, options); },
  watch(path, options) { return require('internal/fs/watch').watchEvents(path, options); },
  async readFile(path, options) { return handle().readFile(path, options); },
  async writeFile(path, data, options) { return handle().writeFile(path, data, options, 'w'); },
  async appendFile(path, data, options) { return handle().writeFile(path, data, options, 'a'); },
  async lchmod() { throw new ERR_METHOD_NOT_IMPLEMENTED('lchmod()'); },
});
Object.defineProperty(exports, 'constants', { get: () => require('internal/fs/constants'), enumerable: true, configurable: true });
