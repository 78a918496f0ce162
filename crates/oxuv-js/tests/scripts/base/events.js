// EventEmitter, events.once and events.on.
const EE = require('events');
const util = require('util');
const log = console.log;
const t = (f) => {
  try {
    log('ok', f());
  } catch (e) {
    log(e.name, e.code, e.message);
  }
};
const e = new EE();
e.on('newListener', (n, l) => log('new', String(n), typeof l));
e.on('removeListener', (n, l) => log('rem', String(n), typeof l));
const f = () => log('f');
e.on('x', f);
e.once('x', () => log('once'));
e.prependListener('x', () => log('first'));
e.prependOnceListener('x', () => log('firstonce'));
e.emit('x', 1);
e.emit('x');
log(e.listeners('x').length, e.rawListeners('x').length, e.eventNames(), e.listenerCount('x'), e.listenerCount('x', f));
e.off('x', f);
e.removeAllListeners('x');
log(e.eventNames());
log(e.emit('nothing'));
t(() => e.on('x'));
t(() => e.once('x', 1));
t(() => e.emit('error', new Error('boom')));
t(() => e.emit('error'));
t(() => e.emit('error', 'str'));
t(() => e.emit('error', { a: 1 }));
t(() => EE.defaultMaxListeners);
e.on(EE.errorMonitor, (er) => log('monitor', er.message));
t(() => e.emit('error', new Error('m')));
e.on('error', () => log('handled'));
t(() => e.emit('error', new Error('m2')));
const s = Symbol('s');
e.on(s, () => {});
log(e.eventNames());
function Old() {
  EE.call(this);
}
util.inherits(Old, EE);
const o = new Old();
o.on('a', function (x) {
  log(this === o, x);
});
o.emit('a', 5);
log(
  EE.EventEmitter === EE,
  EE.length,
  EE.name,
  EE.prototype.on === EE.prototype.addListener,
  Object.keys(EE.prototype).join(),
);
const many = new EE();
process.on('warning', (w) =>
  log('WARN', w.name, w.message.split('. Max')[0].split('. Use')[0], w.count, w.type, w.emitter === many),
);
for (let i = 0; i < 12; i++) many.on('q', () => {});
class C extends EE {
  constructor() {
    super({ captureRejections: true });
  }
}
const c = new C();
c.on('ev', async () => {
  throw new Error('async');
});
c.on('error', (er) => log('captured', er.message));
c.emit('ev');
const c2 = new EE({ captureRejections: true });
c2[Symbol.for('nodejs.rejection')] = (er, n, ...a) => log('rej', er.message, n, a);
c2.on('w', async () => {
  throw new Error('z');
});
c2.emit('w', 1, 2);
t(() => new EE({ captureRejections: 1 }));
(async () => {
  const o = new EE();
  setTimeout(() => o.emit('go', 1, 2), 1);
  log(await EE.once(o, 'go'));
  setTimeout(() => o.emit('error', new Error('er')), 1);
  try {
    await EE.once(o, 'never');
  } catch (er) {
    log('once err', er.message);
  }
  setTimeout(() => o.emit('error', 7), 1);
  log(await EE.once(o, 'error'));
  const ac = new AbortController();
  const p = EE.once(o, 'z', { signal: ac.signal });
  ac.abort();
  try {
    await p;
  } catch (er) {
    log(er.name, er.code, er.message, er.cause && er.cause.name);
  }
  try {
    await EE.once(o, 'z', { signal: ac.signal });
  } catch (er) {
    log(er.name);
  }
  log(o.listenerCount('z'), o.listenerCount('error'));
  try {
    await EE.once({}, 'x');
  } catch (er) {
    log(er.code, er.message);
  }
  try {
    await EE.once(o, 'x', { signal: 1 });
  } catch (er) {
    log(er.code, er.message);
  }
  const it = EE.on(o, 'd');
  o.emit('d', 1);
  o.emit('d', 2);
  log(await it.next(), await it.next());
  setTimeout(() => o.emit('d', 3), 1);
  log(await it.next());
  log(await it.return(), await it.next(), o.listenerCount('d'));
  const it2 = EE.on(o, 'd');
  setTimeout(() => o.emit('error', new Error('iter')), 1);
  try {
    for await (const x of it2) log(x);
  } catch (er) {
    log('iter', er.message);
  }
  const ac2 = new AbortController();
  const it3 = EE.on(o, 'd', { signal: ac2.signal });
  setTimeout(() => ac2.abort('why'), 1);
  try {
    for await (const x of it3);
  } catch (er) {
    log(er.name, er.cause);
  }
  try {
    EE.on(o, 'd', { signal: ac2.signal });
  } catch (er) {
    log(er.name);
  }
  const et = new EventTarget();
  setTimeout(() => et.dispatchEvent(new Event('foo')), 1);
  const [ev] = await EE.once(et, 'foo');
  log(ev.type);
  log(EE.getEventListeners(et, 'foo').length, EE.getEventListeners(o, 'd').length);
  EE.setMaxListeners(5, et, o);
  log(o.getMaxListeners());
  t(() => EE.setMaxListeners(1, {}));
  t(() => EE.getEventListeners({}, 'x'));
  log(EE.listenerCount(o, 'd'));
})();
