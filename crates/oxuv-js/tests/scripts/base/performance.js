// performance and perf_hooks.
const log = console.log;
const pf = performance;
log(
  typeof pf.now(),
  pf.now() > 0,
  Math.abs(Date.now() - pf.timeOrigin - pf.now()) < 1000,
  require('perf_hooks').performance === pf,
);
const mk = pf.mark('a', { detail: { x: 1 } });
log(mk.name, mk.entryType, mk.duration, mk.detail, pf.getEntriesByName('a').length);
const ms = pf.measure('m', 'a');
log(ms.entryType, ms.duration >= 0, ms.startTime === mk.startTime);
log(pf.measure('mm', { start: 1, end: 3 }).duration, pf.measure('m3', { start: 1, duration: 4 }).duration);
try {
  pf.measure('q', 'nomark');
} catch (e) {
  log(e.name, e.message);
}
pf.clearMarks();
pf.clearMeasures();
log(pf.getEntries().filter((e) => /mark|measure/.test(e.entryType)).length);
log(Object.prototype.toString.call(pf));
