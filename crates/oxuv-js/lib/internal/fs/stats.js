// Stats and Dirent: what a file is.
'use strict';

const { S_IFMT, S_IFREG, S_IFDIR, S_IFCHR, S_IFBLK, S_IFIFO, S_IFLNK, S_IFSOCK } = require('internal/fs/constants');

const KINDS = {
  isDirectory: [S_IFDIR, 2], isFile: [S_IFREG, 1], isBlockDevice: [S_IFBLK, 7], isCharacterDevice: [S_IFCHR, 6],
  isSymbolicLink: [S_IFLNK, 3], isFIFO: [S_IFIFO, 4], isSocket: [S_IFSOCK, 5],
};

function addKinds(Class, method) {
  for (const [name, [mode, kind]] of Object.entries(KINDS)) {
    Object.defineProperty(Class.prototype, name, {
      value: { [name]() { return method(this, mode, kind); } }[name], writable: true, enumerable: true, configurable: true,
    });
  }
}

const FIELDS = ['dev', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'blksize', 'ino', 'size', 'blocks'];
const TIMES = ['atime', 'mtime', 'ctime', 'birthtime'];

function Base() {}
addKinds(Base, (stats, mode) => (typeof stats.mode === 'bigint' ? Number(stats.mode) & S_IFMT : stats.mode & S_IFMT) === mode);

function setDates(stats) {
  for (const name of TIMES) stats[name] = new Date(Math.round(Number(stats[`${name}Ms`])));
}

function Stats(...values) {
  FIELDS.forEach((name, at) => { this[name] = values[at]; });
  TIMES.forEach((name, at) => { this[`${name}Ms`] = values[FIELDS.length + at]; });
  setDates(this);
}
Object.setPrototypeOf(Stats.prototype, Base.prototype);
Object.setPrototypeOf(Stats, Base);

function BigIntStats(...values) {
  FIELDS.forEach((name, at) => { this[name] = values[at]; });
  TIMES.forEach((name, at) => { this[`${name}Ms`] = values[FIELDS.length + at] / 1_000_000n; });
  TIMES.forEach((name, at) => { this[`${name}Ns`] = values[FIELDS.length + at]; });
  setDates(this);
}
Object.setPrototypeOf(BigIntStats.prototype, Base.prototype);
Object.setPrototypeOf(BigIntStats, Base);

// From numbers as the loop's side gives them: times are seconds and nanoseconds.
function statsOf(numbers) {
  const isBig = typeof numbers[0] === 'bigint';
  const values = numbers.slice(0, FIELDS.length);
  for (let at = FIELDS.length; at < numbers.length; at += 2) {
    values.push(isBig ? numbers[at] * 1_000_000_000n + numbers[at + 1] : numbers[at] * 1000 + numbers[at + 1] / 1e6);
  }
  return isBig ? new BigIntStats(...values) : new Stats(...values);
}

// Of a file that is not there.
function noStats(isBig) {
  const none = new Array(FIELDS.length + 2 * TIMES.length).fill(isBig ? 0n : 0);
  return statsOf(none);
}

class StatFs {
  constructor(...values) {
    ['type', 'bsize', 'blocks', 'bfree', 'bavail', 'files', 'ffree'].forEach((name, at) => { this[name] = values[at]; });
  }
}

const kType = Symbol('type');

class Dirent {
  constructor(name, path, type) {
    this.name = name;
    this.parentPath = path;
    this.path = path;
    this[kType] = type;
  }
}
addKinds(Dirent, (entry, mode, kind) => entry[kType] === kind);

module.exports = { Stats, statsOf, noStats, StatFs, Dirent, typeOf: (entry) => entry[kType] };
