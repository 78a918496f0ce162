// The module `querystring`.
'use strict';

const { charsOf, bytesOf } = require('internal/buffer_text');
const { codes: { ERR_INVALID_URI } } = require('internal/codes');

// The bytes behind escapes; what is no escape stays as it is.
function unescapeBuffer(text, decodeSpaces = false) {
  if (decodeSpaces) text = text.replaceAll('+', ' ');
  const bytes = charsOf(bytesOf(`${text}`, 'utf8')).replace(/%([0-9A-Fa-f]{2})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
  return require('buffer').Buffer.from(bytes, 'latin1');
}

function unescape(text, decodeSpaces) {
  try {
    return decodeURIComponent(text);
  } catch {
    return querystring.unescapeBuffer(text, decodeSpaces).toString();
  }
}

function escape(value) {
  if (typeof value !== 'string') value = typeof value === 'object' ? String(value) : `${value}`;
  try {
    return encodeURIComponent(value);
  } catch {
    return value.replace(/[\ud800-\udbff][^]|[^]/gu, escapeOne);
  }
}

// Half a pair and what follows it are taken for a pair.
function escapeOne(char) {
  try {
    return encodeURIComponent(char);
  } catch {
    throw new ERR_INVALID_URI();
  }
}

function primitive(value) {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return `${value}`;
  return typeof value === 'bigint' || typeof value === 'boolean' ? `${value}` : '';
}

function stringify(object, separator = '&', equals = '=', options = undefined) {
  const encode = typeof options?.encodeURIComponent === 'function' ? options.encodeURIComponent : querystring.escape;
  if (object === null || typeof object !== 'object') return '';
  separator ||= '&';
  equals ||= '=';
  const parts = [];
  for (const key of Object.keys(object)) {
    const name = `${encode(primitive(key))}${equals}`;
    const value = object[key];
    for (const one of Array.isArray(value) ? value : [value]) parts.push(`${name}${encode(primitive(one))}`);
  }
  return parts.join(separator);
}

function parse(text, separator = '&', equals = '=', options = undefined) {
  const found = Object.create(null);
  if (typeof text !== 'string' || text === '') return found;
  const most = typeof options?.maxKeys === 'number' ? options.maxKeys : 1000;
  const custom = typeof options?.decodeURIComponent === 'function' ? options.decodeURIComponent : undefined;
  const decode = (part) => {
    part = part.replaceAll('+', custom === undefined ? ' ' : '%20');
    if (custom === undefined && (querystring.unescape === unescape && !part.includes('%'))) return part;
    try {
      return (custom ?? querystring.unescape)(part);
    } catch {
      return unescape(part, true);
    }
  };
  separator = `${separator || '&'}`;
  equals = `${equals || '='}`;
  let parts = text.split(separator).filter((part) => part !== '');
  if (most > 0) parts = parts.slice(0, most);
  for (const part of parts) {
    const at = part.indexOf(equals);
    const key = decode(at < 0 ? part : part.slice(0, at));
    const value = at < 0 ? '' : decode(part.slice(at + equals.length));
    if (!(key in found)) found[key] = value;
    else if (Array.isArray(found[key])) found[key].push(value);
    else found[key] = [found[key], value];
  }
  return found;
}

const querystring = { unescapeBuffer, unescape, escape, stringify, encode: stringify, parse, decode: parse };
module.exports = querystring;
