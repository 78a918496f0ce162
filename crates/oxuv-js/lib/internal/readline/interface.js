// The base of readline's Interface: options, lines, pause and resume, questions. What is done on a terminal is in editor.js.
'use strict';

const EventEmitter = require('events');
const { StringDecoder } = require('string_decoder');
const { codes } = require('internal/codes');
const { validateAbortSignal, validateArray, validateString, validateUint32 } = require('internal/validators');
const { emitKeypressEvents, ESCAPE_TIMEOUT } = require('internal/readline/keys');

const HISTORY_SIZE = 30;
const CRLF_DELAY = 100;
const LINE_END = /\r?\n|\r(?!\n)/g;

const kLineStream = Symbol('line stream');

// The engine splits by an expression character by character, but finds one fast.
function linesIn(text) {
  if (!text.includes('\r')) return text.split('\n');
  const lines = [];
  let start = 0;
  LINE_END.lastIndex = 0;
  for (let found; (found = LINE_END.exec(text)) !== null;) {
    lines.push(text.slice(start, found.index));
    start = LINE_END.lastIndex;
  }
  lines.push(text.slice(start));
  return lines;
}

function optionsOf(input, output, completer, terminal) {
  if (!input?.input) return { input, output, completer, terminal };
  const options = input;
  if (options.signal) validateAbortSignal(options.signal, 'options.signal');
  if (options.escapeCodeTimeout !== undefined && !Number.isFinite(options.escapeCodeTimeout)) {
    throw new codes.ERR_INVALID_ARG_VALUE('input.escapeCodeTimeout', options.escapeCodeTimeout);
  }
  if (options.tabSize !== undefined) validateUint32(options.tabSize, 'tabSize', true);
  return options;
}

function check({ completer, history, historySize }) {
  if (completer !== undefined && typeof completer !== 'function') throw new codes.ERR_INVALID_ARG_VALUE('completer', completer);
  if (history !== undefined) validateArray(history, 'history');
  if (historySize !== undefined && !(typeof historySize === 'number' && historySize >= 0)) {
    throw new codes.ERR_INVALID_ARG_VALUE.RangeError('historySize', historySize);
  }
}

class Interface extends EventEmitter {
  constructor(...args) {
    super();
    const options = optionsOf(...args);
    check(options);
    const { input, output, completer, terminal, signal } = options;
    this._sawReturnAt = 0;
    this.isCompletionEnabled = true;
    this._sawKeyPress = false;
    this._previousKey = null;
    this.escapeCodeTimeout = options.escapeCodeTimeout ?? ESCAPE_TIMEOUT;
    this.tabSize = options.tabSize ?? 8;
    this.terminal = terminal === undefined && output ? Boolean(output.isTTY) : Boolean(terminal);
    this.line = '';
    this.cursor = 0;
    this._substringSearch = null;
    this.output = output;
    this.input = input;
    this._undoStack = [];
    this._redoStack = [];
    this.history = options.history ?? [];
    this.historySize = options.historySize ?? HISTORY_SIZE;
    this._killRing = [];
    this._killRingCursor = 0;
    this.removeHistoryDuplicates = Boolean(options.removeHistoryDuplicates);
    this.crlfDelay = options.crlfDelay ? Math.max(CRLF_DELAY, options.crlfDelay) : CRLF_DELAY;
    this.completer = completer;
    this._prompt = options.prompt === undefined ? '> ' : `${options.prompt}`;
    this._questionCallback = null;
    this._oldPrompt = undefined;
    this.closed = false;
    this.paused = false;
    this.prevRows = 0;

    const listeners = this.terminal ? this._startTerminal() : this._startPlain();
    listeners.push([input, 'error', (error) => this.emit('error', error)]);
    for (const [emitter, name, listener] of listeners) emitter.on(name, listener);
    this.once('close', () => {
      for (const [emitter, name, listener] of listeners) emitter.removeListener(name, listener);
    });
    if (signal) this.#closeWith(signal);
    input.resume();
  }

  // Lines of a stream that is no terminal.
  _startPlain() {
    this._decoder = new StringDecoder('utf8');
    this._lineBuffer = '';
    const onEnd = () => {
      if (this._lineBuffer !== '') this.emit('line', this._lineBuffer);
      this.close();
    };
    return [[this.input, 'data', (data) => this._normalWrite(data)], [this.input, 'end', onEnd]];
  }

