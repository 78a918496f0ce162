// Editing a line on a terminal. These are methods of readline's Interface.
'use strict';

const cursor = require('internal/cursor');
const { inspect, width } = require('internal/inspect');
const { linesIn } = require('internal/readline/interface');

const UNDO_STEPS = 2048;
const KILL_RING = 32;

// The length of the character in front of a place, and of that behind it.
const lengthBefore = (text, at) => (at <= 0 ? 0 : at > 1 && text.codePointAt(at - 2) > 0xffff ? 2 : 1);
const lengthAt = (text, at) => (at >= text.length ? 1 : text.codePointAt(at) > 0xffff ? 2 : 1);

const isSpace = (ch) => /\s/.test(ch);
const isWord = (ch) => /\w/.test(ch);

// Where the word begins that ends in front of a place.
function wordStart(text, at) {
  while (at > 0 && isSpace(text[at - 1])) at--;
  if (at === 0) return 0;
  const ofWord = isWord(text[at - 1]);
  while (at > 0 && !isSpace(text[at - 1]) && isWord(text[at - 1]) === ofWord) at--;
  return at;
}

// Where the next word begins.
const wordEnd = (text, at, pattern) => at + (pattern.exec(text.slice(at))?.[0].length ?? 0);
const NEXT_WORD = /^(?:\s+|[^\w\s]+|\w+)\s*/;
const WORD_TO_DELETE = /^(?:\s+|\W+|\w+)\s*/;

const drawing = {
  _getDisplayPos(text) {
    const { columns } = this;
    let offset = 0;
    let rows = 0;
    for (const ch of text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, '')) {
      if (ch === '\n') {
        rows += Math.ceil(offset / columns) || 1;
        offset = 0;
      } else if (ch === '\t') {
        offset += this.tabSize - (offset % this.tabSize);
      } else {
        const columnsOf = width(ch);
        // What is wide does not begin in the last column.
        if (columnsOf === 2 && (offset + 1) % columns === 0) offset++;
        offset += columnsOf;
      }
    }
    const cols = offset % columns;
    return { cols, rows: rows + (offset - cols) / columns };
  },

  getCursorPos() {
    return this._getDisplayPos(this._prompt + this.line.slice(0, this.cursor));
  },

  _refreshLine() {
    const line = this._prompt + this.line;
    const end = this._getDisplayPos(line);
    const place = this.getCursorPos();
    if (this.prevRows > 0) cursor.moveCursor(this.output, 0, -this.prevRows);
    cursor.cursorTo(this.output, 0);
    cursor.clearScreenDown(this.output);
    this._writeToOutput(line);
    // Makes the terminal begin the next line.
    if (end.cols === 0) this._writeToOutput(' ');
    cursor.cursorTo(this.output, place.cols);
    if (end.rows > place.rows) cursor.moveCursor(this.output, 0, place.rows - end.rows);
    this.prevRows = place.rows;
  },

  _moveCursor(distance) {
    if (distance === 0) return;
    const before = this.getCursorPos();
    this.cursor = Math.min(Math.max(this.cursor + distance, 0), this.line.length);
    const after = this.getCursorPos();
    if (before.rows === after.rows) cursor.moveCursor(this.output, after.cols - before.cols, 0);
    else this._refreshLine();
  },

  _set(line, place) {
    this.line = line;
    this.cursor = place;
    this._refreshLine();
  },

  _insertString(text) {
    this._beforeEdit();
    if (this.cursor < this.line.length) {
      this._set(this.line.slice(0, this.cursor) + text + this.line.slice(this.cursor), this.cursor + text.length);
      return;
    }
    const before = this.getCursorPos();
    this.line += text;
    this.cursor += text.length;
    if (before.rows < this.getCursorPos().rows) this._refreshLine();
    else this._writeToOutput(text);
  },

  clearLine() {
    this._moveCursor(Infinity);
    this._writeToOutput('\r\n');
    this.line = '';
    this.cursor = 0;
    this.prevRows = 0;
  },

  _line() {
    const line = this._addHistory();
    this._undoStack = [];
    this._redoStack = [];
    this.clearLine();
    this._onLine(line);
  },
};

