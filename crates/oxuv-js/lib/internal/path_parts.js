// What paths of all systems have in common.
'use strict';

const { validateObject } = require('internal/validators');

// The parts of a path in between separators, without `.`, and with `..` only where nothing is left to leave.
function tidy(path, isAbsolute, isSeparator, separator) {
  const parts = [];
  let start = 0;
  for (let at = 0; at <= path.length; at++) {
    if (at < path.length && !isSeparator(path[at])) continue;
    const part = path.slice(start, at);
    start = at + 1;
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!isAbsolute) parts.push('..');
  }
  return parts.join(separator);
}

function basenameOf(path, suffix, isSeparator, from = 0) {
  let end = path.length;
  while (end > from && isSeparator(path[end - 1])) end--;
  let start = end;
  while (start > from && !isSeparator(path[start - 1])) start--;
  const base = path.slice(start, end);
  if (suffix === undefined || suffix === '') return base;
  // Of what ends in a separator the suffix was never a part, but it is taken off all the same.
  return base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : path === suffix ? '' : base;
}

function extnameOf(base) {
  const dot = base.lastIndexOf('.');
  return dot <= 0 || base === '..' ? '' : base.slice(dot);
}

function format(separator, parts) {
  validateObject(parts, 'pathObject');
  const dir = parts.dir || parts.root;
  const ext = parts.ext ? `${parts.ext[0] === '.' ? '' : '.'}${parts.ext}` : '';
  const base = parts.base || `${parts.name || ''}${ext}`;
  if (!dir) return base;
  return dir === parts.root ? `${dir}${base}` : `${dir}${separator}${base}`;
}

module.exports = { tidy, basenameOf, extnameOf, format };
