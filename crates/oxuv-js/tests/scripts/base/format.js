// util.format, isDeepStrictEqual and types.
const util = require('util');
const f = (...a) => console.log(util.format(...a));
f('%s %d %i %f %j %o %O %%', 'a', 1.5, '42.9', '3.1', { a: 1 }, [1], { b: { c: { d: {} } } });
f('%s');
f('%%');
f('%% %s');
f('a', 'b', { c: 1 });
f(1, 2, '3');
f('%s', null, undefined);
f('%s', Symbol('x'));
f('%d', Symbol('x'));
f('%s', -0);
f('%d', 'x');
f('%d', 10n);
f('%i', 10n);
f('%s', 10n);
f('%s', { a: { b: { c: 1 } } });
f('%s', [1, [2, [3]]]);
f('%s', class A {});
f('%s', () => 1);
f('%s', new Date(0));
f('%s', {
  toString() {
    return 'own';
  },
});
class X {
  toString() {
    return 'X!';
  }
}
f('%s', new X());
class Y extends X {}
f('%s', new Y());
f('%s', new Error('boo').message);
f('%c styled', 'css');
f('%x %s', 1);
const c = {};
c.c = c;
f('%j', c);
f('%j', undefined);
f('%j', () => {});
f('%s %s', 'only');
f('%O', { a: { b: { c: { d: { e: 1 } } } } });
f('%s', Object.create(null));
f('%d', {});
f('%f', 'x');
f('%d', '');
f('%i', '');
f('');
f('', 'a');
f();
f('%s', true);
f('100%');
f('%s%s%s', 'a', 'b');
f('%', 1);
f(null);
f(undefined, 'x');
f('%s', new Map([[1, 2]]));
f(
  '%s',
  Object.assign(function () {}, { a: 1 }),
);
console.log(
  util.isDeepStrictEqual(
    { a: [1, { b: new Map([[{ x: 1 }, new Set([1])]]) }] },
    { a: [1, { b: new Map([[{ x: 1 }, new Set([1])]]) }] },
  ),
);
console.log(util.inspect(util.types.isDate));
console.log(
  util.types.isDate(new Date()),
  util.types.isMap({}),
  util.types.isMap(Object.create(Map.prototype)),
  util.types.isRegExp(/x/),
  util.types.isPromise(Promise.resolve()),
  util.types.isProxy(new Proxy({}, {})),
  util.types.isGeneratorFunction(function* () {}),
  util.types.isAsyncFunction(async () => {}),
  util.types.isBoxedPrimitive(Object(1)),
  util.types.isUint8Array(new Uint8Array()),
  util.types.isTypedArray(new DataView(new ArrayBuffer(1))),
  util.types.isSetIterator(new Set().values()),
  util.types.isGeneratorObject((function* () {})()),
  util.types.isNativeError(new TypeError()),
  util.types.isSymbolObject(Object(Symbol())),
  util.types.isArgumentsObject(
    (function () {
      return arguments;
    })(),
  ),
);
