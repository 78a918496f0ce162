// How `inspect` puts the parts of a value on lines: in one line, one below the other, or in columns.
'use strict';

const COLOURS = /[\u001B\u009B][[\]()#;?]*(?:(?:(?:[a-zA-Z\d]*(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?\u0007)|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~]))/g;
const removeColours = (text) => text.replace(COLOURS, '');

// Code points that take two columns, and those that take none.
const isWide = (point) => point >= 0x1100 && (
  point <= 0x115f || point === 0x2329 || point === 0x232a ||
  (point >= 0x2e80 && point <= 0x3247 && point !== 0x303f) || (point >= 0x3250 && point <= 0x4dbf) ||
  (point >= 0x4e00 && point <= 0xa4c6) || (point >= 0xa960 && point <= 0xa97c) || (point >= 0xac00 && point <= 0xd7a3) ||
  (point >= 0xf900 && point <= 0xfaff) || (point >= 0xfe10 && point <= 0xfe19) || (point >= 0xfe30 && point <= 0xfe6b) ||
  (point >= 0xff01 && point <= 0xff60) || (point >= 0xffe0 && point <= 0xffe6) || (point >= 0x1b000 && point <= 0x1b001) ||
  (point >= 0x1f200 && point <= 0x1f251) || (point >= 0x1f300 && point <= 0x1f64f) || (point >= 0x1f900 && point <= 0x1f9ff) ||
  (point >= 0x20000 && point <= 0x3fffd));
const isEmpty = (point) => point <= 0x1f || (point >= 0x7f && point <= 0x9f) || (point >= 0x300 && point <= 0x36f) ||
  (point >= 0x200b && point <= 0x200f) || (point >= 0x20d0 && point <= 0x20ff) || (point >= 0xfe00 && point <= 0xfe0f) ||
  (point >= 0xfe20 && point <= 0xfe2f) || (point >= 0xe0100 && point <= 0xe01ef);

// The columns that a text takes on a terminal.
function width(text, hasColours = true) {
  if (hasColours) text = removeColours(text);
  // What most texts are made of takes one column each.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const char of text.normalize('NFC')) {
    const point = char.codePointAt(0);
    columns += isWide(point) ? 2 : isEmpty(point) ? 0 : 1;
  }
  return columns;
}

const lengthOf = (ctx, text) => (ctx.colors ? removeColours(text).length : text.length);

// The space and comma between two entries.
const GAP = 2;

// Many short entries stand in columns, as near to a square as the look of letters allows.
function inColumns(ctx, entries, value) {
  const hasRest = ctx.maxArrayLength < entries.length;
  // "... n more items" stays on a line of its own.
  const count = hasRest ? entries.length - 1 : entries.length;
  const lengths = [];
  let total = 0;
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const length = width(entries[i], ctx.colors);
    lengths.push(length);
    total += length + GAP;
    if (length > longest) longest = length;
  }
  const cell = longest + GAP;
  // Three must fit side by side, and no entry may be much longer than the rest.
  if (cell * 3 + ctx.indentationLvl >= ctx.breakLength || !(total / cell > 5 || longest <= 6)) return entries;
  const spread = Math.sqrt(cell - total / entries.length);
  const typical = Math.max(cell - 3 - spread, 1);
  const columns = Math.min(
    // A letter is about two and a half times as high as wide.
    Math.round(Math.sqrt(2.5 * typical * count) / typical),
    Math.floor((ctx.breakLength - ctx.indentationLvl) / cell),
    ctx.compact * 4,
    15);
  if (columns <= 1) return entries;
  const widths = [];
  for (let column = 0; column < columns; column++) {
    let widest = 0;
    for (let i = column; i < count; i += columns) widest = Math.max(widest, lengths[i]);
    widths.push(widest + GAP);
  }
  // Numbers stand at the right.
  const alignsRight = value !== undefined && entries.every((_, i) => typeof value[i] === 'number' || typeof value[i] === 'bigint');
  const lines = [];
  for (let from = 0; from < count; from += columns) {
    const to = Math.min(from + columns, count);
    let line = '';
    for (let i = from; i < to; i++) {
      const isLast = i === to - 1;
      const text = isLast ? entries[i] : `${entries[i]}, `;
      // Colours take no room.
      const room = widths[i - from] + entries[i].length - lengths[i] - (isLast ? GAP : 0);
      if (alignsRight) line += text.padStart(room);
      else line += isLast ? text : text.padEnd(room);
    }
    lines.push(line);
  }
  if (hasRest) lines.push(entries[count]);
  return lines;
}

function fits(ctx, entries, start, base) {
  let length = entries.length + start;
  if (length + entries.length > ctx.breakLength) return false;
  for (const entry of entries) {
    length += lengthOf(ctx, entry);
    if (length > ctx.breakLength) return false;
  }
  return base === '' || !base.includes('\n');
}

// Puts the entries between the braces, behind `base`.
function layOut(ctx, entries, base, braces, isList, depth, value) {
  const [open, close] = braces;
  const indentation = `\n${' '.repeat(ctx.indentationLvl)}`;
  if (ctx.compact === true) {
    if (fits(ctx, entries, 0, base)) return `${open}${base ? ` ${base}` : ''} ${entries.join(', ')} ${close}`;
    const start = base === '' && open.length === 1 ? ' ' : `${base ? ` ${base}` : ''}${indentation}  `;
    return `${open}${start}${entries.join(`,${indentation}  `)} ${close}`;
  }
  const front = base ? `${base} ` : '';
  if (typeof ctx.compact === 'number' && ctx.compact >= 1) {
    const count = entries.length;
    if (isList && count > 6) entries = inColumns(ctx, entries, value);
    // Only the innermost levels may stand on one line, and what stands in columns does not.
    if (ctx.currentDepth - depth < ctx.compact && count === entries.length) {
      const start = entries.length + ctx.indentationLvl + open.length + base.length + 10;
      if (fits(ctx, entries, start, base)) {
        const joined = entries.join(', ');
        if (!joined.includes('\n')) return `${front}${open} ${joined} ${close}`;
      }
    }
  }
  return front + open + indentation + '  ' + joined(entries, `,${indentation}  `) + indentation + close;
}

// Beyond that a text is put together by `+`, which copies nothing: of what is nested deep each level would copy all that is in it.
const LONG = 1000;

function joined(entries, separator) {
  if (!entries.some((entry) => entry.length > LONG)) return entries.join(separator);
  let text = entries[0];
  for (let i = 1; i < entries.length; i++) text = text + separator + entries[i];
  return text;
}

module.exports = { layOut, removeColours, width };
