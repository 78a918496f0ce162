// The little that tests use of the web platform's harness.
'use strict';

const assert = require('assert');

module.exports = {
  harness: {
    test: (fn) => fn(),
    promise_test: (fn) => { fn().then(undefined, (error) => { process.nextTick(() => { throw error; }); }); },
    assert_equals: assert.strictEqual,
    assert_not_equals: assert.notStrictEqual,
    assert_array_equals: (one, other) => assert.deepStrictEqual([...one], [...other]),
    assert_true: (value, message) => assert.strictEqual(value, true, message),
    assert_false: (value, message) => assert.strictEqual(value, false, message),
    assert_throws_js: (type, fn) => assert.throws(fn, type),
    assert_unreached: (message) => assert.fail(`was reached: ${message}`),
  },
};
