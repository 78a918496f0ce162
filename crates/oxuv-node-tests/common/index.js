// What Node's tests require as `../common`: counting of calls, expectations, and what the machine is.
'use strict';

const assert = require('assert');
const { inspect } = require('util');

// Some tests put something else into the global.
const { process } = globalThis;
const counted = [];
let warningsExpected;

// The place from which a helper was called.
function place() {
  return new Error().stack.split('\n').slice(3).join('\n');
}

function count(fn, exact, least) {
  if (typeof fn === 'number') { exact = least === undefined ? fn : undefined; least = least === undefined ? undefined : fn; fn = () => {}; }
  if (fn === undefined) fn = () => {};
  const entry = { exact, least, calls: 0, name: fn.name || '<anonymous>', place: place() };
  if (counted.length === 0) process.on('exit', checkCounts);
  counted.push(entry);
  const wrapper = function(...args) {
    entry.calls++;
    return fn.apply(this, args);
  };
  Object.defineProperties(wrapper, {
    name: { value: fn.name, writable: false, enumerable: false, configurable: true },
    length: { value: fn.length, writable: false, enumerable: false, configurable: true },
  });
  return wrapper;
}

function checkCounts(code) {
  if (code !== 0) return;
  const wrong = counted.filter(({ exact, least, calls }) => (exact !== undefined ? calls !== exact : calls < least));
  for (const { exact, least, calls, name, place } of wrong) {
    console.log(`Error: ${name} was to be called ${exact ?? `at least ${least}`} times, and was called ${calls} times\n${place}`);
  }
  if (wrong.length > 0) process.exit(1);
}

const mustCall = (fn, exact = 1) => (typeof fn === 'number' ? count(undefined, fn) : count(fn, exact));
const mustCallAtLeast = (fn, least = 1) => (typeof fn === 'number' ? count(undefined, undefined, fn) : count(fn, undefined, least));
const mustSucceed = (fn, exact = 1) => mustCall(function(error, ...args) {
  assert.ifError(error);
  if (typeof fn === 'function') return fn.apply(this, args);
}, exact);

function mustNotCall(message) {
  const from = place();
  return function mustNotCall(...args) {
    const what = args.length > 0 ? `\ncalled with: ${args.map((arg) => inspect(arg)).join(', ')}` : '';
    assert.fail(`${message || 'function should not have been called'} at ${from}${what}`);
  };
}

function expectsError(shape, exact) {
  return mustCall((...args) => {
    if (args.length !== 1) assert.fail(`Expected one argument, got ${inspect(args)}`);
    const error = args[0];
    assert.strictEqual(Object.prototype.propertyIsEnumerable.call(error, 'message'), false);
    assert.throws(() => { throw error; }, shape);
    return true;
  }, exact);
}

// Warnings are expected by name: a message, a list of [message, code], or an object of them.
function expectWarning(nameOrMap, expected, code) {
  if (warningsExpected === undefined) {
    warningsExpected = {};
    process.on('warning', (warning) => {
      const check = warningsExpected[warning.name];
      if (!check) throw new TypeError(`"${warning.name}" was triggered without being expected.\n${inspect(warning)}`);
      check(warning);
    });
  }
  const map = typeof nameOrMap === 'string' ? { [nameOrMap]: { expected, code } } : nameOrMap;
  for (const [name, value] of Object.entries(map)) {
    const { expected: wanted, code: wantedCode } = value?.expected !== undefined ? value : { expected: value };
    warningsExpected[name] = expectedWarning(name, wanted, wantedCode);
  }
}

function expectedWarning(name, wanted, code) {
  const list = typeof wanted === 'string' ? [[wanted, code]] :
    Array.isArray(wanted) ? (Array.isArray(wanted[0]) ? wanted : typeof wanted[1] === 'string' && wanted.length === 2 && /^DEP/.test(wanted[1]) ? [wanted] : wanted.map((each) => [each, code])) :
      Object.entries(wanted).map(([dep, message]) => [message, dep]);
  const left = [...list];
  return mustCall((warning) => {
    const next = left.shift();
    if (!next) assert.fail(`Unexpected extra warning received: ${warning}`);
    const [message, wantedCode] = next;
    assert.strictEqual(warning.name, name);
    if (typeof message === 'string') assert.strictEqual(warning.message, message);
    else assert.match(warning.message, message);
    if (wantedCode !== undefined) assert.strictEqual(warning.code, wantedCode);
  }, list.length);
}

function skip(message) {
  console.log(`1..0 # Skipped: ${message}`);
  process.exit(0);
}

