// `cp`: files, links and whole directories.
'use strict';

const native = binding('fs');
const { codes: { ERR_INCOMPATIBLE_OPTION_PAIR, ERR_INVALID_RETURN_VALUE } } = require('internal/codes');
const { validateBoolean, validateFunction, validateInteger, validateObject } = require('internal/validators');
const { bufferClass, request, shown, toPath } = require('internal/fs/util');
const { promise, run, runSync } = require('internal/fs/steps');
const { infoError } = require('internal/fs/system_error');
const requests = require('internal/fs/requests');
const paths = require('path');

const DEFAULTS = {
  dereference: false, errorOnExist: false, filter: undefined, force: true, mode: 0, preserveTimestamps: false, recursive: false,
  verbatimSymlinks: false,
};

function check(options) {
  if (options === undefined) return DEFAULTS;
  validateObject(options, 'options');
  options = { ...DEFAULTS, ...options };
  for (const name of ['dereference', 'errorOnExist', 'force', 'preserveTimestamps', 'recursive', 'verbatimSymlinks']) {
    validateBoolean(options[name], `options.${name}`);
  }
  validateInteger(options.mode, 'options.mode', 0, 7);
  if (options.dereference && options.verbatimSymlinks) throw new ERR_INCOMPATIBLE_OPTION_PAIR('dereference', 'verbatimSymlinks');
  if (options.filter !== undefined) validateFunction(options.filter, 'options.filter');
  return options;
}

// Paths are texts; only where a name is no UTF-8 they are bytes.
function join(path, name) {
  if (typeof path === 'string' && typeof name === 'string') return paths.join(path, name);
  const Buffer = bufferClass();
  return Buffer.concat([Buffer.from(path), Buffer.from('/'), Buffer.from(name)]);
}

const wrong = (code, name, message, path, dest) => infoError(code, name, { message, syscall: 'cp', path: shown(path), dest: shown(dest) });

const isSame = (one, other) => one.ino === other.ino && one.dev === other.dev;

function isBelow(parent, path) {
  const parts = (text) => paths.resolve(text).split('/').filter(Boolean);
  const below = parts(path);
  return parts(parent).every((part, at) => below[at] === part);
}

