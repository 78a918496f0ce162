// The module timers/promises.
const log = console.log;
const tp = require('timers/promises');
const timers = require('timers');
const util = require('util');
log(
  tp === timers.promises,
  Object.keys(tp).sort(),
  util.promisify(setTimeout) === tp.setTimeout,
  util.promisify(setImmediate) === tp.setImmediate,
);
(async () => {
  log(await tp.setTimeout(1, 'v'), await tp.setImmediate('i'));
  const ac = new AbortController();
  const p = tp.setTimeout(1000, 0, { signal: ac.signal });
  ac.abort();
  await p.catch((e) => log(e.name, e.code, e.message, e.cause.name));
  await tp.setTimeout(1, 0, { signal: AbortSignal.abort() }).catch((e) => log(e.name));
  await tp.setTimeout(1, 0, { ref: 1 }).catch((e) => log(e.code, e.message));
  await tp.setTimeout(1, 0, 1).catch((e) => log(e.code, e.message));
  await tp.setTimeout(1, 0, { signal: {} }).catch((e) => log(e.code, e.message));
  await tp.setImmediate(0, { signal: AbortSignal.abort('r') }).catch((e) => log(e.name, e.cause));
  let n = 0;
  for await (const x of tp.setInterval(1, 'x')) {
    log(x);
    if (++n === 3) break;
  }
  const ac2 = new AbortController();
  setTimeout(() => ac2.abort(), 10);
  try {
    for await (const x of tp.setInterval(2, 1, { signal: ac2.signal }));
  } catch (e) {
    log(e.name);
  }
  try {
    for await (const x of tp.setInterval(1, 1, { ref: 5 }));
  } catch (e) {
    log(e.code);
  }
  await tp.scheduler.yield();
  await tp.scheduler.wait(1);
  log('sched');
  try {
    new tp.scheduler.constructor();
  } catch (e) {
    log(e.code);
  }
  const im = setImmediate(() => {});
  log(im.hasRef(), typeof im[Symbol.dispose]);
  const tm = setTimeout(() => {}, 1);
  log(tm.hasRef());
  clearTimeout(tm);
  log(tm._destroyed);
})();
