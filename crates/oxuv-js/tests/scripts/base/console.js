// The console and its class.
console.log('%s is %d', 'x', 1, 'extra', { a: 1 });
console.log();
console.log(null, undefined, true);
console.log([1, 'a']);
console.log('a\nb');
console.group('G');
console.log('in\nner');
console.group();
console.info('deep');
console.groupEnd();
console.groupEnd();
console.groupEnd();
console.log('out');
console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
console.count();
console.count();
console.count('x');
console.countReset();
console.count();
console.table([
  { a: 1, b: 'x' },
  { a: 2, c: true },
]);
console.table([
  [1, 2],
  [3, 4],
]);
console.table(5);
console.table([1, 'a', { x: { y: 1 } }]);
console.table(
  new Map([
    ['a', 1],
    ['b', { c: 2 }],
  ]),
);
console.table(new Set([1]));
console.table([{ a: 1, b: 2 }], ['b']);
console.table({ x: { v: 1 }, y: { v: 2 } });
console.table([]);
console.table(new Map([[1, 2]]).entries());
console.table([{ a: { b: 1, c: 2, d: 3 } }]);
console.assert(true);
console.assert(false, 'msg %s', 'x');
console.dirxml({ a: 1 }, { b: 2 });
console.log(typeof console.Console, console instanceof console.Console, Object.prototype.toString.call(console));
const { Writable } = {};
const out = [];
const C = new console.Console({
  write(s) {
    out.push(s);
  },
  on() {},
  once() {},
  removeListener() {},
  listenerCount() {
    return 0;
  },
});
C.log('a', 1);
C.error('b');
C.group('g');
C.warn('w');
console.log(out);
console.log(Object.keys(C).length > 10);
try {
  new console.Console();
} catch (e) {
  console.log(e.code, e.message, e.name);
}
try {
  new console.Console({});
} catch (e) {
  console.log(e.code, e.message);
}
console.log(console.Console({ write() {} }) instanceof console.Console);