const editing = {
  _beforeEdit() {
    this._undoStack.push([this.line, this.cursor]);
    if (this._undoStack.length > UNDO_STEPS) this._undoStack.shift();
  },

  _undo() { step(this, this._undoStack, this._redoStack); },
  _redo() { step(this, this._redoStack, this._undoStack); },

  // Deletes from one place to another.
  _cut(from, to) {
    if (from === to) return;
    this._beforeEdit();
    this._set(this.line.slice(0, from) + this.line.slice(to), from);
  },

  _deleteLeft() { this._cut(this.cursor - lengthBefore(this.line, this.cursor), this.cursor); },
  _deleteRight() { if (this.cursor < this.line.length) this._cut(this.cursor, this.cursor + lengthAt(this.line, this.cursor)); },
  _deleteWordLeft() { this._cut(wordStart(this.line, this.cursor), this.cursor); },
  _deleteWordRight() { this._cut(this.cursor, wordEnd(this.line, this.cursor, WORD_TO_DELETE)); },
  _wordLeft() { this._moveCursor(wordStart(this.line, this.cursor) - this.cursor); },
  _wordRight() { this._moveCursor(wordEnd(this.line, this.cursor, NEXT_WORD) - this.cursor); },

  _deleteLineLeft() {
    this._keep(this.line.slice(0, this.cursor));
    this._cut(0, this.cursor);
  },

  _deleteLineRight() {
    this._keep(this.line.slice(this.cursor));
    this._cut(this.cursor, this.line.length);
  },

  // What was deleted can be put in again.
  _keep(text) {
    if (text === '' || text === this._killRing[0]) return;
    this._killRing.unshift(text);
    this._killRingCursor = 0;
    if (this._killRing.length > KILL_RING) this._killRing.pop();
  },

  _yank() {
    if (this._killRing.length === 0) return;
    this._isYanking = true;
    this._insertString(this._killRing[this._killRingCursor]);
  },

  // In the place of what was put in: what was deleted before that.
  _yankPop() {
    if (!this._isYanking || this._killRing.length < 2) return;
    const last = this._killRing[this._killRingCursor];
    this._killRingCursor = (this._killRingCursor + 1) % this._killRing.length;
    const next = this._killRing[this._killRingCursor];
    const start = this.cursor - last.length;
    this._set(this.line.slice(0, start) + next + this.line.slice(this.cursor), start + next.length);
  },
};

// A step back is one that can be taken again.
function step(reader, from, to) {
  if (from.length === 0) return;
  to.push([reader.line, reader.cursor]);
  reader._set(...from.pop());
}

const past = {
  _addHistory() {
    if (this.line === '') return '';
    if (this.historySize === 0 || this.line.trim() === '') return this.line;
    const { line, history } = this;
    if (history[0] !== line) {
      if (this.removeHistoryDuplicates && history.includes(line)) history.splice(history.indexOf(line), 1);
      history.unshift(line);
      if (history.length > this.historySize) history.pop();
    }
    this.historyIndex = -1;
    this.emit('history', history);
    return line;
  },

  // To the next line, in the one direction or the other, that begins as the line did when the search began.
  _historyStep(direction) {
    const { history } = this;
    const wanted = this._substringSearch ?? '';
    let at = this.historyIndex + direction;
    while (at >= 0 && at < history.length && (!history[at].startsWith(wanted) || history[at] === this.line)) at += direction;
    this._beforeEdit();
    this.historyIndex = at;
    const line = history[at] ?? wanted;
    this._set(line, line.length);
  },

  _historyNext() { if (this.historyIndex >= 0) this._historyStep(-1); },
  _historyPrev() { if (this.historyIndex < this.history.length && this.history.length > 0) this._historyStep(1); },

  _tabComplete(isSecond) {
    this.pause();
    this.completer(this.line.slice(0, this.cursor), (error, found) => {
      this.resume();
      if (error) this._writeToOutput(`Tab completion error: ${inspect(error)}`);
      else this._tabCompleter(isSecond, found);
    });
  },

  _tabCompleter(isSecond, [completions, completeOn]) {
    if (!completions || completions.length === 0) return;
    const prefix = commonPrefix(completions.filter((each) => each !== ''));
    if (prefix.startsWith(completeOn) && prefix.length > completeOn.length) {
      this._insertString(prefix.slice(completeOn.length));
    } else if (!completeOn.startsWith(prefix)) {
      const start = this.cursor - completeOn.length;
      this._set(this.line.slice(0, start) + prefix + this.line.slice(this.cursor), start + prefix.length);
    } else if (isSecond) {
      this._beforeEdit();
      this._writeToOutput(inColumns(completions, this.columns));
      this._refreshLine();
    }
  },
};

