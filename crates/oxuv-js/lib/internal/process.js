// What is rarely asked of `process`.
'use strict';

const process = require('process');
const native = binding('process');
const { codes, systemError } = require('internal/codes');
const validators = require('internal/validators');

const { origin } = process._own;

function throwWithoutFolder(errno) {
  throw systemError({ errno, syscall: 'uv_cwd' });
}

function chdir(directory) {
  validators.validateString(directory, 'directory');
  const errno = native.changeDirectory(directory);
  if (errno !== 0) throw systemError({ errno, syscall: 'chdir', path: process.cwd(), dest: directory });
}

function hrtime(time) {
  const now = native.clock();
  if (time === undefined) return now;
  validators.validateArray(time, 'time');
  if (time.length !== 2) throw new codes.ERR_OUT_OF_RANGE('time', 2, time.length);
  const seconds = now[0] - time[0];
  const nanoseconds = now[1] - time[1];
  return nanoseconds < 0 ? [seconds - 1, nanoseconds + 1e9] : [seconds, nanoseconds];
}
hrtime.bigint = () => {
  const [seconds, nanoseconds] = native.clock();
  return BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds);
};

function memoryUsage() {
  const [rss, heapTotal, heapUsed] = native.memory();
  return { rss, heapTotal, heapUsed, external: 0, arrayBuffers: 0 };
}
memoryUsage.rss = function rss() { return native.memory()[0]; };

const uptime = () => native.nanoseconds() / 1e9 - origin / 1e3;

function umask(mask) {
  if (mask === undefined) {
    const before = native.mask(0);
    native.mask(before);
    return before;
  }
  return native.mask(validators.parseFileMode(mask, 'mask') & 0o777);
}

const id = (at) => () => native.ids()[at];

function cpuUsage(before) {
  const [user, system] = native.usage();
  if (before === undefined) return { user, system };
  validators.validateObject(before, 'prevValue');
  for (const key of ['user', 'system']) {
    validators.validateNumber(before[key], `prevValue.${key}`);
    if (!(before[key] >= 0 && before[key] <= Number.MAX_SAFE_INTEGER)) {
      throw new codes.ERR_INVALID_ARG_VALUE_RANGE(`prevValue.${key}`, before[key]);
    }
  }
  return { user: user - before.user, system: system - before.system };
}

const USAGE = ['userCPUTime', 'systemCPUTime', 'maxRSS', 'sharedMemorySize', 'unsharedDataSize', 'unsharedStackSize', 'minorPageFault',
  'majorPageFault', 'swappedOut', 'fsRead', 'fsWrite', 'ipcSent', 'ipcReceived', 'signalsCount', 'voluntaryContextSwitches',
  'involuntaryContextSwitches'];

function resourceUsage() {
  const counts = native.usage();
  return Object.fromEntries(USAGE.map((name, i) => [name, counts[i]]));
}

function setUncaughtExceptionCaptureCallback(callback) {
  if (callback === null) {
    process._captureCallback = null;
    return;
  }
  if (typeof callback !== 'function') throw new codes.ERR_INVALID_ARG_TYPE('fn', ['Function', 'null'], callback);
  if (process._captureCallback !== null) throw new codes.ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET();
  process._captureCallback = callback;
}

// Warnings

function emitWarning(warning, type, code, above) {
  let detail;
  if (type !== null && typeof type === 'object' && !Array.isArray(type)) {
    above = type.ctor;
    code = type.code;
    if (typeof type.detail === 'string') detail = type.detail;
    type = type.type || 'Warning';
  } else if (typeof type === 'function') {
    above = type;
    code = '';
    type = 'Warning';
  }
  if (type !== undefined) validators.validateString(type, 'type');
  if (typeof code === 'function') {
    above = code;
    code = '';
  } else if (code !== undefined) {
    validators.validateString(code, 'code');
  }
  if (typeof warning === 'string') {
    warning = Object.assign(new Error(warning), { name: String(type || 'Warning') });
    Object.defineProperty(warning, 'name', { enumerable: false });
    if (code) warning.code = code;
    if (detail !== undefined) warning.detail = detail;
    Error.captureStackTrace(warning, above ?? process.emitWarning);
  } else if (!(warning instanceof Error)) {
    throw new codes.ERR_INVALID_ARG_TYPE('warning', ['Error', 'string'], warning);
  }
  if (warning.name === 'DeprecationWarning') {
    if (process.noDeprecation) return;
    if (process.throwDeprecation) {
      process.nextTick(() => { throw warning; });
      return;
    }
  }
  process.nextTick(() => process.emit('warning', warning));
}