// What is at a path, if anything.
function* look(path, follow) {
  try {
    return yield (follow ? requests.stat : requests.lstat)(path, { bigint: true });
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

// Looks at both, and refuses what makes no sense.
function* compare(from, to, { dereference }) {
  const source = yield (dereference ? requests.stat : requests.lstat)(from, { bigint: true });
  const target = yield* look(to, dereference);
  const [src, dest] = [shown(from), shown(to)];
  if (target !== undefined) {
    if (isSame(source, target)) throw wrong('ERR_FS_CP_EINVAL', 'EINVAL', 'src and dest cannot be the same', dest);
    if (source.isDirectory() && !target.isDirectory()) {
      throw wrong('ERR_FS_CP_DIR_TO_NON_DIR', 'EISDIR', `cannot overwrite non-directory ${dest} with directory ${src}`, dest);
    }
    if (!source.isDirectory() && target.isDirectory()) {
      throw wrong('ERR_FS_CP_NON_DIR_TO_DIR', 'ENOTDIR', `cannot overwrite directory ${dest} with non-directory ${src}`, dest);
    }
  }
  if (source.isDirectory() && isBelow(src, dest)) throw intoItself(src, dest);
  return { source, target };
}

const intoItself = (src, dest) => wrong('ERR_FS_CP_EINVAL', 'EINVAL', `cannot copy ${src} to a subdirectory of self ${dest}`, dest);

// A directory may be above the target by another name.
function* checkAbove(from, source, to) {
  const src = paths.resolve(paths.dirname(shown(from)));
  for (let above = paths.resolve(paths.dirname(shown(to))); above !== src && above !== '/'; above = paths.dirname(above)) {
    const found = yield* look(above, true);
    if (found === undefined) return;
    if (isSame(source, found)) throw intoItself(shown(from), shown(to));
  }
}

function* isWanted(from, to, { filter, isSync }) {
  if (filter === undefined) return true;
  const answer = filter(shown(from), shown(to));
  if (typeof answer?.then !== 'function') return Boolean(answer);
  if (isSync) throw new ERR_INVALID_RETURN_VALUE('boolean', 'filter', answer);
  return Boolean(yield answer);
}

function* copy(from, to, options) {
  if (!(yield* isWanted(from, to, options))) return;
  const { source, target } = yield* compare(from, to, options);
  yield* checkAbove(from, source, to);
  yield requests.mkdir(paths.dirname(shown(to)), { recursive: true });
  yield* copyAny(from, to, source, target, options);
}

function* copyAny(from, to, source, target, options) {
  if (source.isDirectory()) yield* copyDirectory(from, to, source, target, options);
  else if (source.isFile() || source.isCharacterDevice() || source.isBlockDevice()) yield* copyFile(from, to, source, target, options);
  else if (source.isSymbolicLink()) yield* copyLink(from, to, target, options);
  else if (source.isSocket()) throw wrong('ERR_FS_CP_SOCKET', 'EINVAL', `cannot copy a socket file: ${shown(to)}`, to);
  else if (source.isFIFO()) throw wrong('ERR_FS_CP_FIFO_PIPE', 'EINVAL', `cannot copy a FIFO pipe: ${shown(to)}`, to);
  else throw wrong('ERR_FS_CP_UNKNOWN', 'EINVAL', `cannot copy an unknown file type: ${shown(to)}`, to);
}

function* copyDirectory(from, to, source, target, options) {
  if (!options.recursive) {
    throw infoError('ERR_FS_EISDIR', 'EISDIR', { message: `${shown(from)} is a directory (not copied)`, syscall: 'cp', path: shown(from) });
  }
  if (target === undefined) yield requests.mkdir(to);
  const names = yield* list(from);
  for (const name of names) {
    const [below, belowTo] = [join(from, name), join(to, name)];
    if (!(yield* isWanted(below, belowTo, options))) continue;
    const found = yield* compare(below, belowTo, options);
    yield* copyAny(below, belowTo, found.source, found.target, options);
  }
  if (target === undefined) yield requests.chmod(to, Number(source.mode & 0o7777n));
}

// The names in a directory; those that are no UTF-8 as bytes.
function* list(path) {
  const names = yield requests.readdir(path);
  if (!names.some((name) => name.includes('\ufffd'))) return names;
  const raw = yield requests.readdir(path, 'buffer');
  return raw.map((name) => (bufferClass().from(`${name}`).equals(name) ? `${name}` : name));
}

function* copyFile(from, to, source, target, { errorOnExist, force, mode, preserveTimestamps }) {
  if (target !== undefined) {
    if (!force) {
      if (errorOnExist) throw wrong('ERR_FS_CP_EEXIST', 'EEXIST', `${shown(to)} already exists`, to);
      return;
    }
    yield requests.unlink(to);
  }
  yield requests.copyFile(from, to, mode);
  const bits = Number(source.mode & 0o7777n);
  if (preserveTimestamps) {
    if ((bits & 0o200) === 0) yield requests.chmod(to, bits | 0o200);
    // Copying has read the source.
    const { atimeMs, mtimeMs } = yield requests.stat(from);
    yield requests.utimes(to, atimeMs / 1000, mtimeMs / 1000);
  }
  yield requests.chmod(to, bits);
}

function* copyLink(from, to, target, { verbatimSymlinks }) {
  const absolute = (link, at) => (paths.isAbsolute(link) ? link : paths.resolve(paths.dirname(shown(at)), link));
  let leadsTo = yield readlink(from);
  if (!verbatimSymlinks) leadsTo = absolute(leadsTo, from);
  if (target !== undefined) {
    let before;
    try {
      before = absolute(yield readlink(to), to);
    } catch (error) {
      // It is no link; making one says that it is in the way.
      if (error.code !== 'EINVAL' && error.code !== 'UNKNOWN') throw error;
    }
    if (before !== undefined) {
      yield* checkLinks(absolute(leadsTo, from), before, from);
      yield requests.unlink(to);
    }
  }
  yield requests.symlink(leadsTo, to);
}

const readlink = (path) => request(native.readlink, [path, false], 'readlink', { path });

// Directories that one link leads to must not be within those of the other.
function* checkLinks(leadsTo, before, from) {
  const found = yield* look(from, true);
  if (!found?.isDirectory()) return;
  if (isBelow(leadsTo, before)) throw intoItself(leadsTo, before);
  // What is removed with the old link must not be what the new one leads to.
  if (isBelow(before, leadsTo)) {
    throw wrong('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', 'EINVAL', `cannot overwrite ${before} with ${leadsTo}`, before);
  }
}

function prepared(from, to, options, isSync) {
  options = { ...check(options), isSync };
  return copy(toPath(from, 'src'), toPath(to, 'dest'), options);
}

function cp(from, to, options, done) { run(prepared(from, to, options, false), done); }
function cpSync(from, to, options) { runSync(prepared(from, to, options, true)); }

module.exports = { cp, cpSync, promises: { cp: promise(cp) } };
