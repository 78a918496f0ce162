// The requests that need one call of the system: arguments are checked, and become a request. Of each the callback form,
// the sync form and the promise form are made.
'use strict';

const native = binding('fs');
const { codes: { ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_FS_INVALID_SYMLINK_TYPE } } = require('internal/codes');
const { validateBoolean, validateInteger, parseFileMode } = require('internal/validators');
const { isRaw, nameOf, optionsOf, request, sync, toFd, toFlags, toPath, toTime } = require('internal/fs/util');
const { statsOf, StatFs, Dirent } = require('internal/fs/stats');
const { F_OK } = require('internal/fs/constants');

const nothing = () => undefined;

function checkMode(mode) {
  mode ??= F_OK;
  if (typeof mode !== 'number') throw new ERR_INVALID_ARG_TYPE('mode', 'integer', mode);
  if (!Number.isInteger(mode) || mode < 0 || mode > 7) throw new ERR_OUT_OF_RANGE('mode', 'an integer >= 0 && <= 7', mode);
  return mode;
}

// Once for each: of habits that are to end.
const warned = new Set();
function warn(text, name, code) {
  if (warned.has(text)) return;
  warned.add(text);
  process.emitWarning(text, name, code);
}

function access(path, mode) {
  path = toPath(path);
  return request(native.access, [path, checkMode(mode)], 'access', { path, finish: nothing });
}

function open(path, flags, mode) {
  path = toPath(path);
  return request(native.open, [path, toFlags(flags ?? 'r'), parseFileMode(mode, 'mode', 0o666)], 'open', { path });
}

const close = (fd) => request(native.close, [toFd(fd)], 'close', { finish: nothing });

const stating = (file, syscall, options, isLink, more) =>
  request(native.stat, [file, Boolean(options?.bigint), isLink], syscall, { ...more, finish: statsOf });
const stat = (path, options) => {
  path = toPath(path);
  return stating(path, 'stat', options, false, { path });
};
const lstat = (path, options) => {
  path = toPath(path);
  return stating(path, 'lstat', options, true, { path });
};
const fstat = (fd, options) => stating(toFd(fd), 'fstat', options, false);
const statfs = (path, options) => {
  path = toPath(path);
  return request(native.statfs, [path, Boolean(options?.bigint)], 'statfs', { path, finish: (values) => new StatFs(...values) });
};

function mkdir(path, options) {
  let mode = options;
  let recursive = false;
  if (typeof options === 'object' && options !== null) {
    ({ mode, recursive = false } = options);
    validateBoolean(recursive, 'options.recursive');
  } else if (typeof options === 'function') {
    mode = undefined;
  }
  path = toPath(path);
  const args = [path, parseFileMode(mode, 'mode', 0o777), recursive];
  return request(native.mkdir, args, 'mkdir', { path, finish: (made) => made ?? undefined });
}

function mkdtemp(prefix, options) {
  const { encoding } = optionsOf(options);
  prefix = toPath(prefix, 'prefix');
  if (typeof prefix === 'string' && prefix.endsWith('X')) {
    warn('mkdtemp() templates ending with X are not portable. For details see: https://nodejs.org/api/fs.html');
  }
  return request(native.mkdtemp, [prefix, isRaw(encoding)], 'mkdtemp', {
    path: typeof prefix === 'string' ? `${prefix}XXXXXX` : prefix, finish: (name) => nameOf(name, encoding),
  });
}

function readdir(path, options) {
  const { encoding, withFileTypes, recursive } = optionsOf(options);
  path = toPath(path);
  if (recursive !== undefined && recursive !== null) validateBoolean(recursive, 'options.recursive');
  return request(native.list, [path, isRaw(encoding)], 'scandir', {
    path,
    isRecursive: Boolean(recursive),
    finish([names, kinds]) {
      names = names.map((name) => nameOf(name, encoding));
      return withFileTypes ? names.map((name, at) => entry(path, name, kinds[at])) : names;
    },
  });
}

// An entry of a directory. Where the directory does not know its kind, the file does.
function entry(path, name, kind) {
  if (kind === 0 && typeof name === 'string' && typeof path === 'string') {
    try {
      const { mode } = sync(lstat(`${path}/${name}`));
      kind = { 0o100000: 1, 0o040000: 2, 0o120000: 3, 0o010000: 4, 0o140000: 5, 0o020000: 6, 0o060000: 7 }[mode & 0o170000] ?? 0;
    } catch { /* It is gone. */ }
  }
  return new Dirent(name, typeof path === 'string' ? path : require('internal/fs/util').bufferClass().from(path).toString(), kind);
}

