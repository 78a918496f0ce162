// The module `readline/promises`.
'use strict';

const cursor = require('internal/cursor');
const { Interface: Base } = require('internal/readline/interface');
const { AbortError, codes } = require('internal/codes');
const { inspect } = require('internal/inspect');
const { validateAbortSignal, validateBoolean, validateInteger } = require('internal/validators');

require('internal/readline/editor').install(Base);

class Interface extends Base {
  question(query, options = {}) {
    return new Promise((resolve, reject) => {
      let answered = resolve;
      if (options.signal) {
        const { signal } = options;
        validateAbortSignal(signal, 'options.signal');
        const abort = () => reject(new AbortError(undefined, { cause: signal.reason }));
        if (signal.aborted) {
          abort();
          return;
        }
        const onAbort = () => {
          this._questionCancel();
          abort();
        };
        signal.addEventListener('abort', onAbort, { once: true });
        answered = (answer) => {
          signal.removeEventListener('abort', onAbort);
          resolve(answer);
        };
      }
      this._ask(query, answered);
    });
  }

  async _tabComplete(isSecond) {
    this.pause();
    let found;
    try {
      found = await this.completer(this.line.slice(0, this.cursor));
    } catch (error) {
      this._writeToOutput(`Tab completion error: ${inspect(error)}`);
      return;
    } finally {
      this.resume();
    }
    this._tabCompleter(isSecond, found);
  }
}

// Movements of a cursor that are written together.
class Readline {
  #stream;
  #isAutomatic;
  #waiting = '';

  constructor(stream, options = undefined) {
    if (typeof stream?.write !== 'function' || typeof stream.on !== 'function') {
      throw new codes.ERR_INVALID_ARG_TYPE('stream', 'Writable', stream);
    }
    if (options?.autoCommit !== undefined) validateBoolean(options.autoCommit, 'options.autoCommit');
    this.#stream = stream;
    this.#isAutomatic = Boolean(options?.autoCommit);
  }

  #add(text) {
    if (this.#isAutomatic) process.nextTick(() => this.#stream.write(text));
    else this.#waiting += text;
    return this;
  }

  cursorTo(x, y = undefined) {
    validateInteger(x, 'x');
    if (y !== undefined) validateInteger(y, 'y');
    return this.#add(cursor.placeOf(x, y));
  }

  moveCursor(dx, dy) {
    if (dx || dy) {
      validateInteger(dx, 'dx');
      validateInteger(dy, 'dy');
    }
    return dx || dy ? this.#add(cursor.moveOf(dx, dy)) : this;
  }

  clearLine(direction) {
    validateInteger(direction, 'dir', -1, 1);
    return this.#add(cursor.lineOf(direction));
  }

  clearScreenDown() { return this.#add(cursor.SCREEN_DOWN); }

  commit() {
    return new Promise((resolve) => {
      this.#stream.write(this.#waiting, resolve);
      this.#waiting = '';
    });
  }

  rollback() {
    this.#waiting = '';
    return this;
  }
}

// Some call it as a constructor.
function createInterface(...args) {
  return new Interface(...args);
}

module.exports = { Interface, Readline, createInterface };
