// `console.table`: rows and columns in a frame.
'use strict';

const { inspect, width } = require('internal/inspect');
const types = require('internal/types');

// A row of a frame: its first, middle and last crossing.
const frame = (widths, [left, middle, right]) => left + widths.map((each) => '─'.repeat(each + 2)).join(middle) + right;

function line(cells, widths) {
  const texts = cells.map((cell, i) => ` ${cell}${' '.repeat(widths[i] - width(cell))} `);
  return `│${texts.join('│')}│`;
}

function draw(head, columns) {
  const widths = head.map((name, i) => Math.max(width(name), ...columns[i].map((cell) => width(cell ?? ''))));
  const rows = Math.max(...columns.map((column) => column.length));
  const lines = [frame(widths, '┌┬┐'), line(head, widths), frame(widths, '├┼┤')];
  for (let row = 0; row < rows; row++) lines.push(line(columns.map((column) => column[row] ?? ''), widths));
  lines.push(frame(widths, '└┴┘'));
  return lines.join('\n');
}

function tableOf(data, properties, options) {
  const cell = (value) => {
    const isDeep = value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 2;
    return inspect(value, { maxArrayLength: 3, breakLength: Infinity, ...options, depth: isDeep ? -1 : 0 });
  };
  const ITERATION = '(iteration index)';
  if (types.isMap(data) || types.isSet(data)) {
    const entries = [...(types.isMap(data) ? Map.prototype.entries : Set.prototype.values).call(data)];
    const numbers = entries.map((_, i) => `${i}`);
    if (types.isSet(data)) return draw([ITERATION, 'Values'], [numbers, entries.map(cell)]);
    return draw([ITERATION, 'Key', 'Values'], [numbers, entries.map(([key]) => cell(key)), entries.map(([, value]) => cell(value))]);
  }
  const isIterator = types.isMapIterator(data) || types.isSetIterator(data);
  const source = isIterator ? [...data] : data;
  // Entries of a map, it seems.
  if (types.isMapIterator(data) && source.length > 0 && source.every((entry) => Array.isArray(entry) && entry.length === 2)) {
    return tableOf(new Map(source), undefined, options);
  }
  const rows = Object.keys(source);
  const columns = new Map();
  const values = [];
  let hasPrimitives = false;
  rows.forEach((key, row) => {
    const item = source[key];
    if (item === null || (typeof item !== 'object' && typeof item !== 'function')) {
      hasPrimitives = true;
      values[row] = cell(item);
      return;
    }
    for (const name of properties ?? Object.keys(item)) {
      let column = columns.get(name);
      if (column === undefined) columns.set(name, column = new Array(rows.length).fill(''));
      if (Object.hasOwn(item, name)) column[row] = cell(item[name]);
    }
    values[row] = '';
  });
  const head = [isIterator ? ITERATION : '(index)', ...columns.keys()];
  const cells = [rows, ...columns.values()];
  if (hasPrimitives) {
    head.push('Values');
    cells.push(values);
  }
  return draw(head, cells);
}

module.exports = { tableOf };
