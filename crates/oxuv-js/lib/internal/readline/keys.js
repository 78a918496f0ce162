// Turns what a terminal sends into keys: the event `keypress`.
'use strict';

const { StringDecoder } = require('string_decoder');

const ESCAPE = '\x1b';
// How long an escape may be the begin of something longer, in milliseconds.
const ESCAPE_TIMEOUT = 500;

const kDecoder = Symbol('keypress-decoder');

// Which key has which code behind the escape, in the words of xterm, rxvt, PuTTY, Cygwin and the Linux console.
const KEYS = { '__proto__': null, '[Z': ['tab', 'shift'] };
const ARROWS = { A: 'up', B: 'down', C: 'right', D: 'left', E: 'clear', F: 'end', H: 'home' };
for (const [letter, name] of Object.entries(ARROWS)) {
  KEYS[`[${letter}`] = KEYS[`O${letter}`] = [name];
  if (letter > 'E') continue;
  KEYS[`[${letter.toLowerCase()}`] = [name, 'shift'];
  KEYS[`O${letter.toLowerCase()}`] = [name, 'ctrl'];
}
for (const [i, letter] of ['P', 'Q', 'R', 'S'].entries()) KEYS[`[${letter}`] = KEYS[`O${letter}`] = [`f${i + 1}`];
for (const [i, letter] of ['A', 'B', 'C', 'D', 'E'].entries()) KEYS[`[[${letter}`] = [`f${i + 1}`];
for (const [i, number] of [11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24].entries()) KEYS[`[${number}~`] = [`f${i + 1}`];
for (const [number, name] of ['home', 'insert', 'delete', 'end', 'pageup', 'pagedown', 'home', 'end'].entries()) {
  KEYS[`[${number + 1}~`] = [name];
  if (number === 0 || number === 3) continue;
  KEYS[`[${number + 1}$`] = [name, 'shift'];
  KEYS[`[${number + 1}^`] = [name, 'ctrl'];
}
Object.assign(KEYS, {
  '[[5~': ['pageup'], '[[6~': ['pagedown'],
  // A paste in brackets.
  '[200~': ['paste-start'], '[201~': ['paste-end'],
});

const isDigit = (ch) => ch >= '0' && ch <= '9';

// The rest of a sequence behind `ESC [` or `ESC O`: what was read, its code, and the modifiers as bits.
function* sequenceAfter(kind) {
  let code = kind;
  let read = '';
  let ch = yield;
  read += ch;
  if (kind === 'O') {
    let modifier = 0;
    if (isDigit(ch)) {
      modifier = Number(ch) - 1;
      read += (ch = yield);
    }
    return { read, code: code + ch, modifier };
  }
  if (ch === '[') {
    code += ch;
    read += (ch = yield);
  }
  const start = read.length - 1;
  for (let digits = 0; digits < 3 && isDigit(ch); digits++) read += (ch = yield);
  if (ch === ';') {
    read += (ch = yield);
    if (isDigit(ch)) read += (ch = yield);
  }
  return { read, ...ofCommand(code, read.slice(start)) };
}

function ofCommand(code, command) {
  const withEnd = /^(?:(\d\d?)(?:;(\d))?([~^$])|(\d{3}~))$/.exec(command);
  if (withEnd !== null) return { code: code + (withEnd[4] ?? withEnd[1] + withEnd[3]), modifier: (withEnd[2] ?? 1) - 1 };
  const withLetter = /^(?:(?:\d;)?(\d))?([A-Za-z])$/.exec(command);
  if (withLetter !== null) return { code: code + withLetter[2], modifier: (withLetter[1] ?? 1) - 1 };
  return { code: code + command, modifier: 0 };
}

const NAMED = {
  '__proto__': null, '\r': 'return', '\n': 'enter', '\t': 'tab', '\b': 'backspace', '\x7f': 'backspace', [ESCAPE]: 'escape', ' ': 'space',
};

// What one character is, perhaps behind an escape.
function describe(key, ch, isEscaped) {
  if (ch in NAMED) {
    key.name = NAMED[ch];
    key.meta = isEscaped;
  } else if (!isEscaped && ch <= '\x1a' && ch !== '') {
    key.name = String.fromCharCode(ch.charCodeAt(0) + 'a'.charCodeAt(0) - 1);
    key.ctrl = true;
  } else if (/^[0-9A-Za-z]$/.test(ch)) {
    key.name = ch.toLowerCase();
    key.shift = /^[A-Z]$/.test(ch);
    key.meta = isEscaped;
  } else if (isEscaped) {
    // An escape with nothing behind it in time is the key itself.
    key.name = ch === '' ? 'escape' : undefined;
    key.meta = true;
  }
}

// Is given characters one by one, and emits a key when it knows one.
function* parse(stream) {
  for (;;) {
    let ch = yield;
    let sequence = ch;
    let isEscaped = false;
    const key = { sequence: null, name: undefined, ctrl: false, meta: false, shift: false };
    if (ch === ESCAPE) {
      isEscaped = true;
      sequence += (ch = yield);
      if (ch === ESCAPE) sequence += (ch = yield);
    }
    if (isEscaped && (ch === 'O' || ch === '[')) {
      const { read, code, modifier } = yield* sequenceAfter(ch);
      sequence += read;
      key.ctrl = (modifier & 4) !== 0;
      key.meta = (modifier & 10) !== 0;
      key.shift = (modifier & 1) !== 0;
      key.code = code;
      const known = KEYS[code];
      key.name = known === undefined ? 'undefined' : known[0];
      if (known?.[1] !== undefined) key[known[1]] = true;
    } else {
      describe(key, ch, isEscaped);
    }
    key.sequence = sequence;
    const isOne = [...sequence].length === 1;
    if (sequence.length > 0 && (key.name !== undefined || isEscaped)) stream.emit('keypress', isEscaped ? undefined : sequence, key);
    else if (isOne) stream.emit('keypress', sequence, key);
  }
}

function started(stream) {
  const parser = parse(stream);
  parser.next();
  return parser;
}

// Makes a stream emit `keypress`, while somebody listens for that.
function emitKeypressEvents(stream, reader = {}) {
  if (stream[kDecoder]) return;
  stream[kDecoder] = new StringDecoder('utf8');
  let parser = started(stream);
  let timer;

  function onData(input) {
    if (stream.listenerCount('keypress') === 0) {
      // Nobody listens any more.
      stream.removeListener('data', onData);
      stream.on('newListener', onNewListener);
      return;
    }
    const text = stream[kDecoder].write(input);
    if (text === '') return;
    clearTimeout(timer);
    const characters = [...text];
    reader._sawKeyPress = characters.length === 1;
    // Tabs inside what was pasted are text.
    reader.isCompletionEnabled = false;
    for (const [i, ch] of characters.entries()) {
      const isLast = i === characters.length - 1;
      if (isLast) reader.isCompletionEnabled = true;
      try {
        parser.next(ch);
        if (isLast && ch === ESCAPE) timer = setTimeout(() => parser.next(''), reader.escapeCodeTimeout ?? ESCAPE_TIMEOUT);
      } catch (error) {
        // A listener threw: the next key begins anew.
        parser = started(stream);
        throw error;
      }
    }
  }

  function onNewListener(name) {
    if (name !== 'keypress') return;
    stream.on('data', onData);
    stream.removeListener('newListener', onNewListener);
  }

  if (stream.listenerCount('keypress') > 0) stream.on('data', onData);
  else stream.on('newListener', onNewListener);
}

module.exports = { emitKeypressEvents, ESCAPE_TIMEOUT };
