// The prompt: what is done with a line.
'use strict';

const process = require('process');
const engine = binding('engine');
const { write } = binding('process');

// The lines of a statement that is not whole yet.
let before = '';

// Runs a line. True if it takes more lines to make a statement.
function line(text) {
  const code = before + text;
  before = '';
  if (code.trim() === '') return false;
  let value;
  try {
    value = run(code);
  } catch (error) {
    if (isUnfinished(error, code)) {
      before = `${code}\n`;
      return true;
    }
    show(error);
    return false;
  }
  if (value instanceof Promise && /\bawait\b/.test(code)) {
    value.then((settled) => { globalThis._ = settled.value; print(settled.value); }, show);
    return false;
  }
  globalThis._ = value;
  print(value);
  return false;
}

// An object literal is more likely meant than a block.
function run(code) {
  const start = /\bawait\b/.test(code) ? engine.runAsyncScript : engine.runScript;
  if (/^\s*\{/.test(code) && !/;\s*$/.test(code)) {
    try {
      return start(`(${code.trim()}\n)`, 'REPL');
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return start(code, 'REPL');
}

// Whether the code ends too early, and nothing else is wrong with it.
function isUnfinished(error, code) {
  if (!(error instanceof SyntaxError)) return false;
  const [, row, column] = /REPL:(\d+):(\d+)/.exec(error.stack) ?? [];
  if (row === undefined) return false;
  const lines = code.split('\n');
  const rest = lines.slice(row - 1).join('\n').slice(column - 1);
  if (rest.trim() === '') return true;
  return (error.message === 'unexpected end of string' && rest.startsWith('`')) ||
    (error.message === 'unexpected end of comment' && rest.startsWith('/*'));
}

function print(value) {
  write(1, `${require('util').inspect(value, { colors: false })}\n`);
}

function show(error) {
  const text = error instanceof Error ? String(error.stack).replace(/(?:\n {4}at [^\n]*(?:node:|native)[^\n]*)+$/, '') :
    require('util').inspect(error);
  write(1, `Uncaught ${text}\n`);
}

// Forgets the lines of an unfinished statement. True if there were any.
function forget() {
  const had = before !== '';
  before = '';
  return had;
}

// What goes wrong in callbacks is told, and the prompt stays.
function start() {
  const Module = require('modules');
  const globals = { module: new Module('<repl>'), require: Module.createRequire(`${process.cwd()}/`) };
  for (const name of Module.builtinModules) {
    if (name in globalThis) continue;
    Object.defineProperty(globalThis, name, {
      get: () => Module._loadBuiltin(name),
      set: (value) => Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true }),
      configurable: true,
    });
  }
  Object.assign(globalThis, globals);
  process.on('uncaughtException', show);
}

module.exports = { start, line, forget };
