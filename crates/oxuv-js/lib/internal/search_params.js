// URLSearchParams, and the text form of lists of names and values.
'use strict';

const { charsOf, bytesOf } = require('internal/buffer_text');
const {
  codes: { ERR_ARG_NOT_ITERABLE, ERR_INVALID_THIS, ERR_INVALID_TUPLE, ERR_MISSING_ARGS },
} = require('internal/codes');

function text(value) {
  if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
  return `${value}`.toWellFormed();
}

function decode(part) {
  part = part.replaceAll('+', ' ');
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    // What is no UTF-8 is replaced, what is no escape stays.
    const bytes = charsOf(bytesOf(part, 'utf8')).replace(/%([0-9A-Fa-f]{2})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
    return binding('text').decode(bytesOf(bytes, 'latin1'), false);
  }
}

const encode = (part) => encodeURIComponent(part).replace(/[!'()~]|%20/g, (found) => (
  found === '%20' ? '+' : `%${found.charCodeAt(0).toString(16).toUpperCase()}`));

function parse(query) {
  const list = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    if (equals < 0) list.push([decode(part), '']);
    else list.push([decode(part.slice(0, equals)), decode(part.slice(equals + 1))]);
  }
  return list;
}

const serialize = (list) => list.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');

function fromObject(init) {
  const method = init[Symbol.iterator];
  if (method === undefined || method === null) {
    const list = new Map();
    for (const key of Reflect.ownKeys(init)) {
      if (!Object.prototype.propertyIsEnumerable.call(init, key)) continue;
      list.set(text(key), text(init[key]));
    }
    return [...list];
  }
  if (typeof method !== 'function') throw new ERR_ARG_NOT_ITERABLE('Query pairs');
  const list = [];
  for (const pair of init) {
    if (pair === null || (typeof pair !== 'object' && typeof pair !== 'function') || typeof pair[Symbol.iterator] !== 'function') {
      throw new ERR_INVALID_TUPLE('Each query pair', '[name, value]');
    }
    const items = [...pair];
    if (items.length !== 2) throw new ERR_INVALID_TUPLE('Each query pair', '[name, value]');
    list.push(items.map(text));
  }
  return list;
}

class URLSearchParams {
  #list = [];
  // Of the parameters of a URL: called when they are changed.
  #changed;

  constructor(init = undefined) {
    if (init === undefined || init === null) return;
    if (typeof init === 'object' || typeof init === 'function') {
      this.#list = fromObject(init);
    } else {
      init = text(init);
      this.#list = parse(init[0] === '?' ? init.slice(1) : init);
    }
  }

