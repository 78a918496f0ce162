// The object process.
const log = console.log;
const t = (f) => {
  try {
    log('ok', f());
  } catch (e) {
    log(e.name, e.code, e.message);
  }
};
log(
  process instanceof require('events'),
  Object.prototype.toString.call(process),
  String(process),
  process.constructor.name,
);
log(process.hrtime().length, process.hrtime([0, 0])[0] >= 0, typeof process.hrtime.bigint());
t(() => process.hrtime(1));
t(() => process.hrtime([1]));
log(
  Object.keys(process.memoryUsage()),
  process.memoryUsage.rss() > 1e6,
  process.uptime() < 5 && process.uptime() > 0,
  process.platform,
  process.arch,
  process.release.name,
  typeof process.pid,
  process.ppid > 0,
  typeof process.version,
  typeof process.versions.node,
);
log(typeof process.umask(), process.umask('022') >= 0, process.umask().toString(8));
t(() => process.umask('9'));
t(() => process.umask({}));
log(process.getuid() === process.geteuid(), typeof process.getgid(), Array.isArray(process.getgroups()));
const cu = process.cpuUsage();
log(Object.keys(cu), Object.keys(process.cpuUsage(cu)));
t(() => process.cpuUsage(1));
t(() => process.cpuUsage({}));
t(() => process.cpuUsage({ user: -1, system: 2 }));
log(Object.keys(process.resourceUsage()).length, typeof process.resourceUsage().maxRSS);
process.env.OXUV_X = 5;
log(process.env.OXUV_X, typeof process.env.OXUV_X);
process.env.OXUV_U = undefined;
log(process.env.OXUV_U);
delete process.env.OXUV_X;
log('OXUV_X' in process.env, process.env.NOPE, delete process.env.NOPE);
t(() => Object.defineProperty(process.env, 'q', { value: 1 }));
t(() => Object.defineProperty(process.env, 'q', { get() {} }));
t(() => Object.defineProperty(process.env, 'q', { value: 1, configurable: true, writable: true, enumerable: true }).q);
log(
  Object.keys(process.env).includes('PATH'),
  'PATH' in process.env,
  process.env.hasOwnProperty('PATH'),
  { ...process.env }.PATH === process.env.PATH,
  process.env[Symbol('z')],
);
process.chdir('/tmp');
log(process.cwd());
t(() => process.chdir('/nonexistent'));
t(() => process.chdir(1));
try {
  process.chdir('/nonexistent');
} catch (e) {
  log(Object.assign({}, e));
}
log(
  process.argv.length,
  process.execArgv,
  process.exitCode,
  process.features.ipv6,
  typeof process.config,
  process.title.length > 0,
);
process.on('warning', (w) => log('W', w.name, w.code, w.message, w.detail));
process.emitWarning('plain');
process.emitWarning('typed', 'MyW');
process.emitWarning('coded', 'MyW', 'C01');
process.emitWarning('opt', { type: 'T', code: 'C', detail: 'the detail' });
process.emitWarning(new TypeError('err'));
t(() => process.emitWarning(1));
t(() => process.emitWarning('x', 1));
t(() => process.emitWarning('x', 'y', 1));
t(() => process.emitWarning());
process.emitWarning('dep', 'DeprecationWarning', 'DEP0');
process.noDeprecation = true;
process.emitWarning('dep2', 'DeprecationWarning');
const dep = require('util').deprecate(() => 7, 'old thing', 'DEPX');
process.noDeprecation = false;
const dep2 = require('util').deprecate(
  function q(a) {
    return a;
  },
  'old thing',
  'DEPX',
);
log(dep2(3), dep2(4), dep2.length, dep2.name);
t(() => process.setUncaughtExceptionCaptureCallback(1));
process.setUncaughtExceptionCaptureCallback((e) => log('cap', e.message));
log(process.hasUncaughtExceptionCaptureCallback());
t(() => process.setUncaughtExceptionCaptureCallback(() => {}));
setTimeout(() => {
  throw new Error('captured');
}, 1);
setTimeout(() => {
  process.setUncaughtExceptionCaptureCallback(null);
  log(process.hasUncaughtExceptionCaptureCallback());
}, 5);
process.on('exit', (c) => log('exit', c, process.exitCode));
process.exitCode = 3;