function rename(from, to) {
  from = toPath(from, 'oldPath');
  to = toPath(to, 'newPath');
  return request(native.rename, [from, to], 'rename', { path: from, dest: to, finish: nothing });
}

function unlink(path) {
  path = toPath(path);
  return request(native.unlink, [path], 'unlink', { path, finish: nothing });
}

function copyFile(from, to, mode) {
  from = toPath(from, 'src');
  to = toPath(to, 'dest');
  return request(native.copyFile, [from, to, checkMode(mode)], 'copyfile', { path: from, dest: to, finish: nothing });
}

function link(from, to) {
  from = toPath(from, 'existingPath');
  to = toPath(to, 'newPath');
  return request(native.link, [from, to], 'link', { path: from, dest: to, finish: nothing });
}

function symlink(target, path, type) {
  if (type !== undefined && type !== null && !['dir', 'file', 'junction'].includes(type)) throw new ERR_FS_INVALID_SYMLINK_TYPE(type);
  target = toPath(target, 'target');
  path = toPath(path);
  return request(native.symlink, [target, path], 'symlink', { path: target, dest: path, finish: nothing });
}

function readlink(path, options) {
  const { encoding } = optionsOf(options);
  path = toPath(path, 'oldPath');
  return request(native.readlink, [path, isRaw(encoding)], 'readlink', { path, finish: (name) => nameOf(name, encoding) });
}

function realpath(path, options) {
  const { encoding } = optionsOf(options);
  path = toPath(path);
  return request(native.realpath, [path, isRaw(encoding)], 'realpath', { path, finish: (name) => nameOf(name, encoding) });
}

function ftruncate(fd, length) {
  fd = toFd(fd);
  if (length === undefined) length = 0;
  validateInteger(length, 'len');
  return request(native.ftruncate, [fd, Math.max(0, length)], 'ftruncate', { finish: nothing });
}

function chmod(path, mode) {
  path = toPath(path);
  return request(native.chmod, [path, parseFileMode(mode, 'mode')], 'chmod', { path, finish: nothing });
}
const fchmod = (fd, mode) => request(native.chmod, [toFd(fd), parseFileMode(mode, 'mode')], 'fchmod', { finish: nothing });

function owning(file, uid, gid, syscall, isLink, more) {
  validateInteger(uid, 'uid', -1, 2 ** 32 - 1);
  validateInteger(gid, 'gid', -1, 2 ** 32 - 1);
  return request(native.chown, [file, uid, gid, isLink], syscall, { ...more, finish: nothing });
}
function chown(path, uid, gid) {
  path = toPath(path);
  return owning(path, uid, gid, 'chown', false, { path });
}
function lchown(path, uid, gid) {
  path = toPath(path);
  return owning(path, uid, gid, 'lchown', true, { path });
}
const fchown = (fd, uid, gid) => owning(toFd(fd), uid, gid, 'fchown', false);

function utimes(path, atime, mtime) {
  path = toPath(path);
  return request(native.utimes, [path, toTime(atime), toTime(mtime), false], 'utime', { path, finish: nothing });
}
function lutimes(path, atime, mtime) {
  path = toPath(path);
  return request(native.utimes, [path, toTime(atime), toTime(mtime), true], 'lutime', { path, finish: nothing });
}
function futimes(fd, atime, mtime) {
  return request(native.utimes, [toFd(fd), toTime(atime, 'atime'), toTime(mtime, 'mtime'), false], 'futime', { finish: nothing });
}

const fsync = (fd) => request(native.fsync, [toFd(fd)], 'fsync', { finish: nothing });
const fdatasync = (fd) => request(native.fdatasync, [toFd(fd)], 'fdatasync', { finish: nothing });

module.exports = {
  access, open, close, stat, lstat, fstat, statfs, mkdir, mkdtemp, rename, unlink, copyFile, link, symlink, readlink, realpath,
  ftruncate, chmod, fchmod, chown, lchown, fchown, utimes, lutimes, futimes, fsync, fdatasync, readdir, entry,
};
