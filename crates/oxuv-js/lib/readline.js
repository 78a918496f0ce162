// The module `readline`: lines from a stream, edited where it is a terminal.
'use strict';

const cursor = require('internal/cursor');
const { Interface: Base } = require('internal/readline/interface');
const { emitKeypressEvents } = require('internal/readline/keys');
const { AbortError } = require('internal/codes');
const { validateAbortSignal } = require('internal/validators');

require('internal/readline/editor').install(Base);

// As in Node, it may be called without `new`.
function Interface(...args) {
  const reader = Reflect.construct(Base, args, new.target ?? Interface);
  // A completer that takes no callback gives its answer at once.
  const { completer } = reader;
  if (completer && completer.length !== 2) reader.completer = (line, callback) => callback(null, completer(line));
  return reader;
}
Object.setPrototypeOf(Interface.prototype, Base.prototype);
Object.setPrototypeOf(Interface, Base);

Interface.prototype.question = function question(query, options, callback) {
  callback = typeof options === 'function' ? options : callback;
  const signal = typeof options === 'object' ? options?.signal : undefined;
  if (signal) {
    validateAbortSignal(signal, 'options.signal');
    if (signal.aborted) return;
    const onAbort = () => this._questionCancel();
    signal.addEventListener('abort', onAbort, { once: true });
    const answered = callback;
    callback = (answer) => {
      signal.removeEventListener('abort', onAbort);
      return typeof answered === 'function' ? answered(answer) : undefined;
    };
  }
  if (typeof callback === 'function') this._ask(query, callback);
};

Interface.prototype.question[Symbol.for('nodejs.util.promisify.custom')] = function question(query, options) {
  const signal = typeof options === 'object' ? options?.signal : undefined;
  if (signal?.aborted) return Promise.reject(new AbortError(undefined, { cause: signal.reason }));
  return new Promise((resolve, reject) => {
    let answered = resolve;
    if (signal) {
      const onAbort = () => reject(new AbortError(undefined, { cause: signal.reason }));
      signal.addEventListener('abort', onAbort, { once: true });
      answered = (answer) => {
        signal.removeEventListener('abort', onAbort);
        resolve(answer);
      };
    }
    this.question(query, options ?? {}, answered);
  });
};

// Some call it as a constructor.
function createInterface(...args) {
  return new Interface(...args);
}

module.exports = {
  Interface,
  clearLine: cursor.clearLine,
  clearScreenDown: cursor.clearScreenDown,
  createInterface,
  cursorTo: cursor.cursorTo,
  emitKeypressEvents,
  moveCursor: cursor.moveCursor,
};
Object.defineProperty(module.exports, 'promises', { get: () => require('readline/promises'), enumerable: true, configurable: true });
