// The module `assert`.
'use strict';

const { codes } = require('internal/codes');
const { AssertionError } = require('internal/assertion_error');
const { isDeepEqual, isDeepStrictEqual } = require('internal/comparisons');
const { inspect } = require('internal/inspect');
const types = require('internal/types');

const isError = (value) => types.isNativeError(value) || value instanceof Error;
const NO_EXCEPTION = Symbol('no exception');

function fail(details) {
  if (details.message instanceof Error) throw details.message;
  throw new AssertionError(details);
}

const assert = function ok(...args) {
  check(ok, args);
};
module.exports = assert;

function check(above, args) {
  const [value, message] = args;
  if (value) return;
  if (message instanceof Error) throw message;
  let text = message;
  let isGenerated = false;
  if (args.length === 0) {
    isGenerated = true;
    text = 'No value argument passed to `assert.ok()`';
  } else if (message == null) {
    isGenerated = true;
    text = require('internal/assert_source').describeCall(above) ?? 'false == true';
    if (text === 'false == true') text = `${inspect(value)} == true`;
  }
  const error = new AssertionError({ actual: value, expected: true, message: text, operator: '==', stackStartFn: above });
  error.generatedMessage = isGenerated;
  throw error;
}

let hasWarned = false;

function warnOfOldFail() {
  if (hasWarned) return;
  hasWarned = true;
  require('process').emitWarning('assert.fail() with more than one argument is deprecated. Please use assert.strictEqual() instead or only ' +
    'pass a message.', 'DeprecationWarning', 'DEP0094');
}

// A method of two values: `holds` says whether they may stand.
function comparing(name, operator, holds) {
  const method = {
    [name](actual, expected, message) {
      if (arguments.length < 2) throw new codes.ERR_MISSING_ARGS('actual', 'expected');
      if (!holds(actual, expected)) fail({ actual, expected, message, operator, stackStartFn: method });
    },
  }[name];
  return method;
}

/* eslint-disable eqeqeq */
const isLoose = (one, other) => one == other || (Number.isNaN(one) && Number.isNaN(other));

Object.assign(assert, {
  ok: assert,
  fail(actual, expected, message, operator, above) {
    const count = arguments.length;
    // One argument is the message. More of them are an old way to say what was compared.
    if (count > 1) warnOfOldFail();
    if (count <= 1) message = actual;
    if (message instanceof Error) throw message;
    if (count > 1 && count < 4) operator = count === 2 ? '!=' : 'fail';
    const isGenerated = message === undefined;
    const details = count > 1 ? { actual, expected, operator: operator ?? 'fail' } : { operator: 'fail' };
    if (!isGenerated) details.message = message;
    else if (count <= 1) details.message = 'Failed';
    const error = new AssertionError({ ...details, stackStartFn: above ?? assert.fail });
    error.generatedMessage = isGenerated;
    throw error;
  },
  AssertionError,
  equal: comparing('equal', '==', isLoose),
  notEqual: comparing('notEqual', '!=', (one, other) => !isLoose(one, other)),
  deepEqual: comparing('deepEqual', 'deepEqual', isDeepEqual),
  notDeepEqual: comparing('notDeepEqual', 'notDeepEqual', (one, other) => !isDeepEqual(one, other)),
  deepStrictEqual: comparing('deepStrictEqual', 'deepStrictEqual', isDeepStrictEqual),
  notDeepStrictEqual: comparing('notDeepStrictEqual', 'notDeepStrictEqual', (one, other) => !isDeepStrictEqual(one, other)),
  strictEqual: comparing('strictEqual', 'strictEqual', Object.is),
  notStrictEqual: comparing('notStrictEqual', 'notStrictEqual', (one, other) => !Object.is(one, other)),
});

// How an object of expected properties is shown: the properties asked for alone.
class Comparison {
  constructor(object, keys, actual) {
    for (const key of keys) {
      if (!(key in object)) continue;
      // A text that matches is as good as the pattern.
      const isMatch = actual !== undefined && typeof actual[key] === 'string' && types.isRegExp(object[key]) && object[key].test(actual[key]);
      this[key] = isMatch ? actual[key] : object[key];
    }
  }
}

