// util.inspect: kinds of values, options, lines and columns.
const util = require('util');
const { inspect } = util;
const out = (v, o) => console.log(inspect(v, o));
out({ a: 1, b: 'x', c: [1, 2, { d: { e: { f: 1 } } }], [Symbol('s')]: 2, 'a-b': 3 });
out([1, , 3]);
out([, , ,]);
out(new Array(5));
out([1, 2, 3, 'a', , , , 5]);
const arr = [1, 2];
arr.x = 5;
arr[-1] = 4;
out(arr);
out(
  new Map([
    [1, { a: 2 }],
    ['x', new Set([1, 2])],
  ]),
);
out(new Set(['a', [1, 2]]));
out(new Map());
out(new Set());
class Foo {
  constructor() {
    this.a = 1;
  }
  get b() {
    return 2;
  }
}
class Bar extends Foo {}
out(new Foo());
out(new Bar());
out(Foo);
out(Bar);
out(class {});
out(class A extends null {});
out(() => {});
out(function foo() {});
out(async () => {});
out(function* g() {});
out(async function* ag() {});
const fn = function x() {};
fn.p = 1;
out(fn);
out(Object.create(null));
out(Object.assign(Object.create(null), { a: 1 }));
out(Object.create({}));
out(Object.create(Foo.prototype));
out(Object.create(Object.create(null)));
out(new Date(0));
out(new Date(NaN));
out(/a\/b/gi);
const re = /x/;
re.p = 1;
out(re);
out(Symbol('a'));
out(123456789012345678901234567890n);
out(-0);
out([-0, 0, 1.5, NaN, Infinity]);
out("it's");
out('a"b\'c');
out('a"b\'c`d');
out('\n\t\x00\u001b\x7f\u009b');
out('\ud83d');
out('😀');
out(['x\ny']);
out('a'.repeat(200));
out(['a'.repeat(100)]);
out({ s: 'line1\nline2\nline3 ' + 'x'.repeat(80) });
out('a'.repeat(10100).length);
const c = {};
c.self = c;
c.arr = [c, { c }];
out(c);
const m = new Map();
m.set('m', m);
out(m);
out({ a: { b: { c: { d: 1 } } } });
out({ a: { b: { c: {} } } });
out({ a: { b: { c: [] } } });
out({ a: { b: { c: [1] } } }, { depth: 0 });
out({ a: { b: { c: [1] } } }, { depth: null });
out({
  a: {
    b: { c: new Map([[1, 2]]), d: new Foo(), e: Object.create(null), f: Object.assign(Object.create(null), { a: 1 }) },
  },
});
out(new Uint8Array([1, 2, 3]));
out(new Float64Array(3));
out(new BigInt64Array(2));
out(new ArrayBuffer(4));
out(new DataView(new ArrayBuffer(2)));
out(new SharedArrayBuffer(2));
out(new Uint8Array(0));
out(new Uint8Array(200));
out(new Uint8Array(2), { showHidden: true });
out([1, 2, 3], { showHidden: true });
out({ a: 1 }, { showHidden: true });
out(new Foo(), { showHidden: true });
out(new Bar(), { showHidden: true });
out(Foo, { showHidden: true });
out(new Map([[1, 2]]), { showHidden: true });
out(Promise.resolve(4));
out(Promise.resolve({ a: 1 }));
out(new Promise(() => {}));
const rj = Promise.reject(new Error('x'));
rj.catch(() => {});
out(Promise.resolve([1, 2, 3]));
out(new WeakMap());
out(new WeakSet());
out({
  get a() {
    return 1;
  },
  set a(v) {},
  get b() {
    return { x: 1 };
  },
  set c(v) {},
});
out(
  {
    get a() {
      return 1;
    },
    set a(v) {},
    get b() {
      return { x: 1 };
    },
    get n() {
      return null;
    },
    get t() {
      throw new Error('no');
    },
  },
  { getters: true },
);
out(
  {
    get a() {
      return 1;
    },
    set a(v) {},
    get b() {
      return 2;
    },
  },
  { getters: 'get' },
);
out(
  {
    get a() {
      return 1;
    },
    set a(v) {},
    get b() {
      return 2;
    },
  },
  { getters: 'set' },
);
out(new Number(3));
out(new String('abc'));
out(new Boolean(false));
out(Object(1n));
out(Object(Symbol('q')));
const so = new String('abc');
so.x = 1;
out(so);
out(new Proxy({ a: 1 }, {}));
out(new Proxy({ a: 1 }, { get() {} }), { showProxy: true });
out(new Proxy(function f() {}, {}));
out(new Proxy([1, 2], {}));
const rv = Proxy.revocable({}, {});
rv.revoke();
out(rv.proxy);
out(new Proxy(new Proxy({}, {}), {}), { showProxy: 1 });
(function () {
  out(arguments);
})(1, 2, 'x');
(function () {
  out(arguments);
})();
out({ [Symbol.toStringTag]: 'T', a: 1 });
class TT {
  get [Symbol.toStringTag]() {
    return 'tag';
  }
}
out(new TT());
out(Object.create(null, { [Symbol.toStringTag]: { value: 'foo' } }));
out({
  [inspect.custom](d, o, i) {
    return 'custom ' + d + ' ' + typeof i + ' ' + Object.keys(o).join();
  },
});
out({
  a: {
    [inspect.custom]() {
      return { x: 1, y: { z: {} } };
    },
  },
});
out({ [inspect.custom]: 1 });
out({
  inspect() {
    return 1;
  },
});
out(globalThis.Math);
out(JSON);
out(Reflect);
out(Atomics);
out([[[[[]]]]]);
out([[[[[1]]]]]);
out([
  { a: 1, b: 2 },
  { a: 3, b: 4 },
]);
out({ a: [{ b: 1 }, { c: 2 }], f() {}, g: class X {} });
out({ b: 1, a: 2, c: { z: 1, y: 2 } }, { sorted: true });
out(new Set([3, 1, 2]), { sorted: true });
out({ a: 1, b: 2 }, { sorted: (a, b) => (a < b ? 1 : -1) });
out({ a: 1, b: { c: 2 } }, { compact: true });
out({ a: 1, b: { c: { d: { e: 1 } } } }, { compact: false });
out({ a: 1, b: { c: { d: { e: 1 } } } }, { compact: 1, depth: 9 });
out([1, 2, 3], { compact: false });
out({ longproperty: 'x'.repeat(60), another: 'y'.repeat(40) }, { compact: true });
out(
  { a: 1, b: 'x', c: null, d: undefined, e: true, f: Symbol('x'), g: 1n, h: /x/, i: new Date(0), j() {}, k: [1] },
  { colors: true },
);
out(new Map([['a', 1]]), { colors: true });
out(
  Array.from({ length: 30 }, (_, i) => i),
  { colors: true },
);
out([1234567.891, 123456789n, 0.1234567], { numericSeparator: true });
out(-1234.5678, { numericSeparator: true });
out(12345, { numericSeparator: true });
out(Array.from({ length: 200 }, (_, i) => i));
out(new Set(Array.from({ length: 200 }, (_, i) => i)), { maxArrayLength: 3 });
out(new Map(Array.from({ length: 10 }, (_, i) => [i, i])), { maxArrayLength: 1 });
out([1, 2, 3], { maxArrayLength: 0 });
out('abcdef', { maxStringLength: 3 });
out(['abcdef'], { maxStringLength: 5 });
out({ a: 'x'.repeat(30), b: 'y'.repeat(30), c: 'z'.repeat(30) });
out({ a: 'x'.repeat(30), b: 'y'.repeat(30) }, { breakLength: 40 });
out({ a: 1, b: 2, c: 3 }, { breakLength: 3 });
out({ a: [1, 2, 3] }, { breakLength: Infinity, compact: true });
out(new (class extends Map {})([[1, 2]]));
out(new (class MyArr extends Array {})(3));
out(new (class MySet extends Set {})([1]));
out(Object.setPrototypeOf([1], null));
out(Object.setPrototypeOf(new Map([[1, 2]]), null));
out(Object.setPrototypeOf(new Date(0), null));
out(Object.setPrototypeOf(() => {}, null));
out(Object.setPrototypeOf(/x/, null));
out(new (class P extends Promise {})(() => {}));
out(undefined);
out(null);
out({ __proto__: null, ['__proto__']: 1 });
out({ '': 1, ' ': 2, 1: 3, a1: 4, '1a': 5, $: 6 });
out(Object.defineProperty({}, 'h', { value: 1, enumerable: false }), { showHidden: true });
out([undefined, null, []]);
out({ a: undefined });
out(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
out([[1, 2, [3, 4, [5, [6]]]]]);
out([
  'foo bar baz quux',
  'a',
  'hello world how',
  'are you',
  'today my friend',
  'x',
  'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy',
]);
out(Array.from({ length: 60 }, (_, i) => 'item' + i));
out(Array.from({ length: 27 }, (_, i) => (i % 2 ? i * 1000 : i)));
out(Array.from({ length: 10 }, (_, i) => ({ id: i, name: 'n' + i })));
out([
  [1, 2, 3],
  [4, 5, 6],
  [7, 8, 9],
  [1, 1, 1],
  [2, 2, 2],
  [3, 3, 3],
  [4, 4, 4],
]);
out([true, false, true, true, false, true, true]);
out([1n, 2n, 3n, 4n, 50n, 60n, 70n]);
