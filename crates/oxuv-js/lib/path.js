// The module `path`: paths of POSIX. Those of Windows stand in internal/path_win32.js.
'use strict';

const { validateString } = require('internal/validators');
const { format, basenameOf, extnameOf, tidy } = require('internal/path_parts');

const isSeparator = (char) => char === '/';
const tidyPath = (path, isAbsolute) => tidy(path, isAbsolute, isSeparator, '/');

function resolve(...paths) {
  let path = '';
  for (let i = paths.length - 1; i >= -1 && path[0] !== '/'; i--) {
    const one = i >= 0 ? paths[i] : process.cwd();
    if (i >= 0) validateString(one, `paths[${i}]`);
    if (one !== '') path = path === '' ? one : `${one}/${path}`;
  }
  const isAbsolute = path[0] === '/';
  const tail = tidyPath(path, isAbsolute);
  if (isAbsolute) return `/${tail}`;
  return tail === '' ? '.' : tail;
}

function normalize(path) {
  validateString(path, 'path');
  if (path === '') return '.';
  const isAbsolute = path[0] === '/';
  let tail = tidyPath(path, isAbsolute);
  if (tail === '') {
    if (isAbsolute) return '/';
    return path.endsWith('/') ? './' : '.';
  }
  if (path.endsWith('/')) tail += '/';
  return isAbsolute ? `/${tail}` : tail;
}

function isAbsolute(path) {
  validateString(path, 'path');
  return path[0] === '/';
}

function join(...paths) {
  for (const path of paths) validateString(path, 'path');
  const joined = paths.filter((path) => path !== '').join('/');
  return joined === '' ? '.' : normalize(joined);
}

function relative(from, to) {
  validateString(from, 'from');
  validateString(to, 'to');
  if (from === to) return '';
  from = resolve(from);
  to = resolve(to);
  if (from === to) return '';
  const above = from.split('/').filter(Boolean);
  const below = to.split('/').filter(Boolean);
  let common = 0;
  while (common < above.length && common < below.length && above[common] === below[common]) common++;
  return [...above.slice(common).fill('..'), ...below.slice(common)].join('/');
}

function toNamespacedPath(path) {
  return path;
}

function dirname(path) {
  validateString(path, 'path');
  if (path === '') return '.';
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  const slash = path.lastIndexOf('/', end - 1);
  if (slash === -1) return '.';
  if (slash === 0) return path[1] === '/' && end > 1 && path.lastIndexOf('/', end - 1) === 1 ? '//' : '/';
  end = slash;
  if (end === 1 && path[0] === '/') return '//';
  return path.slice(0, end);
}

function basename(path, suffix) {
  if (suffix !== undefined) validateString(suffix, 'suffix');
  validateString(path, 'path');
  return basenameOf(path, suffix, isSeparator);
}

function extname(path) {
  validateString(path, 'path');
  return extnameOf(basenameOf(path, undefined, isSeparator));
}

function parse(path) {
  validateString(path, 'path');
  const root = path[0] === '/' ? '/' : '';
  const base = basenameOf(path, undefined, isSeparator);
  const ext = extnameOf(base);
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  const start = end - base.length;
  const dir = start > 1 ? path.slice(0, start - 1) : root;
  return { root, dir: base === '' ? root : dir, base, ext, name: base.slice(0, base.length - ext.length) };
}

const posix = {
  resolve,
  normalize,
  isAbsolute,
  join,
  relative,
  toNamespacedPath,
  dirname,
  basename,
  extname,
  format: format.bind(null, '/'),
  parse,
  sep: '/',
  delimiter: ':',
  win32: null,
  posix: null,
};
Object.defineProperty(posix.format, 'name', { value: 'format', configurable: true });

// Rarely asked for.
Object.defineProperty(posix, 'win32', {
  get() {
    const value = require('internal/path_win32');
    Object.defineProperty(posix, 'win32', { value, writable: true, enumerable: true, configurable: true });
    return value;
  },
  enumerable: true,
  configurable: true,
});
posix.posix = posix;
Object.defineProperty(posix, '_makeLong', { value: toNamespacedPath, writable: true, enumerable: true, configurable: true });

module.exports = posix;
