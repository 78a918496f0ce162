// The prompt: what is done with a line.
'use strict';

const process = require('process');
const engine = binding('engine');
const { write } = binding('process');
const { sources } = require('errors');
const { nodeModulePaths } = require('resolve');

// The lines of a statement that is not whole yet.
let before = '';
// Each statement has a name of its own in traces, as in Node.
let number = 0;
let name = '';

// What is to be done next.
const READ = 0;
const READ_MORE = 1;
const END = 2;

const COMMANDS = {
  '__proto__': null,
  '.break': () => READ,
  '.clear': () => READ,
  '.exit': () => END,
  '.help': () => {
    write(1, '.break    Forget the lines of an unfinished statement\n.exit     Leave the prompt\n.help     Print this\n' +
      '\nPress Ctrl+C to forget a line, Ctrl+D to leave.\n');
    return READ;
  },
};

// Runs a line.
function line(text) {
  const command = COMMANDS[text.trim()];
  if (command !== undefined) {
    before = '';
    return command();
  }
  const code = before + text;
  before = '';
  if (code.trim() === '') return READ;
  name = `REPL${++number}`;
  let value;
  try {
    value = run(code);
  } catch (error) {
    if (isUnfinished(error, code)) {
      before = `${code}\n`;
      number--;
      return READ_MORE;
    }
    if (error instanceof SyntaxError && /^\s*import\s*[\w{*'"]/.test(code)) {
      error.message = 'Cannot use an import statement at the prompt: use dynamic import instead, as in await import(...)';
    }
    show(error);
    return READ;
  }
  sources.set(name, code);
  if (value instanceof Promise && /\bawait\b/.test(code)) {
    value.then((settled) => { keep('_', settled.value); print(settled.value); }, show);
    return READ;
  }
  keep('_', value);
  print(value);
  return READ;
}

// The last value, and the last error.
function keep(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

// An object literal is more likely meant than a block.
function run(code) {
  const start = /\bawait\b/.test(code) ? engine.runAsyncScript : engine.runScript;
  if (/^\s*\{/.test(code) && !/;\s*$/.test(code)) {
    try {
      return start(`(${code.trim()}\n)`, name);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return start(code, name);
}

// Whether the code ends too early, and nothing else is wrong with it.
function isUnfinished(error, code) {
  if (!(error instanceof SyntaxError)) return false;
  const [, row, column] = /REPL\d+:(\d+):(\d+)/.exec(error.stack) ?? [];
  if (row === undefined) return false;
  const lines = code.split('\n');
  const rest = lines.slice(row - 1).join('\n').slice(column - 1);
  if (rest.trim() === '') return true;
  return (error.message === 'unexpected end of string' && rest.startsWith('`')) ||
    (error.message === 'unexpected end of comment' && rest.startsWith('/*'));
}

function text(value) {
  const colors = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return require('util').inspect(value, { ...require('util').inspect.defaultOptions, colors });
}

function print(value) {
  write(1, `${text(value)}\n`);
}

function show(error) {
  keep('_error', error);
  if (error instanceof InternalError && error.message === 'interrupted') {
    write(1, 'Uncaught Error: Script execution was interrupted by `SIGINT`\n');
    return;
  }
  // What the library did before the line's own calls is nothing to who typed it.
  const told = text(error);
  write(1, `Uncaught ${error instanceof Error ? told.replace(/\n[ ]*(?:\x1b\[\d+m)? {4}at [^\n]*\bnode:[^\n]*/g, '') : told}\n`);
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
  const { global, globalBuiltins } = require('internal/start');
  const module = new Module('<repl>');
  module.filename = null;
  module.paths = nodeModulePaths(process.cwd());
  global('module', module);
  global('exports', module.exports);
  global('require', Module.internal.makeRequire(module));
  globalBuiltins();
  process.on('uncaughtException', show);
  process.on('unhandledRejection', show);
  write(1, `Welcome to oxuv ${process.versions.oxuv}.\nType ".help" for more information.\n`);
}

module.exports = { start, line, forget };
