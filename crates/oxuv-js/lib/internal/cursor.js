// What moves a terminal's cursor, for `readline` and `tty`.
'use strict';

const { codes } = require('internal/codes');
const { validateFunction } = require('internal/validators');

const sequence = (rest) => `\x1b[${rest}`;

// A stream that is none takes everything.
function send(stream, text, callback) {
  if (callback !== undefined) validateFunction(callback, 'callback');
  if (stream === null || stream === undefined || text === '') {
    if (typeof callback === 'function') process.nextTick(callback, null);
    return true;
  }
  return stream.write(text, callback);
}

const lineOf = (direction) => sequence(direction < 0 ? '1K' : direction > 0 ? '0K' : '2K');

function moveOf(dx, dy) {
  const part = (count, more, less) => (count > 0 ? sequence(`${count}${more}`) : count < 0 ? sequence(`${-count}${less}`) : '');
  return part(dx, 'C', 'D') + part(dy, 'B', 'A');
}

function placeOf(x, y) {
  if (Number.isNaN(x)) throw new codes.ERR_INVALID_ARG_VALUE('x', x);
  if (Number.isNaN(y)) throw new codes.ERR_INVALID_ARG_VALUE('y', y);
  if (typeof x !== 'number' && typeof y !== 'number') return '';
  if (typeof x !== 'number') throw new codes.ERR_INVALID_CURSOR_POS();
  return typeof y === 'number' ? sequence(`${y + 1};${x + 1}H`) : sequence(`${x + 1}G`);
}

const SCREEN_DOWN = sequence('0J');

module.exports = {
  SCREEN_DOWN, lineOf, moveOf, placeOf,
  clearLine: (stream, direction, callback) => send(stream, lineOf(direction), callback),
  clearScreenDown: (stream, callback) => send(stream, SCREEN_DOWN, callback),
  moveCursor: (stream, dx, dy, callback) => send(stream, moveOf(dx, dy), callback),
  cursorTo(stream, x, y, callback) {
    if (callback !== undefined) validateFunction(callback, 'callback');
    if (typeof y === 'function') [y, callback] = [undefined, y];
    return send(stream, stream === null || stream === undefined ? '' : placeOf(x, y), callback);
  },
};