function printWarning(warning) {
  if (!(warning instanceof Error) || process._own.hidesWarnings || process.env.NODE_NO_WARNINGS === '1') return;
  const isDeprecation = warning.name === 'DeprecationWarning';
  if (isDeprecation && process.noDeprecation) return;
  const isTraced = process.traceProcessWarnings || (isDeprecation && process.traceDeprecation);
  let text = `(oxuv:${process.pid}) ${warning.code ? `[${warning.code}] ` : ''}`;
  if (isTraced && warning.stack) text += warning.stack;
  else text += typeof warning.toString === 'function' ? `${warning}` : Error.prototype.toString.call(warning);
  if (typeof warning.detail === 'string') text += `\n${warning.detail}`;
  if (process._own.isWorker) process.stderr.write(`${text}\n`);
  else native.write(2, `${text}\n`);
}

// The environments that scripts have. They are copied like other objects, though they are proxies.
const environments = new WeakSet();

function makeEnvironment(values) {
  const environment = new Proxy(values, ENVIRONMENT);
  environments.add(environment);
  return environment;
}

// All that is put in becomes text.
const ENVIRONMENT = {
  set(target, key, value) {
    // A symbol has no text, as name or value; the language says so itself.
    const name = `${key}`;
    const text = `${value}`;
    // The system knows no variable without a name.
    if (name !== '') target[name] = text;
    return true;
  },
  defineProperty(target, key, descriptor) {
    if (descriptor.get !== undefined || descriptor.set !== undefined) {
      throw new codes.ERR_INVALID_OBJECT_DEFINE_PROPERTY("'process.env' does not accept an accessor(getter/setter) descriptor");
    }
    if (!descriptor.configurable || !descriptor.writable || !descriptor.enumerable) {
      throw new codes.ERR_INVALID_OBJECT_DEFINE_PROPERTY(
        "'process.env' only accepts a configurable, writable, and enumerable data descriptor");
    }
    return Object.defineProperty(target, `${key}`, { ...descriptor, value: `${descriptor.value}` }) !== undefined;
  },
  deleteProperty(target, key) {
    delete target[key];
    return true;
  },
};

// Names of what keeps the loop running.
function getActiveResourcesInfo() {
  const { timers, immediates } = require('timers').internal.countActive();
  return [...native.activeResources(), ...Array(timers).fill('Timeout'), ...Array(immediates).fill('Immediate')];
}

module.exports = {
  getActiveResourcesInfo,
  throwWithoutFolder, chdir, hrtime, memoryUsage, uptime, umask, cpuUsage, resourceUsage, emitWarning, printWarning,
  setUncaughtExceptionCaptureCallback,
  hasUncaughtExceptionCaptureCallback: () => process._captureCallback !== null,
  getuid: id(0),
  geteuid: id(1),
  getgid: id(2),
  getegid: id(3),
  getgroups: () => native.groups(),
  ...require('internal/identity'),
  _rawDebug: (...args) => native.write(2, `${require('internal/format').format(...args)}\n`),
  abort: () => native.abort(),
  env: makeEnvironment(Object.fromEntries(native.environment())),
  makeEnvironment,
  isEnvironment: (value) => environments.has(value),
  versions: Object.freeze({ node: process.version.slice(1), oxuv: native.version, uv: '1.53.0' }),
  arch: { x86_64: 'x64', aarch64: 'arm64', x86: 'ia32', powerpc64: 'ppc64', riscv64: 'riscv64' }[native.machine] ?? native.machine,
  // What many scripts ask to know whether they run on Node at all.
  release: { name: 'node' },
  ppid: native.parentPid(),
  features: Object.freeze({
    inspector: false, debug: false, uv: true, ipv6: true, tls_alpn: false, tls_sni: false, tls_ocsp: false, tls: false,
    cached_builtins: true,
  }),
  config: Object.freeze({ target_defaults: Object.freeze({}), variables: Object.freeze({}) }),
  allowedNodeEnvironmentFlags: new Set(),
  argv0: native.ownName(),
};