// What all of them begin with.
function commonPrefix(texts) {
  if (texts.length === 0) return '';
  const [first, ...others] = texts;
  let length = first.length;
  for (const text of others) {
    let same = 0;
    while (same < length && first[same] === text[same]) same++;
    length = same;
  }
  return first.slice(0, length);
}

// Completions side by side; an empty one ends a group.
function inColumns(completions, columns) {
  const widths = completions.map((each) => width(each));
  const widest = Math.max(...widths) + 2;
  const count = Number.isFinite(columns) ? Math.floor(columns / widest) || 1 : 1;
  let text = '\r\n';
  let inLine = 0;
  let gap = 0;
  for (const [i, each] of completions.entries()) {
    if (each === '' || inLine === count) {
      text += '\r\n';
      inLine = 0;
      gap = 0;
    }
    if (each === '') {
      text += '\r\n';
      continue;
    }
    text += ' '.repeat(gap) + each;
    gap = widest - widths[i];
    inLine++;
  }
  return inLine === 0 ? text : `${text}\r\n\r\n`;
}

// What keys do, by name.
const CONTROL = {
  c(reader) {
    if (reader.listenerCount('SIGINT') > 0) reader.emit('SIGINT');
    else reader.close();
  },
  d(reader) {
    if (reader.line === '') reader.close();
    else reader._deleteRight();
  },
  l(reader) {
    cursor.cursorTo(reader.output, 0, 0);
    cursor.clearScreenDown(reader.output);
    reader._refreshLine();
  },
  z(reader) {
    if (reader.listenerCount('SIGTSTP') > 0) reader.emit('SIGTSTP');
    else suspend(reader);
  },
  h: (reader) => reader._deleteLeft(),
  u: (reader) => reader._deleteLineLeft(),
  k: (reader) => reader._deleteLineRight(),
  a: (reader) => reader._moveCursor(-Infinity),
  e: (reader) => reader._moveCursor(Infinity),
  b: (reader) => reader._moveCursor(-lengthBefore(reader.line, reader.cursor)),
  f: (reader) => reader._moveCursor(lengthAt(reader.line, reader.cursor)),
  n: (reader) => reader._historyNext(),
  p: (reader) => reader._historyPrev(),
  y: (reader) => reader._yank(),
  w: (reader) => reader._deleteWordLeft(),
  backspace: (reader) => reader._deleteWordLeft(),
  delete: (reader) => reader._deleteWordRight(),
  left: (reader) => reader._wordLeft(),
  right: (reader) => reader._wordRight(),
};

const META = {
  b: (reader) => reader._wordLeft(),
  f: (reader) => reader._wordRight(),
  d: (reader) => reader._deleteWordRight(),
  delete: (reader) => reader._deleteWordRight(),
  backspace: (reader) => reader._deleteWordLeft(),
  y: (reader) => reader._yankPop(),
};

