// The class URL, and what leads from URLs to paths and back.
'use strict';

const native = binding('url');
const {
  codes: {
    ERR_INVALID_ARG_TYPE, ERR_INVALID_FILE_URL_HOST, ERR_INVALID_FILE_URL_PATH, ERR_INVALID_THIS, ERR_INVALID_URL, ERR_INVALID_URL_SCHEME,
    ERR_MISSING_ARGS,
  },
} = require('internal/codes');
const { URLSearchParams, bind, reset } = require('internal/search_params');

// Where each part stands in what the loop's side gives.
const HREF = 0;
const PARTS = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
const at = Object.fromEntries(PARTS.map((name, index) => [name, index]));

function invalid(input, base) {
  const error = new ERR_INVALID_URL();
  error.input = input;
  if (base !== undefined) error.base = base;
  return error;
}

class URL {
  #parts;
  #params;

  constructor(input, base = undefined) {
    if (arguments.length === 0) throw new ERR_MISSING_ARGS('url');
    input = `${input}`.toWellFormed();
    if (base !== undefined) base = `${base}`.toWellFormed();
    this.#parts = native.parse(input, base);
    if (this.#parts === undefined) throw invalid(input, base);
  }

  static canParse(input, base = undefined) {
    if (arguments.length === 0) throw new ERR_MISSING_ARGS('url');
    if (base !== undefined) base = `${base}`.toWellFormed();
    return native.parse(`${input}`.toWellFormed(), base) !== undefined;
  }

  static #of(url) {
    if (typeof url !== 'object' || url === null || !(#parts in url)) throw new ERR_INVALID_THIS('URL');
    return url.#parts;
  }

  // For this file alone.
  static part(url, index) { return URL.#of(url)[index]; }
  static change(url, name, value) {
    const parts = native.change(URL.#of(url)[HREF], name, value);
    if (parts === undefined) return false;
    url.#parts = parts;
    if (url.#params !== undefined && (name === 'search' || name === 'href')) reset(url.#params, parts[at.search].slice(1));
    return true;
  }

  get searchParams() {
    URL.#of(this);
    if (this.#params === undefined) {
      this.#params = new URLSearchParams(this.#parts[at.search]);
      bind(this.#params, () => {
        this.#parts = native.change(this.#parts[HREF], 'search', this.#params.toString()) ?? this.#parts;
      });
    }
    return this.#params;
  }

  toString() { return URL.#of(this)[HREF]; }
  toJSON() { return URL.#of(this)[HREF]; }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options) {
    const parts = URL.#of(this);
    if (typeof depth === 'number' && depth < 0) return this;
    const shown = Object.create({ constructor: this.constructor === URL || typeof this.constructor !== 'function' ? URL : this.constructor });
    for (const name of PARTS) {
      if (name === 'hash') shown.searchParams = this.searchParams;
      shown[name] = parts[at[name]];
    }
    return `${shown.constructor.name} ${require('internal/inspect').inspect(Object.assign({}, shown), options)}`;
  }
}
const { part, change } = URL;
delete URL.part;
delete URL.change;

for (const name of PARTS) {
  const index = at[name];
  Object.defineProperty(URL.prototype, name, {
    get: { [`get ${name}`]() { return part(this, index); } }[`get ${name}`],
    set: name === 'origin' ? undefined : { [`set ${name}`](value) {
      part(this, index);
      value = `${value}`.toWellFormed();
      if (!change(this, name, value) && name === 'href') throw invalid(value);
    } }[`set ${name}`],
    enumerable: true,
    configurable: true,
  });
}
for (const name of ['searchParams', 'toString', 'toJSON']) Object.defineProperty(URL.prototype, name, { enumerable: true });
Object.defineProperty(URL, 'canParse', { enumerable: true });
Object.defineProperty(URL.prototype, Symbol.toStringTag, { value: 'URL', configurable: true });

const isUrl = (value) => typeof value === 'object' && value !== null && Boolean(value.href && value.protocol) &&
  value.auth === undefined && value.path === undefined;

function fileURLToPath(url) {
  if (typeof url === 'string') url = new URL(url);
  else if (!isUrl(url)) throw new ERR_INVALID_ARG_TYPE('path', ['string', 'URL'], url);
  if (url.protocol !== 'file:') throw new ERR_INVALID_URL_SCHEME('file');
  if (url.hostname !== '') throw new ERR_INVALID_FILE_URL_HOST(process.platform);
  if (/%2f/i.test(url.pathname)) throw new ERR_INVALID_FILE_URL_PATH('must not include encoded / characters');
  return decodeURIComponent(url.pathname);
}

// What a path may have but a URL's may not.
const ESCAPES = { '%': '%25', '\\': '%5C', '\n': '%0A', '\r': '%0D', '\t': '%09', '?': '%3F', '#': '%23' };

function pathToFileURL(path) {
  require('internal/validators').validateString(path, 'path');
  let full = require('path').resolve(path);
  if (path.endsWith('/') && !full.endsWith('/')) full += '/';
  return new URL(`file://${full.replace(/[%\\\n\r\t?#]/g, (char) => ESCAPES[char])}`);
}

function domainToASCII(domain) {
  if (arguments.length < 1) throw new ERR_MISSING_ARGS('domain');
  return native.toAscii(`${domain}`.toWellFormed());
}

function domainToUnicode(domain) {
  if (arguments.length < 1) throw new ERR_MISSING_ARGS('domain');
  return native.toUnicode(`${domain}`.toWellFormed());
}

// The options of a request for a URL.
function urlToHttpOptions(url) {
  const { hostname, pathname, port, username, password, search } = url;
  const options = {
    __proto__: null, ...url, protocol: url.protocol, hostname: typeof hostname === 'string' && hostname.startsWith('[') ? hostname.slice(1, -1) : hostname, hash: url.hash,
    search, pathname, path: `${pathname || ''}${search || ''}`, href: url.href,
  };
  if (port !== '') options.port = Number(port);
  if (username || password) options.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return options;
}

module.exports = {
  URL, URLSearchParams, isUrl, fileURLToPath, pathToFileURL, domainToASCII, domainToUnicode, urlToHttpOptions, invalid,
};
