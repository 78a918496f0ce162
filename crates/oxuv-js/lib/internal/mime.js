// `util.MIMEType` and its parameters, by the rules of the MIME Sniffing standard.
'use strict';

const { make } = require('internal/codes');

const ERR_INVALID_MIME_SYNTAX = make('ERR_INVALID_MIME_SYNTAX', TypeError, (what, text, at) =>
  `The MIME syntax for a ${what} in "${text}" is invalid${at < 0 ? '' : ` at ${at}`}`);

const NO_TOKEN = /[^!#$%&'*+\-.^_`|~A-Za-z0-9]/;
const NO_VALUE = /[^\t\x20-~\x80-\xff]/;

function checkToken(token, what, text) {
  const at = token.search(NO_TOKEN);
  if (token === '' || at >= 0) throw new ERR_INVALID_MIME_SYNTAX(what, text, at);
  return token;
}

const toLower = (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

function writeValue(value) {
  if (value !== '' && !NO_TOKEN.test(value)) return value;
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}

// Name and value behind each `;`. A value in quotes may have any character; what is behind the quotes is passed over.
const PARAMETER = /;[\r\n\t ]*([^;=]*)(?:=(?:"((?:[^"\\]|\\[^])*)(?:"|\\?$)[^;]*|([^;]*)))?/g;

function read(params, text) {
  for (const [, name, quoted, plain] of text.matchAll(PARAMETER)) {
    const value = quoted !== undefined ? quoted.replace(/\\([^])/g, '$1') : plain?.replace(/[\r\n\t ]+$/, '');
    if (value === undefined || (value === '' && quoted === undefined)) continue;
    const lower = toLower(name);
    if (lower === '' || NO_TOKEN.test(lower) || NO_VALUE.test(value) || params.has(lower)) continue;
    params.set(lower, value);
  }
}

class MIMEParams {
  #list = new Map();

  delete(name) { this.#list.delete(`${name}`); }

  get(name) { return this.#list.get(`${name}`) ?? null; }

  has(name) { return this.#list.has(`${name}`); }

  set(name, value) {
    name = checkToken(`${name}`, 'parameter name', `${name}`);
    value = `${value}`;
    const at = value.search(NO_VALUE);
    if (at >= 0) throw new ERR_INVALID_MIME_SYNTAX('parameter value', value, at);
    this.#list.set(name, value);
  }

  * entries() { yield* this.#list.entries(); }

  * keys() { yield* this.#list.keys(); }

  * values() { yield* this.#list.values(); }

  toString() { return Array.from(this.#list, ([name, value]) => `${name}=${writeValue(value)}`).join(';'); }

  toJSON() { return this.toString(); }
}
Object.defineProperty(MIMEParams.prototype, Symbol.iterator, { value: MIMEParams.prototype.entries, writable: true, configurable: true });

class MIMEType {
  #type;
  #subtype;
  #params = new MIMEParams();

  constructor(input) {
    input = `${input}`;
    const [, type, slash, subtype, rest] = /^[\r\n\t ]*([^/]*)(\/?)([^;]*)([^]*)$/.exec(input);
    if (slash === '') throw new ERR_INVALID_MIME_SYNTAX('type', input, -1);
    this.#type = toLower(checkToken(type, 'type', input));
    this.#subtype = toLower(checkToken(subtype.replace(/[\r\n\t ]+$/, ''), 'subtype', input));
    read(this.#params, rest);
  }

  get type() { return this.#type; }

  set type(value) { this.#type = toLower(checkToken(`${value}`, 'type', `${value}`)); }

  get subtype() { return this.#subtype; }

  set subtype(value) { this.#subtype = toLower(checkToken(`${value}`, 'subtype', `${value}`)); }

  get essence() { return `${this.#type}/${this.#subtype}`; }

  get params() { return this.#params; }

  toString() {
    const params = this.#params.toString();
    return params === '' ? this.essence : `${this.essence};${params}`;
  }

  toJSON() { return this.toString(); }
}

module.exports = { MIMEType, MIMEParams };