  _startTerminal() {
    emitKeypressEvents(this.input, this);
    this._setRawMode(true);
    this.historyIndex = -1;
    const onKeypress = (text, key) => {
      this._ttyWrite(text, key);
      // Half a character was drawn.
      const code = key?.sequence ? key.sequence.codePointAt(0) : 0;
      if (code >= 0xd800 && code <= 0xdfff) this._refreshLine();
    };
    const onEnd = () => {
      if (this.line !== '') this.emit('line', this.line);
      this.close();
    };
    const listeners = [[this.input, 'keypress', onKeypress], [this.input, 'end', onEnd]];
    if (typeof this.output?.on === 'function') listeners.push([this.output, 'resize', () => this._refreshLine()]);
    return listeners;
  }

  #closeWith(signal) {
    const onAbort = () => this.close();
    if (signal.aborted) {
      process.nextTick(onAbort);
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    this.once('close', () => signal.removeEventListener('abort', onAbort));
  }

  get columns() { return this.output?.columns ? this.output.columns : Infinity; }

  getPrompt() { return this._prompt; }
  setPrompt(prompt) { this._prompt = prompt; }

  _setRawMode(isRaw) {
    const wasRaw = this.input.isRaw;
    if (typeof this.input.setRawMode === 'function') this.input.setRawMode(isRaw);
    return wasRaw;
  }

  prompt(preserveCursor) {
    if (this.paused) this.resume();
    if (this.terminal && process.env.TERM !== 'dumb') {
      if (!preserveCursor) this.cursor = 0;
      this._refreshLine();
    } else {
      this._writeToOutput(this._prompt);
    }
  }

  _ask(query, callback) {
    if (this.closed) throw new codes.ERR_USE_AFTER_CLOSE('readline');
    // One question at a time: the next one waits for nothing, it only asks again.
    if (this._questionCallback) {
      this.prompt();
      return;
    }
    this._oldPrompt = this._prompt;
    this.setPrompt(query);
    this._questionCallback = callback;
    this.prompt();
  }

  _questionCancel() {
    if (!this._questionCallback) return;
    this._questionCallback = null;
    this.setPrompt(this._oldPrompt);
    this.clearLine();
  }

  _onLine(line) {
    if (!this._questionCallback) {
      this.emit('line', line);
      return;
    }
    const callback = this._questionCallback;
    this._questionCallback = null;
    this.setPrompt(this._oldPrompt);
    callback(line);
  }

  _writeToOutput(text) {
    validateString(text, 'stringToWrite');
    if (this.output !== null && this.output !== undefined) this.output.write(text);
  }

  close() {
    if (this.closed) return;
    this.pause();
    if (this.terminal) this._setRawMode(false);
    this.closed = true;
    this.emit('close');
  }

  pause() {
    if (this.paused) return undefined;
    this.input.pause();
    this.paused = true;
    this.emit('pause');
    return this;
  }

  resume() {
    if (!this.paused) return undefined;
    this.input.resume();
    this.paused = false;
    this.emit('resume');
    return this;
  }

  write(text, key) {
    if (this.paused) this.resume();
    if (this.terminal) this._ttyWrite(text, key);
    else this._normalWrite(text);
  }

  _normalWrite(data) {
    if (data === undefined) return;
    let text = this._decoder.write(data);
    // The other half of a line's end came with the last piece.
    if (this._sawReturnAt && Date.now() - this._sawReturnAt <= this.crlfDelay) {
      if (text.startsWith('\n')) text = text.slice(1);
      this._sawReturnAt = 0;
    }
    if (!text.includes('\n') && !text.includes('\r')) {
      this._lineBuffer += text;
      return;
    }
    this._sawReturnAt = text.endsWith('\r') ? Date.now() : 0;
    const lines = linesIn(this._lineBuffer + text);
    this._lineBuffer = lines.pop();
    for (const line of lines) this._onLine(line);
  }

  [Symbol.asyncIterator]() {
    this[kLineStream] ??= linesOf(this);
    return this[kLineStream][Symbol.asyncIterator]();
  }
}

// A stream of the lines, which stops the input while nobody takes them.
function linesOf(reader) {
  const { Readable } = require('stream');
  const lines = new Readable({
    objectMode: true,
    read() { reader.resume(); },
    destroy(error, callback) {
      for (const [name, listener] of listeners) reader.off(name, listener);
      reader.close();
      callback(error);
    },
  });
  const listeners = [
    ['error', (error) => lines.destroy(error)],
    ['line', (line) => { if (!lines.push(line)) reader.pause(); }],
    ['close', () => lines.push(null)],
  ];
  for (const [name, listener] of listeners) reader.on(name, listener);
  return lines;
}

module.exports = { Interface, linesIn };
