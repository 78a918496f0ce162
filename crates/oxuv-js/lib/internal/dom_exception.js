// DOMException.
'use strict';

const CODES = {
  IndexSizeError: ['INDEX_SIZE_ERR', 1], DOMStringSizeError: ['DOMSTRING_SIZE_ERR', 2], HierarchyRequestError: ['HIERARCHY_REQUEST_ERR', 3],
  WrongDocumentError: ['WRONG_DOCUMENT_ERR', 4], InvalidCharacterError: ['INVALID_CHARACTER_ERR', 5],
  NoDataAllowedError: ['NO_DATA_ALLOWED_ERR', 6], NoModificationAllowedError: ['NO_MODIFICATION_ALLOWED_ERR', 7],
  NotFoundError: ['NOT_FOUND_ERR', 8], NotSupportedError: ['NOT_SUPPORTED_ERR', 9], InUseAttributeError: ['INUSE_ATTRIBUTE_ERR', 10],
  InvalidStateError: ['INVALID_STATE_ERR', 11], SyntaxError: ['SYNTAX_ERR', 12], InvalidModificationError: ['INVALID_MODIFICATION_ERR', 13],
  NamespaceError: ['NAMESPACE_ERR', 14], InvalidAccessError: ['INVALID_ACCESS_ERR', 15], ValidationError: ['VALIDATION_ERR', 16],
  TypeMismatchError: ['TYPE_MISMATCH_ERR', 17], SecurityError: ['SECURITY_ERR', 18], NetworkError: ['NETWORK_ERR', 19],
  AbortError: ['ABORT_ERR', 20], URLMismatchError: ['URL_MISMATCH_ERR', 21], QuotaExceededError: ['QUOTA_EXCEEDED_ERR', 22],
  TimeoutError: ['TIMEOUT_ERR', 23], InvalidNodeTypeError: ['INVALID_NODE_TYPE_ERR', 24], DataCloneError: ['DATA_CLONE_ERR', 25],
};

class DOMException {
  #message;
  #name = 'Error';

  constructor(message = '', options = 'Error') {
    Error.captureStackTrace(this, DOMException);
    this.#message = `${message}`;
    if (options !== null && typeof options === 'object') {
      const { name } = options;
      this.#name = name === undefined ? 'Error' : `${name}`;
      if ('cause' in options) Object.defineProperty(this, 'cause', { value: options.cause, configurable: true, writable: true, enumerable: false });
    } else {
      this.#name = `${options}`;
    }
    // The trace was taken while there was neither name nor message.
    const frames = typeof this.stack === 'string' ? this.stack.indexOf('\n    at') : -1;
    const head = this.#message === '' ? this.#name : `${this.#name}: ${this.#message}`;
    const stack = frames === -1 ? head : `${head}${this.stack.slice(frames)}`;
    Object.defineProperty(this, 'stack', { value: stack, writable: true, configurable: true, enumerable: false });
  }

  static #of(value) {
    if (value === null || typeof value !== 'object' || !(#name in value)) {
      throw new (require('internal/codes').codes.ERR_INVALID_THIS)('DOMException');
    }
    return value;
  }

  // The prototype itself has none, but its trace asks for them.
  get name() { return !(#name in this) ? 'Error' : this.#name; }
  get message() { return #message in this ? this.#message : ''; }
  get code() {
    const name = DOMException.#of(this).#name;
    return Object.hasOwn(CODES, name) ? CODES[name][1] : 0;
  }
}
Object.setPrototypeOf(DOMException.prototype, Error.prototype);
Object.defineProperty(DOMException.prototype, Symbol.toStringTag, { value: 'DOMException', configurable: true });
for (const key of ['name', 'message', 'code']) Object.defineProperty(DOMException.prototype, key, { enumerable: true });
for (const [name, value] of Object.values(CODES)) {
  Object.defineProperty(DOMException, name, { value, enumerable: true });
  Object.defineProperty(DOMException.prototype, name, { value, enumerable: true });
}

module.exports = DOMException;