function compareKey(actual, expected, key, message, keys, above) {
  if (key in actual && isDeepStrictEqual(actual[key], expected[key])) return;
  if (message) fail({ actual, expected, message, operator: above.name, stackStartFn: above });
  const error = new AssertionError({
    actual: new Comparison(actual, keys), expected: new Comparison(expected, keys, actual), operator: 'deepStrictEqual', stackStartFn: above,
  });
  Object.assign(error, { actual, expected, operator: above.name });
  throw error;
}

// What was thrown against what was expected: a class, a pattern, an object of properties, or a function that judges.
function checkThrown(actual, expected, message, above) {
  const giveUp = (text) => {
    if (message instanceof Error) throw message;
    const error = new AssertionError({ actual, expected, message: message ?? text, operator: above.name, stackStartFn: above });
    error.generatedMessage = !message;
    throw error;
  };
  if (typeof expected !== 'function') {
    if (types.isRegExp(expected)) {
      const text = String(actual);
      if (expected.exec(text) !== null) return;
      giveUp(`The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(text)}\n`);
    }
    if (typeof actual !== 'object' || actual === null) {
      const error = new AssertionError({ actual, expected, message, operator: 'deepStrictEqual', stackStartFn: above });
      error.operator = above.name;
      throw error;
    }
    const keys = Object.keys(expected);
    if (expected instanceof Error) keys.push('name', 'message');
    else if (keys.length === 0) throw new codes.ERR_INVALID_ARG_VALUE('error', expected, 'may not be an empty object');
    for (const key of keys) {
      if (typeof actual[key] === 'string' && types.isRegExp(expected[key]) && expected[key].exec(actual[key]) !== null) continue;
      compareKey(actual, expected, key, message, keys, above);
    }
    return;
  }
  if (expected.prototype !== undefined && actual instanceof expected) return;
  if (Object.prototype.isPrototypeOf.call(Error, expected)) {
    const what = isError(actual) ? `"${actual.constructor?.name || actual.name}"` : `"${inspect(actual, { depth: -1 })}"`;
    giveUp(`The error is expected to be an instance of "${expected.name}". Received ${what}` +
      `${isError(actual) ? `\n\nError message:\n\n${actual.message}` : ''}`);
  }
  const answer = Reflect.apply(expected, {}, [actual]);
  if (answer === true) return;
  giveUp(`The ${expected.name ? `"${expected.name}" ` : ''}validation function is expected to return "true". ` +
    `Received ${inspect(answer)}${isError(actual) ? `\n\nCaught error:\n\n${actual}` : ''}`);
}

function thrownBy(run) {
  require('internal/validators').validateFunction(run, 'fn');
  try {
    run();
  } catch (error) {
    return error;
  }
  return NO_EXCEPTION;
}

const isThenable = (value) => types.isPromise(value) ||
  (value !== null && typeof value === 'object' && typeof value.then === 'function' && typeof value.catch === 'function');

async function rejectionOf(source) {
  let promise = source;
  if (typeof source === 'function') {
    promise = source();
    if (!isThenable(promise)) throw new codes.ERR_INVALID_RETURN_VALUE('instance of Promise', 'promiseFn', promise);
  } else if (!isThenable(source)) {
    throw new codes.ERR_INVALID_ARG_TYPE('promiseFn', ['Function', 'Promise'], source);
  }
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return NO_EXCEPTION;
}

function expectError(above, actual, expected, message) {
  if (typeof expected === 'string') {
    if (message !== undefined) throw new codes.ERR_INVALID_ARG_TYPE('error', ['Object', 'Error', 'Function', 'RegExp'], expected);
    const isSame = typeof actual === 'object' && actual !== null ? actual.message === expected : actual === expected;
    // Somebody meant the message of the error by it.
    if (isSame) {
      throw new codes.ERR_AMBIGUOUS_ARGUMENT('error/message',
        typeof actual === 'object' ? `The error message "${actual.message}" is identical to the message.`
          : `The error "${actual}" is identical to the message.`);
    }
    message = expected;
    expected = undefined;
  } else if (expected != null && typeof expected !== 'object' && typeof expected !== 'function') {
    throw new codes.ERR_INVALID_ARG_TYPE('error', ['Object', 'Error', 'Function', 'RegExp'], expected);
  }
  if (actual === NO_EXCEPTION) {
    const details = `${expected?.name ? ` (${expected.name})` : ''}${message ? `: ${message}` : '.'}`;
    fail({
      actual: undefined, expected, operator: above.name, stackStartFn: above,
      message: message instanceof Error ? message : `Missing expected ${above === assert.rejects ? 'rejection' : 'exception'}${details}`,
    });
  }
  if (expected) checkThrown(actual, expected, message, above);
}

