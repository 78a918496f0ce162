// The class Console, and the global one.
'use strict';

const process = require('process');
const native = binding('process');

const formatAll = (options, args) => require('internal/format').formatAll(options, args);
const inspect = (value, options) => require('internal/inspect').inspect(value, options);

const kState = Symbol('state');
const METHODS = ['log', 'warn', 'dir', 'time', 'timeEnd', 'timeLog', 'trace', 'assert', 'clear', 'count', 'countReset',
  'group', 'groupEnd', 'table', 'debug', 'info', 'dirxml', 'error', 'groupCollapsed', 'profile', 'profileEnd', 'timeStamp'];

// As in Node, `Console` may be called without `new`.
function Console(...args) {
  if (!new.target) return Reflect.construct(Console, args);
  const { codes } = require('internal/codes');
  const { validateObject, validateInteger, validateOneOf } = require('internal/validators');
  let options = args[0];
  if (!options || typeof options.write === 'function') options = { stdout: args[0], stderr: args[1], ignoreErrors: args[2] };
  const { stdout, stderr = stdout, ignoreErrors = true, colorMode = 'auto', inspectOptions, groupIndentation } = options;
  if (!stdout || typeof stdout.write !== 'function') throw new codes.ERR_CONSOLE_WRITABLE_STREAM('stdout');
  if (!stderr || typeof stderr.write !== 'function') throw new codes.ERR_CONSOLE_WRITABLE_STREAM('stderr');
  validateOneOf(colorMode, 'colorMode', ['auto', true, false]);
  if (groupIndentation !== undefined) validateInteger(groupIndentation, 'groupIndentation', 0, 1000);
  if (inspectOptions !== undefined) {
    validateObject(inspectOptions, 'options.inspectOptions');
    if (inspectOptions.colors !== undefined && options.colorMode !== undefined) {
      throw new codes.ERR_INCOMPATIBLE_OPTION_PAIR('options.inspectOptions.color', 'colorMode');
    }
  }
  prepare(this, { stdout, stderr, ignoreErrors, colorMode, inspectOptions, step: groupIndentation ?? 2 });
}

function prepare(target, { stdout, stderr, ignoreErrors, ...rest }) {
  const hidden = (value) => ({ value, writable: true, enumerable: false, configurable: true });
  const lazy = (get) => ({ get, enumerable: false, configurable: true });
  Object.defineProperties(target, {
    _stdout: stdout ? hidden(stdout) : lazy(() => process.stdout),
    _stderr: stdout ? hidden(stderr) : lazy(() => process.stderr),
    _ignoreErrors: hidden(ignoreErrors),
    [kState]: { value: { ...rest, indentation: '', counts: new Map(), timers: new Map() } },
  });
  // Methods work without their console, as in `list.forEach(console.log)`.
  for (const name of METHODS) {
    const method = target[name] ?? Console.prototype[name];
    target[name] = { [name]: (...args) => Reflect.apply(method, target, args) }[name];
  }
}

const outputOf = (console_) => (console_[kState].isGlobal ? process._own.stdout() : console_._stdout);
const errorOutputOf = (console_) => (console_[kState].isGlobal ? process._own.stderr() : console_._stderr);

function optionsFor(console_, stream) {
  const { colorMode, inspectOptions } = console_[kState];
  if (inspectOptions) {
    if (inspectOptions.colors !== undefined || colorMode === 'auto') {
      return inspectOptions.colors === undefined && hasColours(stream) ? { ...inspectOptions, colors: true } : inspectOptions;
    }
    return { ...inspectOptions, colors: colorMode };
  }
  const colors = colorMode === 'auto' ? hasColours(stream) : colorMode;
  return colors ? { colors: true } : undefined;
}

function hasColours(stream) {
  return Boolean(stream.isTTY) && (typeof stream.getColorDepth !== 'function' || stream.getColorDepth() > 2);
}

function write(console_, isError, text) {
  const { indentation } = console_[kState];
  if (indentation !== '') text = `${indentation}${text.replaceAll('\n', `\n${indentation}`)}`;
  text += '\n';
  const stream = isError ? errorOutputOf(console_) : outputOf(console_);
  if (console_._ignoreErrors === false) {
    stream.write(text);
    return;
  }
  // A stream that fails says so on a tick, with nobody there to hear.
  const isWatched = typeof stream.once === 'function' && typeof stream.removeListener === 'function';
  const ignore = () => {};
  try {
    if (isWatched) stream.once('error', ignore);
    stream.write(text, ignore);
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message)) throw error;
  } finally {
    if (isWatched) stream.removeListener('error', ignore);
  }
}

