// URLs as they were taken apart before the standard: `url.parse`, `url.resolve`, and `format` of what these give.
'use strict';

const { invalid } = require('internal/url');
const { codes: { ERR_INVALID_ARG_TYPE } } = require('internal/codes');
const { validateString } = require('internal/validators');
const querystring = () => require('querystring');

// Schemes that never have a host, and those that always do.
const HOSTLESS = new Set(['javascript', 'javascript:']);
const SLASHED = new Set(['http', 'https', 'ftp', 'gopher', 'file', 'ws', 'wss'].flatMap((name) => [name, `${name}:`]));

function Url() {
  this.protocol = null;
  this.slashes = null;
  this.auth = null;
  this.host = null;
  this.port = null;
  this.hostname = null;
  this.hash = null;
  this.search = null;
  this.query = null;
  this.pathname = null;
  this.path = null;
  this.href = null;
}

function parse(url, parseQueryString, slashesDenoteHost) {
  if (url instanceof Url) return url;
  const parsed = new Url();
  parsed.parse(url, parseQueryString, slashesDenoteHost);
  return parsed;
}

// Backslashes count as slashes in front of a query.
function clean(url) {
  const text = url.replace(/^[\s\ufeff]+|[\s\ufeff]+$/g, '');
  const end = text.search(/[?#]/);
  if (end < 0) return text.replaceAll('\\', '/');
  return `${text.slice(0, end).replaceAll('\\', '/')}${text.slice(end)}`;
}

const UNWISE = /[\t\n\r "'<>\\^`{|}]/g;
const escapeOne = (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

Url.prototype.parse = function parseInto(url, parseQueryString, slashesDenoteHost) {
  validateString(url, 'url');
  let rest = clean(url);
  if (!slashesDenoteHost && !/[#@]/.test(rest)) {
    // Mostly it is a path only.
    const simple = /^(\/\/?(?!\/)[^?\s]*)(\?[^\s]*)?$/.exec(rest);
    if (simple !== null) return this._setPath(rest, simple[1], simple[2], parseQueryString);
  }
  const scheme = /^[a-z0-9.+-]+:/i.exec(rest)?.[0].toLowerCase();
  if (scheme !== undefined) {
    this.protocol = scheme;
    rest = rest.slice(scheme.length);
  }
  let slashes = false;
  if (slashesDenoteHost || scheme || /^\/\/[^@/]+@[^@/]+/.test(rest)) {
    slashes = rest.startsWith('//');
    if (slashes && !(scheme && HOSTLESS.has(scheme))) {
      rest = rest.slice(2);
      this.slashes = true;
    }
  }
  if (!HOSTLESS.has(scheme) && (slashes || (scheme && !SLASHED.has(scheme)))) rest = this._takeHost(rest, url);
  if (!HOSTLESS.has(scheme)) rest = rest.replace(UNWISE, escapeOne);
  this._takeEnd(rest, scheme, parseQueryString);
  this.href = this.format();
  return this;
};

Url.prototype._setPath = function setPath(href, pathname, search, parseQueryString) {
  this.path = href;
  this.href = href;
  this.pathname = pathname;
  if (search) {
    this.search = search;
    this.query = parseQueryString ? querystring().parse(search.slice(1)) : search.slice(1);
  } else if (parseQueryString) {
    this.search = null;
    this.query = Object.create(null);
  }
  return this;
};

// Takes user and host off the front.
Url.prototype._takeHost = function takeHost(rest, url) {
  // Behind the last @ before the path comes the host; it ends with the first character that no host has.
  const end = rest.search(/[#/?]/);
  const front = (end < 0 ? rest : rest.slice(0, end)).replace(/[\t\n\r]/g, '');
  rest = `${front}${end < 0 ? '' : rest.slice(end)}`;
  const at = front.lastIndexOf('@');
  let host = front.slice(at + 1);
  if (at >= 0) {
    try {
      this.auth = decodeURIComponent(front.slice(0, at));
    } catch {
      throw new URIError('URI malformed');
    }
  }
  const odd = host.search(/[\t\n\r "%';<>\\^`{|}]/);
  rest = odd < 0 ? rest.slice(front.length) : rest.slice(at + 1 + odd);
  if (odd >= 0) host = host.slice(0, odd);
  const port = /:([0-9]*)$/.exec(host);
  if (port !== null) {
    if (port[1] !== '') this.port = port[1];
    host = host.slice(0, port.index);
  }
  let hostname = host;
  const isV6 = hostname.startsWith('[') && hostname.endsWith(']');
  if (!isV6) {
    // A colon that is none of a port's begins the path.
    const colon = hostname.indexOf(':');
    if (colon >= 0) {
      rest = `/${hostname.slice(colon)}${rest}`;
      hostname = hostname.slice(0, colon);
    }
    if (/[\0-\x20#%/:<>?@[\\\]^|]/.test(hostname)) throw invalid(url);
  }
  if (isV6 && /[\0\t\n\r #%/<>?@\\^|]/.test(hostname)) throw invalid(url);
  hostname = hostname.length > 255 ? '' : hostname.toLowerCase();
  if (hostname !== '' && !isV6 && /[^\0-\x7f]/.test(hostname)) {
    hostname = binding('url').toAscii(hostname);
    if (hostname === '') throw invalid(url);
  }
  this.hostname = hostname;
  this.host = `${hostname}${this.port === null ? '' : `:${this.port}`}`;
  if (isV6) this.hostname = hostname.slice(1, -1);
  return rest !== '' && !/^[/?#]/.test(rest) ? `/${rest}` : rest;
};

// Path, query and fragment.
Url.prototype._takeEnd = function takeEnd(rest, scheme, parseQueryString) {
  const hash = rest.indexOf('#');
  if (hash >= 0) {
    this.hash = rest.slice(hash);
    rest = rest.slice(0, hash);
  }
  const question = rest.indexOf('?');
  if (question >= 0) {
    this.search = rest.slice(question);
    this.query = rest.slice(question + 1);
    if (parseQueryString) this.query = querystring().parse(this.query);
    rest = rest.slice(0, question);
  } else if (parseQueryString) {
    this.search = null;
    this.query = Object.create(null);
  }
  if (rest !== '') this.pathname = rest;
  if (SLASHED.has(scheme) && this.hostname && !this.pathname) this.pathname = '/';
  if (this.pathname || this.search) this.path = `${this.pathname ?? ''}${this.search ?? ''}`;
};

function format(value, options) {
  if (typeof value === 'string') {
    value = parse(value);
  } else if (typeof value !== 'object' || value === null) {
    throw new ERR_INVALID_ARG_TYPE('urlObject', ['Object', 'string'], value);
  } else if (value instanceof (require('internal/url').URL)) {
    return formatUrl(value, options);
  }
  return Url.prototype.format.call(value);
}

function formatUrl(url, options) {
  if (options !== undefined && options !== null) require('internal/validators').validateObject(options, 'options', { allowFunction: true });
  const { fragment = true, unicode = false, search = true, auth = true } = options ?? {};
  const copy = new (require('internal/url').URL)(url.href);
  if (!fragment) copy.hash = '';
  if (!search) copy.search = '';
  if (!auth) copy.username = copy.password = '';
  if (!unicode || copy.hostname === '') return copy.href;
  const shown = binding('url').toUnicode(copy.hostname);
  const user = copy.username !== '' || copy.password !== '' ? `${copy.username}${copy.password === '' ? '' : `:${copy.password}`}@` : '';
  return `${copy.protocol}//${user}${shown}${copy.port === '' ? '' : `:${copy.port}`}${copy.pathname}${copy.search}${copy.hash}`;
}

Url.prototype.format = function formatParts() {
  const auth = this.auth ? `${encodeURIComponent(this.auth).replace(/%3A/gi, ':')}@` : '';
  let protocol = this.protocol || '';
  let pathname = this.pathname || '';
  let hash = this.hash || '';
  let host = '';
  let query = '';
  if (this.host) {
    host = `${auth}${this.host}`;
  } else if (this.hostname) {
    const isV6 = this.hostname.includes(':') && !/^\[.*\]$/.test(this.hostname);
    host = `${auth}${isV6 ? `[${this.hostname}]` : this.hostname}${this.port ? `:${this.port}` : ''}`;
  }
  if (this.query !== null && typeof this.query === 'object') query = querystring().stringify(this.query);
  let search = this.search || (query && `?${query}`) || '';
  if (protocol && !protocol.endsWith(':')) protocol += ':';
  pathname = pathname.replace(/[#?]/g, (char) => (char === '#' ? '%23' : '%3F'));
  if (this.slashes || SLASHED.has(protocol)) {
    if (this.slashes || host) {
      if (pathname && pathname[0] !== '/') pathname = `/${pathname}`;
      host = `//${host}`;
    } else if (/^file/.test(protocol)) {
      host = '//';
    }
  }
  search = search.replaceAll('#', '%23');
  if (hash && hash[0] !== '#') hash = `#${hash}`;
  if (search && search[0] !== '?') search = `?${search}`;
  return `${protocol}${host}${pathname}${search}${hash}`;
};

const resolve = (source, relative) => parse(source, false, true).resolve(relative);
const resolveObject = (source, relative) => (source ? parse(source, false, true).resolveObject(relative) : relative);

Url.prototype.resolve = function resolveText(relative) {
  return this.resolveObject(parse(relative, false, true)).format();
};

Url.prototype.resolveObject = function resolveParts(relative) {
  if (typeof relative === 'string') relative = parse(relative, false, true);
  const result = Object.assign(new Url(), this);
  result.hash = relative.hash;
  if (relative.href === '') return finish(result);
  if (relative.slashes && !relative.protocol) {
    for (const key of Object.keys(relative)) if (key !== 'protocol') result[key] = relative[key];
    if (SLASHED.has(result.protocol) && result.hostname && !result.pathname) result.path = result.pathname = '/';
    return finish(result);
  }
  if (relative.protocol && relative.protocol !== result.protocol) return otherScheme(result, relative);
  return mergePaths(result, relative);
};

function finish(result) {
  result.href = result.format();
  return result;
}

function setPath(result) {
  if (result.pathname || result.search) result.path = `${result.pathname ?? ''}${result.search ?? ''}`;
}

function otherScheme(result, relative) {
  if (!SLASHED.has(relative.protocol)) return finish(Object.assign(result, relative));
  result.protocol = relative.protocol;
  if (!relative.host && !/^file:?$/.test(relative.protocol) && !HOSTLESS.has(relative.protocol)) {
    // The first part of the path that is not empty is the host.
    const parts = (relative.pathname || '').split('/');
    while (parts.length > 0 && !(relative.host = parts.shift()));
    relative.host ||= '';
    relative.hostname ||= '';
    if (parts[0] !== '') parts.unshift('');
    if (parts.length < 2) parts.unshift('');
    result.pathname = parts.join('/');
  } else {
    result.pathname = relative.pathname;
  }
  result.search = relative.search;
  result.query = relative.query;
  result.host = relative.host || '';
  result.auth = relative.auth;
  result.hostname = relative.hostname || relative.host;
  result.port = relative.port;
  setPath(result);
  result.slashes ||= relative.slashes;
  return finish(result);
}

function mergePaths(result, relative) {
  const isSourceAbsolute = result.pathname?.[0] === '/';
  const isRelativeAbsolute = Boolean(relative.host) || relative.pathname?.[0] === '/';
  let mustEndAbsolute = isRelativeAbsolute || isSourceAbsolute || Boolean(result.host && relative.pathname);
  const removeAllDots = mustEndAbsolute;
  let source = result.pathname?.split('/') ?? [];
  const parts = relative.pathname?.split('/') ?? [];
  // Schemes without slashes have their first part for a host.
  const isOpaque = Boolean(result.protocol) && !SLASHED.has(result.protocol);
  if (isOpaque) {
    result.hostname = '';
    result.port = null;
    if (result.host) {
      if (source[0] === '') source[0] = result.host;
      else source.unshift(result.host);
    }
    result.host = '';
    if (relative.protocol) {
      relative.hostname = null;
      relative.port = null;
      result.auth = null;
      if (relative.host) {
        if (parts[0] === '') parts[0] = relative.host;
        else parts.unshift(relative.host);
      }
      relative.host = null;
    }
    mustEndAbsolute = mustEndAbsolute && (parts[0] === '' || source[0] === '');
  }
  if (isRelativeAbsolute) {
    if (relative.host || relative.host === '') {
      if (result.host !== relative.host) result.auth = null;
      result.host = relative.host;
      result.port = relative.port;
    }
    if (relative.hostname || relative.hostname === '') {
      if (result.hostname !== relative.hostname) result.auth = null;
      result.hostname = relative.hostname;
    }
    result.search = relative.search;
    result.query = relative.query;
    source = parts;
  } else if (parts.length > 0) {
    source = [...source.slice(0, -1), ...parts];
    result.search = relative.search;
    result.query = relative.query;
  } else if (relative.search !== null && relative.search !== undefined) {
    if (isOpaque) takeHostOf(result, source.shift());
    result.search = relative.search;
    result.query = relative.query;
    if (result.pathname !== null || result.search !== null) result.path = `${result.pathname || ''}${result.search || ''}`;
    return finish(result);
  }
  if (source.length === 0) {
    result.pathname = null;
    result.path = result.search ? `/${result.search}` : null;
    return finish(result);
  }
  return withDots(result, relative, source, { isOpaque, mustEndAbsolute, removeAllDots });
}

function takeHostOf(result, host) {
  result.hostname = result.host = host;
  const parts = result.host?.includes('@') && result.host.split('@');
  if (parts) {
    result.auth = parts.shift();
    result.host = result.hostname = parts.shift();
  }
}

function withDots(result, relative, source, { isOpaque, mustEndAbsolute, removeAllDots }) {
  const last = source.at(-1);
  const hasTrailingSlash = ((result.host || relative.host || source.length > 1) && (last === '.' || last === '..')) || last === '';
  let up = 0;
  for (let i = source.length - 1; i >= 0; i--) {
    if (source[i] === '.') {
      source.splice(i, 1);
    } else if (source[i] === '..') {
      source.splice(i, 1);
      up++;
    } else if (up > 0) {
      source.splice(i, 1);
      up--;
    }
  }
  if (!mustEndAbsolute && !removeAllDots) while (up-- > 0) source.unshift('..');
  if (mustEndAbsolute && source[0] !== '' && (!source[0] || source[0][0] !== '/')) source.unshift('');
  if (hasTrailingSlash && !source.join('/').endsWith('/')) source.push('');
  const isAbsolute = source[0] === '' || source[0]?.[0] === '/';
  if (isOpaque) takeHostOf(result, isAbsolute ? '' : source.length > 0 ? source.shift() : '');
  if ((mustEndAbsolute || (result.host && source.length > 0)) && !isAbsolute) source.unshift('');
  if (source.length === 0) {
    result.pathname = null;
    result.path = null;
  } else {
    result.pathname = source.join('/');
  }
  if (result.pathname !== null || result.search !== null) result.path = `${result.pathname || ''}${result.search || ''}`;
  result.auth = relative.auth || result.auth;
  result.slashes ||= relative.slashes;
  return finish(result);
}

for (const name of ['_setPath', '_takeHost', '_takeEnd']) Object.defineProperty(Url.prototype, name, { enumerable: false });

module.exports = { Url, parse, format, resolve, resolveObject };