// How Node words the end of an ERR_INVALID_ARG_TYPE message.
function invalidArgTypeHelper(input) {
  if (input == null) return ` Received ${input}`;
  if (typeof input === 'function' && input.name) return ` Received function ${input.name}`;
  if (typeof input === 'object') {
    return input.constructor?.name ? ` Received an instance of ${input.constructor.name}` : ` Received ${inspect(input, { depth: -1 })}`;
  }
  let text = inspect(input, { colors: false });
  if (text.length > 28) text = `${text.slice(0, 25)}...`;
  return ` Received type ${typeof input} (${text})`;
}

// Calls with a descriptor that is none.
function runWithInvalidFD(fn) {
  let fd = 1 << 30;
  try {
    while (require('fs').fstatSync(fd--) && fd > 0);
  } catch {
    return fn(fd);
  }
  skip('Could not generate an invalid fd');
}

// A copy of an argument that complains when it is changed.
function mustNotMutateObjectDeep(original) {
  const frozen = new WeakMap();
  const wrap = (target) => {
    if (target === null || typeof target !== 'object' || ArrayBuffer.isView(target) || target instanceof ArrayBuffer) return target;
    if (frozen.has(target)) return frozen.get(target);
    const refuse = (what) => () => assert.fail(`Expected no side effects, got ${what}`);
    const proxy = new Proxy(target, {
      get: (object, key, receiver) => {
        const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
        if (descriptor && !descriptor.configurable && !descriptor.writable && 'value' in descriptor) return descriptor.value;
        return wrap(Reflect.get(object, key, receiver));
      },
      set: refuse('set'), defineProperty: refuse('defineProperty'), deleteProperty: refuse('deleteProperty'),
      setPrototypeOf: refuse('setPrototypeOf'), preventExtensions: refuse('preventExtensions'),
    });
    frozen.set(target, proxy);
    return proxy;
  };
  return wrap(original);
}

function getArrayBufferViews(buffer) {
  const { buffer: memory, byteOffset, byteLength } = buffer;
  const views = [];
  for (const View of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array, Float32Array, Float64Array, DataView]) {
    const { BYTES_PER_ELEMENT = 1 } = View;
    if (byteLength % BYTES_PER_ELEMENT === 0) views.push(new View(memory, byteOffset, byteLength / BYTES_PER_ELEMENT));
  }
  return views;
}

module.exports = {
  mustCall, mustCallAtLeast, mustSucceed, mustNotCall, expectsError, expectWarning, skip, invalidArgTypeHelper,
  runWithInvalidFD, mustNotMutateObjectDeep, getArrayBufferViews,
  getBufferSources: (buffer) => [...getArrayBufferViews(buffer), new Uint8Array(buffer).buffer],
  printSkipMessage: (message) => console.log(`1..0 # Skipped: ${message}`),
  platformTimeout: (ms) => (typeof ms === 'bigint' ? ms : ms * 1),
  allowGlobals() {},
  disableCrashOnUnhandledRejection: () => process.on('unhandledRejection', () => {}),
  nodeProcessAborted: (code, signal) => code === 134 || signal === 'SIGABRT' || signal === 'SIGTRAP' || signal === 'SIGILL',
  canCreateSymLink: () => true,
  skipIfInspectorDisabled: () => skip('no inspector'),
  skipIfWorker() {},
  skipIfDumbTerminal: () => { if (process.env.TERM === 'dumb') skip('a terminal without cursor'); },
  skipIf32Bits() {},
  skipIfEslintMissing: () => skip('no eslint'),
  childShouldThrowAndAbort: () => skip('no abort on uncaught exceptions'),
  isMainThread: true,
  isLinux: true, isWindows: false, isOSX: false, isAIX: false, isIBMi: false, isSunOS: false, isFreeBSD: false, isOpenBSD: false,
  isLinuxPPCBE: false, isAlpine: false, isDumbTerminal: process.env.TERM === 'dumb', isPi: false,
  hasCrypto: false, hasIntl: false, hasFipsCrypto: false, hasOpenSSL3: false, hasQuic: false, enoughTestMem: true, enoughTestCpu: true,
  hasIPv6: true, hasMultiLocalhost: () => true, localhostIPv4: '127.0.0.1', localhostIPv6: '::1',
  PORT: +process.env.NODE_COMMON_PORT || 12346, PIPE: `/tmp/oxuv-node-tests-${process.pid}.sock`, bits: ['arm64', 'x64'].includes(process.arch) ? 64 : 32,
  opensslCli: false, rootDir: '/', buildType: 'Release', inFreeBSDJail: false,
  pwdCommand: ['pwd', []],
};
