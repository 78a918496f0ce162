// AssertionError, with a message that shows the difference.
'use strict';

const process = require('process');
const { inspect, removeColours } = require('internal/inspect');

const SAYS = {
  deepStrictEqual: 'Expected values to be strictly deep-equal:',
  strictEqual: 'Expected values to be strictly equal:',
  strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
  deepEqual: 'Expected values to be loosely deep-equal:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  notIdentical: 'Values have same structure but are not reference-equal:',
  notDeepEqualUnequal: 'Expected values not to be loosely deep-equal:',
};

// Two values that need no more room than this are shown side by side.
const SHORT = 12;
const MOST_LINES = 50;

const show = (value) => inspect(value, {
  compact: false, customInspect: false, depth: 1000, maxArrayLength: Infinity, maxStringLength: undefined, showHidden: false,
  showProxy: false, sorted: true, getters: true,
});

const isReference = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

function colours() {
  const { stderr } = process;
  if (stderr?.isTTY && (stderr.getColorDepth?.() ?? 1) !== 1 && !process.env.NODE_DISABLE_COLORS) {
    return { blue: '\u001b[34m', green: '\u001b[32m', red: '\u001b[31m', white: '\u001b[39m' };
  }
  return { blue: '', green: '', red: '', white: '' };
}

// Lines as a list with the number of those shown: behind a change at most two equal ones, before the next at most two more.
class Diff {
  constructor(colour) {
    this.colour = colour;
    this.text = '';
    // Lines of "expected" wait for the end of a run of changes: +++--- and not +-+-+-.
    this.waiting = '';
    this.equal = 0;
    this.shown = 0;
    this.hasSkipped = false;
  }

  // The equal lines just before a change.
  lead(lines, at) {
    if (this.equal > 2) {
      if (this.equal > 3) {
        if (this.equal === 5) this.keep(lines[at - 3]);
        else if (this.equal > 5) this.skip();
        this.keep(lines[at - 2]);
      }
      this.keep(lines[at - 1]);
    }
    this.equal = 0;
  }

  keep(line) {
    this.text += `\n  ${line}`;
    this.shown++;
  }

  skip() {
    this.text += `\n${this.colour.blue}...${this.colour.white}`;
    this.hasSkipped = true;
  }

  actual(line) {
    this.text += `\n${this.colour.green}+${this.colour.white} ${line}`;
    this.shown++;
  }

  expected(line) {
    this.waiting += `\n${this.colour.red}-${this.colour.white} ${line}`;
    this.shown++;
  }

  same(line) {
    this.text += this.waiting;
    this.waiting = '';
    this.equal++;
    if (this.equal <= 2) this.keep(line);
  }
}

function difference(actual, expected, operator) {
  const colour = colours();
  const { blue, green, red, white } = colour;
  const shown = show(actual);
  const ours = shown.split('\n');
  const theirs = show(expected).split('\n');
  if (operator === 'strictEqual' && isReference(actual) && isReference(expected) && typeof actual === typeof expected) {
    operator = 'strictEqualObject';
  }
  let indicator = '';
  let equal = 0;
  if (ours.length === 1 && theirs.length === 1 && ours[0] !== theirs[0]) {
    const [one, other] = [removeColours(ours[0]), removeColours(theirs[0])];
    const length = one.length + other.length;
    if (length <= SHORT) {
      const isPlain = (value) => typeof value !== 'object' || value === null;
      if (isPlain(actual) && isPlain(expected) && (actual !== 0 || expected !== 0)) {
        return `${SAYS[operator]}\n\n${ours[0]} !== ${theirs[0]}\n`;
      }
    } else if (operator !== 'strictEqualObject' && length < (process.stderr.isTTY ? process.stderr.columns : 80)) {
      while (one[equal] === other[equal]) equal++;
      // The first letters of two texts are soon compared by eye.
      if (equal > 2) {
        indicator = `\n  ${' '.repeat(equal)}^`;
        equal = 0;
      }
    }
  }
  // Equal lines at the end are no part of the difference; three are shown, and the one before them.
  let end = '';
  let before = '';
  while (ours.length > 0 && theirs.length > 0 && ours.at(-1) === theirs.at(-1)) {
    const line = ours.pop();
    theirs.pop();
    if (equal++ < 3) end = `\n  ${line}${end}`;
    else before = line;
  }
  const count = Math.max(ours.length, theirs.length);
  if (count === 0) return `${SAYS.notIdentical}\n\n${shorten(shown.split('\n'), colour).join('\n')}\n`;
  const diff = new Diff(colour);
  if (equal >= 5) {
    end = `\n${blue}...${white}${end}`;
    diff.hasSkipped = true;
  }
  if (before !== '') end = `\n  ${before}${end}`;
  const head = `${SAYS[operator]}\n${green}+ actual${white} ${red}- expected${white}`;
  const skipped = ` ${blue}...${white} Lines skipped`;
  for (let i = 0; i < count; i++) {
    compareLine(diff, ours, theirs, i);
    if (diff.shown > MOST_LINES && i < count - 2) {
      return `${head}${skipped}\n${diff.text}\n${blue}...${white}${diff.waiting}\n${blue}...${white}`;
    }
  }
  return `${head}${diff.hasSkipped ? skipped : ''}\n${diff.text}${diff.waiting}${end}${indicator}`;
}

