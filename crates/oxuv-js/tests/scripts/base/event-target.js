// EventTarget, AbortController, AbortSignal and DOMException.
const log = console.log;
const util = require('util');
const t = (f) => {
  try {
    log('ok', f());
  } catch (e) {
    log(e.name, e.code, e.message);
  }
};
const et = new EventTarget();
et.addEventListener('a', function (e) {
  log('1', this === et, e.type, e.target === et, e.currentTarget === et, e.eventPhase, e.composedPath().length);
});
et.addEventListener('a', {
  handleEvent(e) {
    log('2');
  },
});
et.addEventListener('a', () => log('once'), { once: true });
const dup = () => log('dup');
et.addEventListener('a', dup);
et.addEventListener('a', dup);
et.addEventListener('a', dup, true);
log(et.dispatchEvent(new Event('a')));
et.removeEventListener('a', dup);
et.dispatchEvent(new Event('a'));
const ev = new Event('c', { cancelable: true });
et.addEventListener('c', (e) => {
  e.preventDefault();
  e.stopImmediatePropagation();
});
et.addEventListener('c', () => log('NO'));
log(
  et.dispatchEvent(ev),
  ev.defaultPrevented,
  ev.returnValue,
  ev.cancelBubble,
  ev.bubbles,
  ev.composed,
  ev.isTrusted,
  ev.eventPhase,
);
t(() => new Event());
t(() => et.dispatchEvent({}));
t(() => et.addEventListener('x'));
t(() => et.addEventListener('x', 1));
t(() => et.addEventListener('x', () => {}, 1));
t(() => EventTarget.prototype.addEventListener.call({}, 'x', () => {}));
t(() => new CustomEvent('z', { detail: { a: 1 } }).detail.a);
t(() => new Event('x', 1));
log(
  util.inspect(new Event('x')).replace(/timeStamp: [\d.]+/, 'timeStamp: N'),
  util.inspect(et),
  Object.prototype.toString.call(et),
  Object.prototype.toString.call(ev),
);
et.addEventListener('r', function rr(e) {
  t(() => et.dispatchEvent(e));
});
et.dispatchEvent(new Event('r'));
process.on('uncaughtException', (e) => log('UE', e.message));
et.addEventListener('thr', () => {
  throw new Error('in listener');
});
et.addEventListener('thr', async () => {
  throw new Error('async listener');
});
et.addEventListener('thr', () => log('after thr'));
et.dispatchEvent(new Event('thr'));
log('sync after');
et.addEventListener('n', null);
process.on('warning', (w) => log(w.name, w.message));
const ac = new AbortController();
log(ac, ac.signal, ac.signal.aborted, ac.signal.reason);
ac.signal.onabort = (e) => log('onabort', e.type);
ac.signal.addEventListener('abort', (e) => log('abort', e.target === ac.signal));
ac.abort();
ac.abort();
log(ac.signal.aborted, ac.signal.reason.name, ac.signal.reason.message, ac.signal.reason.code, ac);
t(() => ac.signal.throwIfAborted());
const r = AbortSignal.abort('why');
log(r.reason);
try {
  r.throwIfAborted();
} catch (e) {
  log(e);
}
t(() => new AbortSignal());
t(() => AbortSignal.timeout(-1));
t(() => AbortSignal.timeout('x'));
// After what the listeners above leave to the ticks.
setImmediate(() =>
  setImmediate(() => {
    const ts = AbortSignal.timeout(5);
    ts.addEventListener('abort', () => log('timeout', ts.reason.name, ts.reason.message, ts.reason.code));
    setTimeout(() => {}, 30);
  }),
);

const a1 = new AbortController(),
  a2 = new AbortController();
const any = AbortSignal.any([a1.signal, a2.signal]);
any.onabort = () => log('any', any.reason);
a2.abort('two');
log(AbortSignal.any([AbortSignal.abort(1)]).reason, AbortSignal.any([]).aborted);
const ac3 = new AbortController();
et.addEventListener('sig', () => log('sig'), { signal: ac3.signal });
et.dispatchEvent(new Event('sig'));
ac3.abort();
et.dispatchEvent(new Event('sig'));
const d = new DOMException('msg', 'AbortError');
log(
  d.name,
  d.message,
  d.code,
  d instanceof Error,
  d instanceof DOMException,
  String(d),
  d.stack.split('\n')[0],
  DOMException.ABORT_ERR,
  d.ABORT_ERR,
  Object.prototype.toString.call(d),
  Object.keys(d),
);
log(new DOMException().name, new DOMException('m').code, new DOMException('m', { name: 'N', cause: 3 }).cause);
log(util.inspect(d).split('\n')[0]);
