// `path.win32`: paths of Windows.
'use strict';

const { validateString } = require('internal/validators');
const { format, basenameOf, extnameOf, tidy } = require('internal/path_parts');

const isSeparator = (char) => char === '/' || char === '\\';
const isLetter = (char) => char !== undefined && /^[A-Za-z]$/.test(char);
const tidyPath = (path, isAbsolute) => tidy(path, isAbsolute, isSeparator, '\\');

// The front of a path: a device (`C:` or `\\server\share`), whether what follows begins at its root, and where that is.
function rootOf(path, knowsDevices = false) {
  if (isSeparator(path[0])) {
    const share = isSeparator(path[1]) ? /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path) : null;
    if (share === null) return { device: '', isAbsolute: true, end: 1 };
    if (knowsDevices && (share[1] === '.' || share[1] === '?')) return { device: `\\\\${share[1]}`, isAbsolute: true, end: 4 };
    return { device: `\\\\${share[1]}\\${share[2]}`, isAbsolute: true, end: share[0].length, isShare: true };
  }
  if (isLetter(path[0]) && path[1] === ':') {
    const isAbsolute = isSeparator(path[2]);
    return { device: path.slice(0, 2), isAbsolute, end: isAbsolute ? 3 : 2 };
  }
  return { device: '', isAbsolute: false, end: 0 };
}

// The directory that paths on a drive without a root are relative to.
function currentOn(device) {
  if (device === '') return process.cwd();
  const path = process.env[`=${device}`] || process.cwd();
  if (path === undefined || (path.slice(0, 2).toLowerCase() !== device.toLowerCase() && path[2] === '\\')) return `${device}\\`;
  return path;
}

function resolve(...paths) {
  let device = '';
  let tail = '';
  let isAbsolute = false;
  for (let i = paths.length - 1; i >= -1; i--) {
    let path;
    if (i >= 0) {
      path = paths[i];
      validateString(path, `paths[${i}]`);
      if (path === '') continue;
    } else {
      path = currentOn(device);
    }
    const root = rootOf(path, true);
    if (root.device !== '') {
      if (device === '') device = root.device;
      else if (root.device.toLowerCase() !== device.toLowerCase()) continue;
    }
    if (isAbsolute) {
      if (device !== '') break;
    } else {
      tail = `${path.slice(root.end)}\\${tail}`;
      isAbsolute = root.isAbsolute;
      if (isAbsolute && device !== '') break;
    }
  }
  tail = tidyPath(tail, isAbsolute);
  return isAbsolute ? `${device}\\${tail}` : `${device}${tail}` || '.';
}

function normalize(path) {
  validateString(path, 'path');
  if (path === '') return '.';
  if (path.length === 1) return path === '/' ? '\\' : path;
  const { device, isAbsolute, end } = rootOf(path, true);
  let tail = end < path.length ? tidyPath(path.slice(end), isAbsolute) : '';
  if (tail === '' && !isAbsolute) tail = '.';
  if (tail !== '' && isSeparator(path.at(-1)) && end < path.length) tail += '\\';
  // What was relative must not become a path on a drive.
  if (!isAbsolute && device === '' && (/^[A-Za-z]:/.test(tail) || /:([\\/]|$)/.test(path))) return `.\\${tail}`;
  return isAbsolute ? `${device}\\${tail}` : `${device}${tail}`;
}

function isAbsolute(path) {
  validateString(path, 'path');
  return isSeparator(path[0]) || (isLetter(path[0]) && path[1] === ':' && isSeparator(path[2]));
}

function join(...paths) {
  for (const path of paths) validateString(path, 'path');
  const parts = paths.filter((path) => path !== '');
  if (parts.length === 0) return '.';
  let joined = parts.join('\\');
  // Two separators in front mean a share, which only the first part can be meant as.
  const isShare = /^[\\/]{2}[^\\/]/.test(parts[0]);
  if (!isShare) joined = joined.replace(/^[\\/]{2,}/, '\\');
  return normalize(joined);
}

function relative(from, to) {
  validateString(from, 'from');
  validateString(to, 'to');
  if (from === to) return '';
  const start = resolve(from);
  const goal = resolve(to);
  if (start.toLowerCase() === goal.toLowerCase()) return '';
  const above = start.split('\\').filter(Boolean);
  const below = goal.split('\\').filter(Boolean);
  let common = 0;
  while (common < above.length && common < below.length && above[common].toLowerCase() === below[common].toLowerCase()) common++;
  // There is no way up from one drive to another.
  if (common === 0 && above.length > 0 && below.length > 0) return goal;
  return [...above.slice(common).fill('..'), ...below.slice(common)].join('\\');
}

function toNamespacedPath(path) {
  if (typeof path !== 'string' || path === '') return path;
  const full = resolve(path);
  if (full.length <= 2) return path;
  if (full.startsWith('\\\\')) {
    return full[2] !== '?' && full[2] !== '.' ? `\\\\?\\UNC\\${full.slice(2)}` : path;
  }
  if (isLetter(full[0]) && full[1] === ':' && full[2] === '\\') return `\\\\?\\${full}`;
  return path;
}

function dirname(path) {
  validateString(path, 'path');
  if (path === '') return '.';
  if (path.length === 1) return isSeparator(path) ? path : '.';
  const root = rootOf(path);
  let rootEnd = root.end;
  if (root.isShare) {
    if (rootEnd === path.length) return path;
    rootEnd++;
  }
  let end = path.length;
  while (end > rootEnd && isSeparator(path[end - 1])) end--;
  while (end > rootEnd && !isSeparator(path[end - 1])) end--;
  if (end > rootEnd) return path.slice(0, end - 1);
  return rootEnd === 0 ? '.' : path.slice(0, rootEnd);
}

const driveEnd = (path) => (isLetter(path[0]) && path[1] === ':' ? 2 : 0);

function basename(path, suffix) {
  if (suffix !== undefined) validateString(suffix, 'suffix');
  validateString(path, 'path');
  return basenameOf(path, suffix, isSeparator, driveEnd(path));
}

function extname(path) {
  validateString(path, 'path');
  return extnameOf(basenameOf(path, undefined, isSeparator, driveEnd(path)));
}

function parse(path) {
  validateString(path, 'path');
  const found = rootOf(path);
  let rootEnd = found.end;
  if (found.isShare && isSeparator(path[rootEnd])) rootEnd++;
  const root = path.slice(0, rootEnd);
  let end = path.length;
  while (end > rootEnd && isSeparator(path[end - 1])) end--;
  let start = end;
  while (start > rootEnd && !isSeparator(path[start - 1])) start--;
  const base = path.slice(start, end);
  const ext = extnameOf(base);
  const dir = start > rootEnd ? path.slice(0, start - 1) : root;
  return { root, dir, base, ext, name: base.slice(0, base.length - ext.length) };
}

const win32 = {
  resolve,
  normalize,
  isAbsolute,
  join,
  relative,
  toNamespacedPath,
  dirname,
  basename,
  extname,
  format: format.bind(null, '\\'),
  parse,
  sep: '\\',
  delimiter: ';',
  win32: null,
  posix: require('path'),
};
Object.defineProperty(win32.format, 'name', { value: 'format', configurable: true });
win32.win32 = win32;
win32._makeLong = toNamespacedPath;

module.exports = win32;
