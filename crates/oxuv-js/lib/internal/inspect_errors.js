// What errors look like in `util.inspect`: their stack, improved, and the properties that it does not tell.
'use strict';

const { prefix } = require('internal/inspect');
const types = require('internal/types');

const errors = require('errors');

function stackOf(error) {
  // Also that of an error without a prototype.
  const stack = error.stack ?? (types.isNativeError(error) ? errors.stackOf(error) : undefined);
  return stack ? String(stack) : Error.prototype.toString.call(error);
}

const START_OF_FRAMES = '\n    at';

function formatError(error, constructor, tag, ctx, keys) {
  const name = error.name != null ? String(error.name) : 'Error';
  let stack = stackOf(error);
  if (!ctx.showHidden && keys.length > 0) {
    for (const told of ['name', 'message', 'stack']) {
      const at = keys.indexOf(told);
      if (at !== -1 && stack.includes(error[told])) keys.splice(at, 1);
    }
  }
  if ('cause' in error && !keys.includes('cause')) keys.push('cause');
  if (Array.isArray(error.errors) && !keys.includes('errors')) keys.push('errors');
  stack = withClass(stack, constructor, name, tag);
  const message = typeof error.message === 'string' ? error.message : '';
  let from = message === '' ? -1 : stack.indexOf(message);
  if (from !== -1) from += message.length;
  const start = stack.indexOf(START_OF_FRAMES, Math.max(from, 0));
  if (start === -1) {
    stack = `[${stack}]`;
  } else {
    const lines = framesOf(ctx, error, stack.slice(start + 1));
    const own = ctx.colors ? lines.map((line) => colourFrame(ctx, line)) : lines;
    stack = `${stack.slice(0, start)}\n${own.join('\n')}`;
  }
  return ctx.indentationLvl === 0 ? stack : stack.replaceAll('\n', `\n${' '.repeat(ctx.indentationLvl)}`);
}

// What is not the script's own steps back: the library, the folder that all is in. Names of packages stand out.
function colourFrame(ctx, line) {
  if (/[ (]node:|[ (]native\)?$/.test(line)) return ctx.stylize(line, 'undefined');
  line = line.replace(/([\\/]node_modules[\\/])((?:@[^\\/]+[\\/])?[^\\/]+)/g, (_, folder, name) => folder + ctx.stylize(name, 'module'));
  let folder;
  try {
    folder = `${require('process').cwd()}/`;
  } catch { /* It is gone. */ }
  const at = folder === undefined ? -1 : line.indexOf(folder);
  if (at === -1) return line;
  const isBracketed = line[at - 1] === '(';
  const start = isBracketed ? at - 1 : at;
  const end = isBracketed ? line.length - 1 : line.length;
  const grey = (text) => ctx.stylize(text, 'undefined');
  return line.slice(0, start) + grey(line.slice(start, at + folder.length)) + line.slice(at + folder.length, end) +
    (isBracketed ? grey(')') : '');
}

// The name that the stack begins with says also the class, where that is another.
function withClass(stack, constructor, name, tag) {
  let length = name.length;
  const isPlain = name.endsWith('Error') && stack.startsWith(name) &&
    (stack.length === length || stack[length] === ':' || stack[length] === '\n');
  if (constructor !== null && !isPlain) return stack;
  let fallback = 'Error';
  if (constructor === null) {
    const start = /^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n\s+at)/.exec(stack) ?? /^([a-z_A-Z0-9-]*Error)$/.exec(stack);
    length = start?.[1].length ?? 0;
    fallback = start?.[1] || 'Error';
  }
  const front = prefix(constructor, tag, fallback).slice(0, -1);
  if (name === front) return stack;
  if (!front.includes(name)) return `${front} [${name}]${stack.slice(length)}`;
  return length === 0 ? `${front}: ${stack}` : `${front}${stack.slice(length)}`;
}

// The frames, without those that the cause is going to tell again.
function framesOf(ctx, error, text) {
  const frames = text.split('\n');
  let cause;
  try {
    ({ cause } = error);
  } catch { /* A getter that throws is no cause. */ }
  if (cause === null || cause === undefined || !types.isNativeError(cause)) return frames;
  const stack = stackOf(cause);
  const start = stack.indexOf(START_OF_FRAMES);
  if (start === -1) return frames;
  const theirs = stack.slice(start + 1).split('\n');
  const { length, at } = common(frames, theirs);
  // Three lines say no less than the remark would.
  if (length > 3) {
    frames.splice(at + 1, length - 2, ctx.stylize(`    ... ${length - 2} lines matching cause stack trace ...`, 'undefined'));
  }
  return frames;
}

// The first run of more than three frames that both have.
function common(ours, theirs) {
  for (let at = 0; at < ours.length - 3; at++) {
    const there = theirs.indexOf(ours[at]);
    if (there === -1) continue;
    let length = 1;
    while (at + length < ours.length && there + length < theirs.length && ours[at + length] === theirs[there + length]) length++;
    if (length > 3) return { length, at };
  }
  return { length: 0, at: 0 };
}

module.exports = { formatError };