  static #of(params) {
    if (typeof params !== 'object' || params === null || !(#list in params)) throw new ERR_INVALID_THIS('URLSearchParams');
    return params.#list;
  }

  // For URLs alone.
  static bind(params, changed) { params.#changed = changed; }
  static reset(params, query) { params.#list = parse(query); }

  get size() { return URLSearchParams.#of(this).length; }

  append(name, value) {
    const list = URLSearchParams.#of(this);
    if (arguments.length < 2) throw new ERR_MISSING_ARGS('name', 'value');
    list.push([text(name), text(value)]);
    this.#changed?.();
  }

  delete(name, value = undefined) {
    const list = URLSearchParams.#of(this);
    if (arguments.length < 1) throw new ERR_MISSING_ARGS('name');
    name = text(name);
    if (value !== undefined) value = text(value);
    this.#list = list.filter((pair) => pair[0] !== name || (value !== undefined && pair[1] !== value));
    this.#changed?.();
  }

  get(name) {
    const list = URLSearchParams.#of(this);
    if (arguments.length < 1) throw new ERR_MISSING_ARGS('name');
    name = text(name);
    return list.find((pair) => pair[0] === name)?.[1] ?? null;
  }

  getAll(name) {
    const list = URLSearchParams.#of(this);
    if (arguments.length < 1) throw new ERR_MISSING_ARGS('name');
    name = text(name);
    return list.filter((pair) => pair[0] === name).map((pair) => pair[1]);
  }

  has(name, value = undefined) {
    const list = URLSearchParams.#of(this);
    if (arguments.length < 1) throw new ERR_MISSING_ARGS('name');
    name = text(name);
    if (value !== undefined) value = text(value);
    return list.some((pair) => pair[0] === name && (value === undefined || pair[1] === value));
  }

  set(name, value) {
    const list = URLSearchParams.#of(this);
    if (arguments.length < 2) throw new ERR_MISSING_ARGS('name', 'value');
    name = text(name);
    value = text(value);
    const first = list.find((pair) => pair[0] === name);
    if (first === undefined) {
      list.push([name, value]);
    } else {
      first[1] = value;
      this.#list = list.filter((pair) => pair === first || pair[0] !== name);
    }
    this.#changed?.();
  }

  sort() {
    URLSearchParams.#of(this).sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
    this.#changed?.();
  }

  forEach(callback, thisArg = undefined) {
    URLSearchParams.#of(this);
    require('internal/validators').validateFunction(callback, 'callback');
    for (let i = 0; i < this.#list.length; i++) callback.call(thisArg, this.#list[i][1], this.#list[i][0], this);
  }

  entries() { return iterate(this, URLSearchParams.#of(this) && (() => this.#list), (pair) => [...pair]); }
  keys() { return iterate(this, URLSearchParams.#of(this) && (() => this.#list), (pair) => pair[0]); }
  values() { return iterate(this, URLSearchParams.#of(this) && (() => this.#list), (pair) => pair[1]); }

  toString() { return serialize(URLSearchParams.#of(this)); }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options) {
    const list = URLSearchParams.#of(this);
    if (typeof depth === 'number' && depth < 0) return options.stylize('[Object]', 'special');
    const { inspect } = require('internal/inspect');
    const inner = { ...options, depth: depth === null ? null : depth - 1 };
    const parts = list.map(([name, value]) => `${inspect(name, inner)} => ${inspect(value, inner)}`);
    const length = parts.reduce((sum, part) => sum + part.replace(/\x1b\[\d\d?m/g, '').length + 2, -2);
    if (length > options.breakLength) return `${this.constructor.name} {\n  ${parts.join(',\n  ')} }`;
    return parts.length > 0 ? `${this.constructor.name} { ${parts.join(', ')} }` : `${this.constructor.name} {}`;
  }
}
const { bind, reset } = URLSearchParams;
delete URLSearchParams.bind;
delete URLSearchParams.reset;
Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
  value: URLSearchParams.prototype.entries, writable: true, enumerable: false, configurable: true,
});
for (const name of ['append', 'delete', 'get', 'getAll', 'has', 'set', 'sort', 'toString', 'entries', 'forEach', 'keys', 'values', 'size']) {
  Object.defineProperty(URLSearchParams.prototype, name, { enumerable: true });
}
Object.defineProperty(URLSearchParams.prototype, Symbol.toStringTag, { value: 'URLSearchParams', configurable: true });

// Iterators see what is changed while they are under way.
const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
const kState = Symbol('state');
const iteratorPrototype = Object.create(IteratorPrototype, {
  next: {
    value: function next() {
      const state = this?.[kState];
      if (state === undefined) throw new ERR_INVALID_THIS('URLSearchParamsIterator');
      const list = state.list();
      if (state.at >= list.length) return { value: undefined, done: true };
      return { value: state.pick(list[state.at++]), done: false };
    },
    writable: true, enumerable: true, configurable: true,
  },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(depth, options) {
      const { list, at, pick } = this[kState];
      const { inspect } = require('internal/inspect');
      const rest = list().slice(at).map(pick);
      const parts = rest.map((item) => inspect(item, { ...options, depth: depth - 1 }));
      const length = parts.reduce((sum, part) => sum + part.replace(/\x1b\[\d\d?m/g, '').length + 2, -2);
      if (length > options.breakLength) return `URLSearchParams Iterator {\n  ${parts.join(',\n  ')} }`;
      return `URLSearchParams Iterator {${parts.length > 0 ? ` ${parts.join(', ')} ` : '  '}}`;
    },
    writable: true, enumerable: false, configurable: true,
  },
  [Symbol.toStringTag]: { value: 'URLSearchParams Iterator', configurable: true },
});

function iterate(params, list, pick) {
  return Object.defineProperty(Object.create(iteratorPrototype), kState, { value: { list, at: 0, pick } });
}

module.exports = { URLSearchParams, bind, reset };
