// Blob and File: bytes that do not change, with a type.
'use strict';

const { bytesOf, textOf } = require('internal/buffer_text');
const { codes: { ERR_INVALID_ARG_TYPE, ERR_INVALID_THIS, ERR_MISSING_ARGS } } = require('internal/codes');
const types = require('internal/types');
const { kClone } = require('internal/transferable');

// A blob's bytes from memory that we own: not for scripts.
const OWNED = Symbol('owned');

function partOf(part, endings) {
  if (types.isAnyArrayBuffer(part)) return new Uint8Array(part).slice();
  if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice();
  let text = `${part}`;
  if (endings === 'native') text = text.replace(/\r\n|\r/g, '\n');
  return bytesOf(text, 'utf8');
}

const typeOf = (type) => (/[^\x20-\x7e]/.test(type) ? '' : type.toLowerCase());

class Blob {
  #bytes;
  #type;

  constructor(sources = [], options = {}) {
    if (sources === null || typeof sources !== 'object' || typeof sources[Symbol.iterator] !== 'function') {
      throw new ERR_INVALID_ARG_TYPE('sources', 'a sequence', sources);
    }
    if (options !== undefined && options !== null && typeof options !== 'object' && typeof options !== 'function') {
      throw new ERR_INVALID_ARG_TYPE('options', 'Object', options);
    }
    if (options?.[OWNED] !== undefined) {
      this.#bytes = options[OWNED];
    } else {
      const endings = options?.endings ?? 'transparent';
      require('internal/validators').validateOneOf(endings, 'options.endings', ['transparent', 'native']);
      const parts = Array.from(sources, (part) => Blob.#part(part, endings));
      this.#bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of parts) {
        this.#bytes.set(part, at);
        at += part.length;
      }
    }
    this.#type = typeOf(`${options?.type ?? ''}`);
  }

  static #part(part, endings) {
    return typeof part === 'object' && part !== null && #bytes in part ? part.#bytes : partOf(part, endings);
  }

  get size() { return Blob.#of(this).length; }
  get type() { Blob.#of(this); return this.#type; }

  static #of(blob) {
    if (typeof blob !== 'object' || blob === null || !(#bytes in blob)) throw new ERR_INVALID_THIS('Blob');
    return blob.#bytes;
  }

  slice(start = 0, end = this.size, type = '') {
    return new Blob([], { [OWNED]: Blob.#of(this).subarray(start, end), type });
  }

  [kClone]() {
    return { kind: 'Blob', value: { bytes: Blob.#of(this), type: this.#type } };
  }

  async arrayBuffer() { return Blob.#of(this).slice().buffer; }
  async text() { return textOf(Blob.#of(this), 'utf8'); }
  async bytes() { return Blob.#of(this).slice(); }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options) {
    if (depth !== null && depth < 0) return this;
    const shown = { size: this.size, type: this.type };
    return `Blob ${require('internal/inspect').inspect(shown, { ...options, depth: options.depth === null ? null : options.depth - 1 })}`;
  }
}

class File extends Blob {
  #name;
  #lastModified;

  constructor(sources, name, options = {}) {
    if (arguments.length < 2) throw new ERR_MISSING_ARGS('fileBits', 'fileName');
    super(sources, options);
    this.#name = `${name}`;
    this.#lastModified = options?.lastModified === undefined ? Date.now() : Math.trunc(+options.lastModified) || 0;
  }

  get name() { return this.#name; }
  get lastModified() { return this.#lastModified; }
}

for (const [Class, names] of [[Blob, ['size', 'type', 'slice', 'arrayBuffer', 'text', 'bytes']], [File, ['name', 'lastModified']]]) {
  for (const name of names) Object.defineProperty(Class.prototype, name, { enumerable: true });
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: Class.name, configurable: true });
}

module.exports = {
  Blob,
  File,
  withState: ({ bytes, type }) => new Blob([], { [OWNED]: bytes, type }),
};
