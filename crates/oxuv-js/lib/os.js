// The module `os`: the machine, its system and its users.
'use strict';

const native = binding('os');
const { systemError } = require('internal/codes');
const { validateInt32 } = require('internal/validators');

function info(names) {
  const error = systemError(names);
  const { errno, code, syscall } = error;
  const { message } = { message: error.message.slice(code.length + 2, -syscall.length - 2) };
  const found = new Error(`A system error occurred: ${syscall} returned ${code} (${message})`);
  Object.defineProperty(found, 'name', { value: 'SystemError', writable: true, configurable: true });
  return Object.assign(found, { code: 'ERR_SYSTEM_ERROR', info: { errno, code, message, syscall }, errno, syscall });
}

function ask(syscall, question, ...args) {
  try {
    return question(...args);
  } catch (errno) {
    if (typeof errno !== 'number') throw errno;
    throw info({ errno, syscall });
  }
}

let names;
const name = (at) => (names ??= native.names())[at];

function cpus() {
  return ask('uv_cpu_info', native.processors).map(([model, speed, user, nice, sys, idle, irq]) => (
    { model, speed, times: { user, nice, sys, idle, irq } }));
}

function networkInterfaces() {
  const found = {};
  for (const [key, address, netmask, bits, mac, internal, scopeid] of ask('uv_interface_addresses', native.interfaces)) {
    const family = address.includes(':') ? 'IPv6' : 'IPv4';
    const one = { address, netmask, family, mac, internal, cidr: bits < 0 ? null : `${address}/${bits}` };
    if (family === 'IPv6') one.scopeid = scopeid;
    (found[key] ??= []).push(one);
  }
  return found;
}

function userInfo(options) {
  const [uid, gid, username, homedir, shell] = ask('uv_os_get_passwd', native.user);
  const isRaw = options?.encoding === 'buffer';
  const text = (value) => (isRaw ? require('buffer').Buffer.from(value) : value);
  return { __proto__: null, uid, gid, username: text(username), homedir: text(homedir), shell: text(shell) };
}

function homedir() {
  return process.env.HOME || ask('uv_os_homedir', native.user)[3];
}

function tmpdir() {
  const path = process.env.TMPDIR || process.env.TMP || process.env.TEMP || '/tmp';
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function getPriority(pid = 0) {
  validateInt32(pid, 'pid');
  return ask('uv_os_getpriority', native.priority, pid);
}

function setPriority(pid, priority) {
  if (priority === undefined) [pid, priority] = [0, pid];
  validateInt32(pid, 'pid');
  validateInt32(priority, 'priority', -20, 19);
  ask('uv_os_setpriority', native.setPriority, pid, priority);
}

const ARCHITECTURES = { x86_64: 'x64', aarch64: 'arm64', x86: 'ia32', powerpc64: 'ppc64', loongarch64: 'loong64' };

const os = {
  arch: () => process.arch ?? ARCHITECTURES[binding('process').machine],
  availableParallelism: () => native.parallelism(),
  cpus,
  endianness: () => (new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 'LE' : 'BE'),
  freemem: () => native.memory()[1],
  getPriority,
  homedir,
  hostname: () => native.names()[1],
  loadavg: () => native.loads(),
  networkInterfaces,
  platform: () => process.platform,
  release: () => name(2),
  setPriority,
  tmpdir,
  totalmem: () => native.memory()[0],
  type: () => name(0),
  userInfo,
  uptime: () => native.uptime(),
  version: () => name(3),
  machine: () => name(4),
};
for (const key of Object.keys(os)) {
  if (os[key].name !== key) Object.defineProperty(os[key], 'name', { value: key, configurable: true });
}
for (const key of ['arch', 'availableParallelism', 'endianness', 'freemem', 'homedir', 'hostname', 'platform', 'release', 'tmpdir', 'totalmem',
  'type', 'uptime', 'version', 'machine']) {
  os[key][Symbol.toPrimitive] = () => os[key]();
}
Object.defineProperties(os, {
  constants: { get: () => constants(), enumerable: true, configurable: false },
  EOL: { value: '\n', enumerable: true, writable: false, configurable: true },
  devNull: { value: '/dev/null', enumerable: true, writable: false, configurable: true },
});

let made;
function constants() {
  return made ??= require('internal/os_constants');
}

module.exports = os;