function print(console_, isError, args) {
  // The most frequent case needs neither options nor formatting.
  if (args.length === 1 && typeof args[0] === 'string') write(console_, isError, args[0]);
  else write(console_, isError, formatAll(optionsFor(console_, isError ? errorOutputOf(console_) : outputOf(console_)), args));
}

function duration(ms) {
  if (ms < 1000) return ms === 0 ? '0ms' : `${Number(ms.toFixed(3))}ms`;
  const two = (number) => String(number).padStart(2, '0');
  if (ms < 60_000) return `${(ms / 1000).toFixed(3)}s`;
  const [seconds, fraction] = ((ms % 60_000) / 1000).toFixed(3).split('.');
  const minutes = Math.floor(ms / 60_000) % 60;
  const hours = Math.floor(ms / 3_600_000);
  if (hours > 0) return `${hours}:${two(minutes)}:${two(seconds)} (h:mm:ss)`;
  return `${minutes}:${two(seconds)}.${fraction} (m:ss.mmm)`;
}

function timeOf(console_, label, name) {
  const start = console_[kState].timers.get(label);
  if (start === undefined) {
    process.emitWarning(`No such label '${label}' for console.${name}()`);
    return undefined;
  }
  return `${label}: ${duration((native.nanoseconds() - start) / 1e6)}`;
}

const methods = {
  log(...args) { print(this, false, args); },
  error(...args) { print(this, true, args); },
  dir(value, options) {
    write(this, false, inspect(value, { customInspect: false, ...optionsFor(this, outputOf(this)), ...options }));
  },
  time(label = 'default') {
    label = `${label}`;
    const { timers } = this[kState];
    if (timers.has(label)) process.emitWarning(`Label '${label}' already exists for console.time()`);
    else timers.set(label, native.nanoseconds());
  },
  timeEnd(label = 'default') {
    const text = timeOf(this, label = `${label}`, 'timeEnd');
    if (text === undefined) return;
    this.log('%s', text);
    this[kState].timers.delete(label);
  },
  timeLog(label = 'default', ...data) {
    const text = timeOf(this, `${label}`, 'timeLog');
    if (text !== undefined) this.log('%s', text, ...data);
  },
  trace(...args) {
    const error = { name: 'Trace', message: formatAll(optionsFor(this, errorOutputOf(this)), args) };
    Error.captureStackTrace(error, this.trace);
    this.error(error.stack);
  },
  assert(condition, ...args) {
    if (condition) return;
    if (typeof args[0] === 'string') args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift('Assertion failed');
    this.warn(...args);
  },
  clear() {
    const output = outputOf(this);
    if (output.isTTY && process.env.TERM !== 'dumb') output.write('\u001b[1;1H\u001b[0J');
  },
  count(label = 'default') {
    label = `${label}`;
    const { counts } = this[kState];
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    this.log(`${label}: ${count}`);
  },
  countReset(label = 'default') {
    const { counts } = this[kState];
    if (!counts.delete(`${label}`)) process.emitWarning(`Count for '${label}' does not exist`);
  },
  group(...args) {
    if (args.length > 0) this.log(...args);
    this[kState].indentation += ' '.repeat(this[kState].step);
  },
  groupEnd() {
    const state = this[kState];
    state.indentation = state.indentation.slice(0, state.indentation.length - state.step);
  },
  table(data, properties) {
    if (data === null || typeof data !== 'object') return this.log(data);
    if (properties !== undefined) require('internal/validators').validateArray(properties, 'properties');
    return this.log(require('internal/table').tableOf(data, properties, optionsFor(this, outputOf(this))));
  },
};
// For a profiler, which there is none.
methods.profile = methods.profileEnd = methods.timeStamp = () => {};
methods.warn = methods.error;
methods.debug = methods.info = methods.dirxml = methods.log;
methods.groupCollapsed = methods.group;
for (const name of METHODS) {
  Object.defineProperty(Console.prototype, name, { value: methods[name], writable: true, enumerable: false, configurable: true });
}

// The global console is no instance of Console by its prototype, but `instanceof` says so.
const isConsole = Object.prototype.hasOwnProperty;
Object.defineProperty(Console, Symbol.hasInstance, { value: (value) => Boolean(value) && isConsole.call(value, kState) });

module.exports = { Console, prepare, METHODS };