const PLAIN = {
  return(reader) {
    reader._sawReturnAt = Date.now();
    reader._line();
  },
  enter(reader) {
    // Not if it is the second half of a line's end.
    if (reader._sawReturnAt === 0 || Date.now() - reader._sawReturnAt > reader.crlfDelay) reader._line();
    reader._sawReturnAt = 0;
  },
  backspace: (reader) => reader._deleteLeft(),
  delete: (reader) => reader._deleteRight(),
  left: (reader) => reader._moveCursor(-lengthBefore(reader.line, reader.cursor)),
  right: (reader) => reader._moveCursor(lengthAt(reader.line, reader.cursor)),
  home: (reader) => reader._moveCursor(-Infinity),
  end: (reader) => reader._moveCursor(Infinity),
  up: (reader) => reader._historyPrev(),
  down: (reader) => reader._historyNext(),
};

// The process stops, and when it goes on the terminal is as it was.
function suspend(reader) {
  process.once('SIGCONT', () => {
    if (!reader.paused) {
      reader.pause();
      reader.emit('SIGCONT');
    }
    reader._setRawMode(true);
    reader._refreshLine();
  });
  reader._setRawMode(false);
  process.kill(process.pid, 'SIGTSTP');
}

const act = (table, reader, name) => {
  if (Object.hasOwn(table, name)) table[name](reader);
};

const typing = {
  _ttyWrite(text, key) {
    const before = this._previousKey;
    key ??= {};
    this._previousKey = key;
    if (!(key.name === 'y' && (key.meta || key.ctrl))) this._isYanking = false;
    this._followSearch(key);
    // Ignored, since it has no meaning of its own.
    if (key.name === 'escape') return;
    if (process.env.TERM === 'dumb') {
      this._dumbWrite(text, key);
    } else if (key.sequence === '\x1f') {
      this._undo();
    } else if (key.sequence === '\x1e') {
      this._redo();
    } else if (key.ctrl && key.shift) {
      if (key.name === 'backspace') this._deleteLineLeft();
      else if (key.name === 'delete') this._deleteLineRight();
    } else if (key.ctrl) {
      act(CONTROL, this, key.name);
    } else if (key.meta) {
      act(META, this, key.name);
    } else {
      this._plainKey(text, key, before);
    }
  },

  _plainKey(text, key, before) {
    if (this._sawReturnAt && key.name !== 'enter') this._sawReturnAt = 0;
    if (Object.hasOwn(PLAIN, key.name ?? '')) PLAIN[key.name](this);
    else if (key.name === 'tab' && typeof this.completer === 'function' && this.isCompletionEnabled) {
      this._tabComplete(before?.name === 'tab');
    } else if (typeof text === 'string' && text !== '') this._typed(text);
  },

  // Text, perhaps of several lines.
  _typed(text) {
    const parts = linesIn(text);
    for (const [i, part] of parts.entries()) {
      if (i > 0) this._line();
      if (part !== '' || parts.length === 1) this._insertString(part);
    }
  },

  // Up and down look for lines that begin like this one, until another key comes.
  _followSearch(key) {
    const isSearch = (key.name === 'up' || key.name === 'down') && !key.ctrl && !key.meta && !key.shift;
    if (isSearch) {
      this._substringSearch ??= this.line.slice(0, this.cursor);
    } else if (this._substringSearch !== null) {
      this._substringSearch = null;
      if (this.historyIndex === this.history.length) this.historyIndex = -1;
    }
  },

  // A terminal that cannot move its cursor.
  _dumbWrite(text, key) {
    if (key.ctrl) {
      if (key.name === 'c' || (key.name === 'd' && this.line === '')) CONTROL.c(this);
    } else if (key.name === 'return' || key.name === 'enter') {
      PLAIN[key.name](this);
    } else if (typeof text === 'string' && text !== '') {
      this.line += text;
      this.cursor += text.length;
      this._writeToOutput(text);
    }
  },
};

// Puts them on a class.
function install({ prototype }) {
  for (const methods of [drawing, editing, past, typing]) {
    for (const [name, value] of Object.entries(methods)) {
      Object.defineProperty(prototype, name, { value, writable: true, enumerable: false, configurable: true });
    }
  }
}

module.exports = { install };
