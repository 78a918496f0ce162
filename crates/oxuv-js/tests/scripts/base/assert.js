// The module assert: what passes, and what the failures say.
const assert = require('assert');
const t = (f) => {
  try {
    f();
    console.log('ok');
  } catch (e) {
    console.log(e.name, '|', e.code, '|', e.message, '|', e.generatedMessage, e.operator);
  }
};
t(() => assert.equal(1, 2));
t(() => assert.notEqual(1, 1));
t(() => assert.strictEqual(1, 2));
t(() => assert.strictEqual('a'.repeat(10), 'a'.repeat(10) + 'b'));
t(() => assert.strictEqual({ a: 1 }, { a: 1 }));
t(() => assert.strictEqual([1, 2, 3], [1, 2, 4]));
t(() => assert.deepStrictEqual({ a: 1, b: { c: 1 } }, { a: 1, b: { c: 2 } }));
t(() => assert.deepEqual({ a: 1 }, { a: 2 }));
t(() => assert.notDeepEqual({ a: 1 }, { a: 1 }));
t(() => assert.notStrictEqual(1, 1));
t(() => assert.notDeepStrictEqual({ a: 1 }, { a: 1 }));
t(() => assert.deepStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]));
t(() => assert.deepStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
t(() => assert.deepStrictEqual(new Map([[1, 2]]), new Map([[1, 3]])));
t(() => assert.deepStrictEqual(new Set([1]), new Set([2])));
t(() => assert.deepStrictEqual(1, 1n));
t(() => assert.deepStrictEqual(-0, 0));
t(() => assert.deepStrictEqual(NaN, NaN));
t(() => assert.deepEqual(NaN, NaN));
t(() => assert.deepEqual([1], ['1']));
t(() => assert.deepStrictEqual([1], ['1']));
t(() => assert.ok(0));
t(() => assert(false, 'msg'));
t(() => assert());
t(() => assert.ok(typeof 123 === 'string'));
t(() => assert(null, new TypeError('own')));
t(() => assert.fail());
t(() => assert.fail('boo'));
t(() => assert.ifError(null));
t(() => assert.ifError(new Error('e')));
t(() => assert.ifError('s'));
t(() => assert.match('abc', /x/));
t(() => assert.match(123, /x/));
t(() => assert.doesNotMatch('abc', /a/));
t(() => assert.match('abc', /b/));
t(() => assert.throws(() => {}));
t(() => assert.throws(() => {}, TypeError));
t(() => assert.throws(() => {}, TypeError, 'mm'));
t(() =>
  assert.throws(() => {
    throw new TypeError('x');
  }, TypeError),
);
t(() =>
  assert.throws(() => {
    throw new Error('x');
  }, TypeError),
);
t(() =>
  assert.throws(() => {
    throw new Error('x');
  }, /y/),
);
t(() =>
  assert.throws(
    () => {
      throw new Error('x');
    },
    { message: 'y' },
  ),
);
t(() =>
  assert.throws(
    () => {
      throw new Error('x');
    },
    { message: /x/, name: 'Error' },
  ),
);
t(() =>
  assert.throws(
    () => {
      throw new Error('x');
    },
    () => false,
  ),
);
t(() =>
  assert.throws(
    () => {
      throw new Error('x');
    },
    function val() {
      return true;
    },
  ),
);
t(() =>
  assert.throws(() => {
    throw new Error('x');
  }, 'x'),
);
t(() => assert.throws('x'));
t(() =>
  assert.throws(
    () => {
      throw 1;
    },
    { message: 'y' },
  ),
);
t(() =>
  assert.throws(() => {
    throw new Error('e');
  }, {}),
);
t(() =>
  assert.throws(() => {
    throw new Error('e');
  }, new Error('f')),
);
t(() =>
  assert.doesNotThrow(() => {
    throw new Error('x');
  }),
);
t(() =>
  assert.doesNotThrow(() => {
    throw new Error('x');
  }, 'why'),
);
t(() => assert.equal(1));
t(() => assert.strict.equal(1, '1'));
t(() => assert.strict(0));
t(() => assert.deepEqual(new Date(0), new Date(1)));
t(() => assert.deepEqual(/a/, /a/g));
t(() => assert.deepStrictEqual(new Error('a'), new Error('b')));
t(() => assert.deepStrictEqual(Object.create(null), {}));
t(() => assert.deepStrictEqual([, 1], [undefined, 1]));
t(() => assert.deepEqual(new Set([1, '2', { a: 1 }]), new Set(['1', 2, { a: 1 }])));
t(() => assert.deepEqual(new Map([[1, '1']]), new Map([['1', 1]])));
t(() => assert.deepStrictEqual({ [Symbol.for('a')]: 1 }, { [Symbol.for('a')]: 2 }));
t(() => assert.deepStrictEqual(new Uint8Array([1]), new Uint8Array([2])));
t(() => assert.deepStrictEqual(Object(1), Object(1)));
t(() => assert.deepStrictEqual(Object(1), Object(2)));
const a = {};
a.a = a;
const b = {};
b.a = b;
t(() => assert.deepStrictEqual(a, b));
const c = {};
c.a = { a: c };
t(() => assert.deepStrictEqual(a, c));
t(() => assert.strictEqual('line1\nline2\nline3', 'line1\nlineX\nline3'));
t(() => assert.strictEqual(undefined, null));
t(() => assert.strictEqual('foo bar baz qux', 'foo bar baz quy'));
t(() =>
  assert.strictEqual(
    () => {},
    () => {},
  ),
);
t(() =>
  assert.deepStrictEqual(
    Array.from({ length: 80 }, (_, i) => i),
    Array.from({ length: 80 }, (_, i) => i * 2),
  ),
);
t(() =>
  assert.deepStrictEqual(
    { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 },
    { a: 1, b: 2, c: 3, d: 0, e: 5, f: 6, g: 7, h: 9 },
  ),
);
t(() => assert.deepStrictEqual([1, 2, 3], [1, 2]));
t(() => assert.deepStrictEqual([1], [1, 2, 3]));
t(() => assert.deepStrictEqual({ a: Symbol() }, { a: Symbol() }));
t(() => new assert.AssertionError());
t(() => {
  throw new assert.AssertionError({ actual: 1, expected: 2, operator: 'strictEqual' });
});
t(() => {
  throw new assert.AssertionError({ message: 'q' });
});
(async () => {
  const r = async (f) => {
    try {
      await f();
      console.log('ok');
    } catch (e) {
      console.log(e.name, e.code, e.message);
    }
  };
  await r(() => assert.rejects(Promise.resolve(1)));
  await r(() => assert.rejects(Promise.reject(new Error('x'))));
  await r(() =>
    assert.rejects(async () => {
      throw new TypeError('t');
    }, TypeError),
  );
  await r(() => assert.rejects(() => 1));
  await r(() => assert.rejects(1));
  await r(() => assert.doesNotReject(Promise.reject(new Error('z'))));
  await r(() => assert.doesNotReject(Promise.resolve()));
})();
try {
  assert.strictEqual(1, 2);
} catch (e) {
  console.log(
    e.stack.split('\n')[0],
    String(e),
    require('util')
      .inspect(e)
      .replace(/\n +at .*/g, ''),
    Object.keys(e),
  );
}
