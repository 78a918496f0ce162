// What is said of an exception that nobody caught: the place, the line, a mark below it, and the trace.
'use strict';

const { emitted, header, sources } = require('errors');

const FRAME = /\n {4}at (?:[^\n]* \()?((?:file:\/\/)?\/[^()\n]*|\[eval\]|\[stdin\]|REPL\d+):(\d+):(\d+)\)?/;

function report(error) {
  try {
    return told(error);
  } catch {
    // Its stack, name or message throw something themselves.
    return 'Uncaught, and it cannot be shown: ' + Object.prototype.toString.call(error);
  }
}

function told(error) {
  // What is no error has no trace: as in Node, but for the line.
  if (!(error instanceof Error)) {
    const file = require('process')._own.script;
    return `${file ? `${file}\n` : ''}Uncaught:\n${typeof error === 'string' ? error : describe(error)}\n(Throw an Error, which knows its line)`;
  }
  const { stack } = error;
  if (typeof stack !== 'string' || stack === '') return header(error);
  const text = describe(error);
  const more = emission(error, stack);
  return place(stack) + (more === '' ? text : text.replace(stack, () => stack + more));
}

// Where the error was emitted as an event, if it was.
function emission(error, stack) {
  const { name, stack: emittedStack } = emitted.get(error) ?? {};
  if (typeof emittedStack !== 'string') return '';
  const above = stack.split('\n').slice(1);
  const lines = emittedStack.split('\n').slice(1);
  let same = 0;
  while (same < Math.min(lines.length, above.length) && lines.at(-1 - same) === above.at(-1 - same)) same++;
  // The first and the last of many lines that the two have in common say enough.
  if (same > 3) lines.splice(lines.length - same + 1, same - 2, '    [... lines matching original stack trace ...]');
  const on = name && name !== 'EventEmitter' ? ` on ${name} instance` : '';
  return `\nEmitted 'error' event${on} at:\n${lines.join('\n')}`;
}

function place(stack) {
  const found = FRAME.exec(stack);
  if (found === null) return '';
  const [, file, line, column] = found;
  let source;
  try {
    const path = file.startsWith('file://') ? decodeURIComponent(file.slice(7)) : file;
    source = (sources.get(file) ?? binding('files').readText(path)).split('\n')[line - 1];
  } catch { /* The file is gone, or was none. */ }
  // Nothing of a binary file is shown.
  if (source === undefined || /[\0-\x08\x0e-\x1f]/.test(source)) return `${file}:${line}\n\n`;
  const mark = source.slice(0, column - 1).replace(/[^\t]/g, ' ');
  return `${file}:${line}\n${source}\n${mark}^\n\n`;
}

function describe(value) {
  try {
    return require('util').inspect(value);
  } catch {
    return value instanceof Error ? String(value.stack ?? header(value)) : String(value);
  }
}

module.exports = report;
