// structuredClone.
const log = console.log;
const sc = structuredClone;
const o = {
  a: 1,
  d: new Date(5),
  r: /x/g,
  m: new Map([[1, { z: 1 }]]),
  s: new Set([1]),
  u: undefined,
  n: null,
  b: 10n,
  arr: [1, , 3],
  t: new Uint8Array([1, 2]),
  e: new RangeError('re'),
  bx: Object(1),
};
o.self = o;
const c = sc(o);
log(
  c.self === c,
  c.d.getTime(),
  c.r,
  c.m,
  c.s,
  'u' in c,
  c.b,
  c.arr,
  c.t,
  c.e instanceof RangeError,
  c.e.message,
  c.bx,
);
for (const bad of [() => {}, Symbol('x'), { f() {} }, Promise.resolve(), new WeakMap()])
  try {
    sc(bad);
  } catch (e) {
    log(e.name, e.code, e.message);
  }
const buf = new ArrayBuffer(4);
const tr = sc(buf, { transfer: [buf] });
log(tr.byteLength, buf.byteLength);
class K {
  constructor() {
    this.x = 1;
  }
}
log(sc(new K()));
try {
  sc();
} catch (e) {
  log(e.name);
}
process.env.OXUV_CLONED = 'yes';
const environment = sc(process.env);
environment.OXUV_CLONED += 1;
log(environment.OXUV_CLONED, process.env.OXUV_CLONED, sc({ env: process.env }).env !== process.env);
const blob = sc(new Blob(['some', 'text'], { type: 'text/plain' }));
log(blob);
blob.text().then(log);
const { port1, port2 } = new MessageChannel();
port1.postMessage({ env: process.env, blob });
port2.once('message', (got) => {
  log(got.env.OXUV_CLONED, got.blob);
  port2.close();
});