function compareLine(diff, ours, theirs, at) {
  if (at >= theirs.length) {
    diff.lead(ours, at);
    diff.actual(ours[at]);
  } else if (at >= ours.length) {
    diff.lead(theirs, at);
    diff.expected(theirs[at]);
  } else if (ours[at] === theirs[at] || ours[at] === `${theirs[at]},`) {
    diff.same(ours[at]);
  } else if (`${ours[at]},` === theirs[at]) {
    // Only the comma differs: one of them has more behind it.
    diff.same(theirs[at]);
  } else {
    diff.lead(ours, at);
    diff.actual(ours[at]);
    diff.expected(theirs[at]);
  }
}

function shorten(lines, { blue, white }) {
  return lines.length > MOST_LINES ? [...lines.slice(0, 46), `${blue}...${white}`] : lines;
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 3)}...` : text);

// An error without its stack, which is never the same.
function withoutStack(error) {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(error)), error);
  Object.defineProperty(copy, 'message', { __proto__: null, value: error.message });
  Object.defineProperty(copy, 'stack', { __proto__: null, value: '' });
  return copy;
}

function messageFor(actual, expected, operator) {
  if (Error.isError(actual) && Error.isError(expected)) {
    actual = withoutStack(actual);
    expected = withoutStack(expected);
  }
  switch (operator) {
    case 'deepStrictEqual':
    case 'strictEqual':
      return difference(actual, expected, operator);
    case 'notDeepStrictEqual':
    case 'notStrictEqual': {
      const base = operator === 'notStrictEqual' && isReference(actual) ? SAYS.notStrictEqualObject : SAYS[operator];
      const lines = shorten(show(actual).split('\n'), colours());
      if (lines.length === 1) return `${base}${lines[0].length > 5 ? '\n\n' : ' '}${lines[0]}`;
      return `${base}\n\n${lines.join('\n')}\n`;
    }
    case 'notDeepEqual': {
      const [one, other] = [show(actual), show(expected)];
      if (one === other) return cut(`${SAYS.notDeepEqual}\n\n${one}`, 1024);
      return `${SAYS.notDeepEqualUnequal}\n\n${cut(one, 512)}\n\nshould not loosely deep-equal\n\n${cut(other, 512)}`;
    }
    case 'deepEqual': {
      const [one, other] = [cut(show(actual), 512), cut(show(expected), 512)];
      return `${SAYS.deepEqual}\n\n${one}\n\nshould loosely deep-equal\n\n${other}`;
    }
    default:
      return `${cut(show(actual), 512)} ${operator} ${cut(show(expected), 512)}`;
  }
}

class AssertionError extends Error {
  constructor(options) {
    require('internal/validators').validateObject(options, 'options');
    const { message, operator, stackStartFn, stackStartFunction, actual, expected } = options;
    const limit = Error.stackTraceLimit;
    if (message != null) Error.stackTraceLimit = 0;
    super(message != null ? String(message) : messageFor(actual, expected, operator));
    Error.stackTraceLimit = limit;
    this.generatedMessage = !message;
    // Tests of those who change Object.prototype use this, too.
    Object.defineProperty(this, 'name', { __proto__: null, value: 'AssertionError', enumerable: false, writable: true, configurable: true });
    if (Error.stackTraceLimit > 0) {
      this.name = 'AssertionError [ERR_ASSERTION]';
      Error.captureStackTrace(this, stackStartFn ?? stackStartFunction ?? AssertionError);
      this.name = 'AssertionError';
    }
    this.code = 'ERR_ASSERTION';
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }

  toString() {
    return `${this.name} [${this.code}]: ${this.message}`;
  }

  [inspect.custom](depth, options) {
    // Long texts are in the message already.
    const { actual, expected } = this;
    for (const key of ['actual', 'expected']) {
      if (typeof this[key] === 'string') {
        const lines = this[key].split('\n');
        if (lines.length > 10) this[key] = `${lines.slice(0, 10).join('\n')}\n...`;
        else if (this[key].length > 512) this[key] = `${this[key].slice(0, 512)}...`;
      }
    }
    const text = inspect(this, { ...options, customInspect: false, depth: 0 });
    this.actual = actual;
    this.expected = expected;
    return text;
  }
}

module.exports = { AssertionError };