function expectNoError(above, actual, expected, message) {
  if (actual === NO_EXCEPTION) return;
  if (typeof expected === 'string') {
    message = expected;
    expected = undefined;
  }
  if (expected && !isExpected(actual, expected)) throw actual;
  fail({
    actual, expected, operator: above.name, stackStartFn: above,
    message: `Got unwanted ${above === assert.doesNotReject ? 'rejection' : 'exception'}${message ? `: ${message}` : '.'}\n` +
      `Actual message: "${actual?.message}"`,
  });
}

function isExpected(actual, expected) {
  if (typeof expected !== 'function') {
    if (types.isRegExp(expected)) return expected.exec(String(actual)) !== null;
    throw new codes.ERR_INVALID_ARG_TYPE('expected', ['Function', 'RegExp'], expected);
  }
  if (expected.prototype !== undefined && actual instanceof expected) return true;
  if (Object.prototype.isPrototypeOf.call(Error, expected)) return false;
  return Reflect.apply(expected, {}, [actual]) === true;
}

function matching(name, wanted) {
  const method = {
    [name](string, regexp, message) {
      if (!types.isRegExp(regexp)) throw new codes.ERR_INVALID_ARG_TYPE('regexp', 'RegExp', regexp);
      const isText = typeof string === 'string';
      if (isText && (regexp.exec(string) !== null) === wanted) return;
      if (message instanceof Error) throw message;
      const text = message || (!isText
        ? `The "string" argument must be of type string. Received type ${typeof string} (${inspect(string)})`
        : `The input ${wanted ? 'did not match' : 'was expected to not match'} the regular expression ${inspect(regexp)}. ` +
          `Input:\n\n${inspect(string)}\n`);
      const error = new AssertionError({ actual: string, expected: regexp, message: text, operator: name, stackStartFn: method });
      error.generatedMessage = !message;
      throw error;
    },
  }[name];
  return method;
}

Object.assign(assert, {
  throws(run, ...args) { expectError(assert.throws, thrownBy(run), ...args); },
  async rejects(source, ...args) { expectError(assert.rejects, await rejectionOf(source), ...args); },
  doesNotThrow(run, ...args) { expectNoError(assert.doesNotThrow, thrownBy(run), ...args); },
  async doesNotReject(source, ...args) { expectNoError(assert.doesNotReject, await rejectionOf(source), ...args); },
  ifError(error) {
    if (error === null || error === undefined) return;
    let message = 'ifError got unwanted exception: ';
    if (typeof error === 'object' && typeof error.message === 'string') {
      message += error.message.length === 0 && error.constructor ? error.constructor.name : error.message;
    } else {
      message += inspect(error);
    }
    const failure = new AssertionError({ actual: error, expected: null, operator: 'ifError', message, stackStartFn: assert.ifError });
    failure.generatedMessage = false;
    // The error's own way says more than the way here.
    if (typeof error.stack === 'string' && error.stack.includes('\n    at')) {
      const frames = failure.stack.slice(failure.stack.indexOf('\n    at'));
      failure.stack = `${failure.stack.slice(0, failure.stack.indexOf('\n    at'))}${error.stack.slice(error.stack.indexOf('\n    at'))}${frames}`;
    }
    throw failure;
  },
  match: matching('match', true),
  doesNotMatch: matching('doesNotMatch', false),
});

// Strict: the methods without "strict" in their name are those with it.
const strict = function strict(...args) {
  check(strict, args);
};
assert.strict = Object.assign(strict, assert, {
  equal: assert.strictEqual,
  deepEqual: assert.deepStrictEqual,
  notEqual: assert.notStrictEqual,
  notDeepEqual: assert.notDeepStrictEqual,
});
assert.strict.strict = assert.strict;
