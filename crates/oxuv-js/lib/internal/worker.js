// Workers, as who starts them sees them.
'use strict';

const EventEmitter = require('events');
const native = binding('worker');
const { codes } = require('internal/codes');
const { MessageChannel, portOf } = require('internal/message_port');
const { pack, unpack, transferList } = require('internal/messages');
const state = require('internal/worker_state');
const { validateObject } = require('internal/validators');

const DEFAULT_LIMITS = { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 4096, codeRangeSizeMb: 0, stackSizeMb: 4 };

// What is run: `{ kind, text }`.
function sourceOf(filename, options) {
  if (options.eval) {
    if (typeof filename !== 'string') {
      throw new codes.ERR_INVALID_ARG_VALUE('options.eval', options.eval, "must be false when 'filename' is not a string");
    }
    return { kind: 'eval', text: filename };
  }
  if (filename instanceof URL || (filename !== null && typeof filename === 'object' && filename.href && filename.protocol)) {
    if (filename.protocol === 'data:') return { kind: 'url', text: `${filename.href}` };
    return { kind: 'file', text: require('internal/url').fileURLToPath(filename) };
  }
  if (typeof filename !== 'string') throw new codes.ERR_INVALID_ARG_TYPE('filename', ['string', 'URL'], filename);
  if (!/^(?:\/|\.\.?\/)/.test(filename)) throw new codes.ERR_WORKER_PATH(filename);
  return { kind: 'file', text: require('path').resolve(filename) };
}

function environmentOf(env) {
  if (env === undefined || env === null || env === state.SHARE_ENV) return { ...process.env };
  if (typeof env !== 'object') {
    throw new codes.ERR_INVALID_ARG_TYPE('options.env', ['object', 'undefined', 'null', 'worker_threads.SHARE_ENV'], env);
  }
  return Object.fromEntries(Object.entries(env).map(([key, value]) => [key, `${value}`]));
}

// The options of the command line that a worker can have of its own.
const KNOWN = /^--(?:no-warnings|trace-warnings|no-deprecation|throw-deprecation|trace-deprecation|expose-gc|unhandled-rejections=.*)$/;

function flagsOf(execArgv) {
  if (execArgv === undefined || execArgv === null) {
    return { execArgs: [...process.execArgv], flags: binding('process').flags(), requires: binding('engine').startOptions().requires };
  }
  if (!Array.isArray(execArgv)) throw new codes.ERR_INVALID_ARG_TYPE('options.execArgv', 'Array', execArgv);
  const given = { execArgs: execArgv.map(String), flags: [], requires: [] };
  const wrong = [];
  const args = given.execArgs.values();
  for (const arg of args) {
    const isRequire = arg === '-r' || arg === '--require';
    const required = isRequire ? args.next().value : /^--require=(.+)$/.exec(arg)?.[1];
    if (required !== undefined) given.requires.push(required);
    else if (!isRequire && KNOWN.test(arg)) given.flags.push(arg);
    else wrong.push(arg);
  }
  if (wrong.length > 0) throw new codes.ERR_WORKER_INVALID_EXEC_ARGV(wrong);
  return given;
}

function limitsOf(given) {
  if (given === undefined || given === null) return { ...DEFAULT_LIMITS };
  const limits = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(limits)) if (typeof given[name] === 'number' && given[name] > 0) limits[name] = given[name];
  return limits;
}

class Worker extends EventEmitter {
  #isOnline = false;
  #thread;
  #channel;
  #port;
  #hasFailed = false;
  #limits;

  constructor(filename, options = {}) {
    super();
    validateObject(options, 'options');
    if (options.execArgv && !Array.isArray(options.execArgv)) {
      throw new codes.ERR_INVALID_ARG_TYPE('options.execArgv', 'Array', options.execArgv);
    }
    let argv = [];
    if (options.argv !== undefined) {
      if (!Array.isArray(options.argv)) throw new codes.ERR_INVALID_ARG_TYPE('options.argv', 'Array', options.argv);
      argv = options.argv.map(String);
    }
    const source = sourceOf(filename, options);
    const env = environmentOf(options.env);
    const { execArgs, flags, requires } = flagsOf(options.execArgv);
    this.#limits = limitsOf(options.resourceLimits);
    this.#makeStreams(options);
    this.#begin({ ...source, env, argv, hasStdin: Boolean(options.stdin) }, options);
    const isLimited = typeof options.resourceLimits?.maxOldGenerationSizeMb === 'number';
    const [ours, theirs] = this.#ends;
    this.#channel = ours;
    this.#thread = native.start({
      execArgs, flags, requires, stackSizeMb: this.#limits.stackSizeMb,
      memoryMb: isLimited ? this.#limits.maxOldGenerationSizeMb : undefined,
    }, theirs, (code, problem) => this.#exited(code, problem));
    ours.listen((...parts) => this.#told(read(parts)), () => {});
    ours.start();
    process.nextTick(() => process.emit('worker', this));
  }

  #ends = native.channel();

  // What the worker finds first. It is sent before the thread begins.
  #begin(given, options) {
    const { port1, port2 } = new MessageChannel();
    const transfer = options.transferList === undefined ? [] : transferList(options.transferList);
    const packed = pack({
      ...given, publicPort: port2, workerData: options.workerData, environmentData: state.environmentData,
      resourceLimits: this.#limits,
    }, [port2, ...transfer]);
    require('internal/message_port').send(this.#ends[0], packed);
    this.#port = port1;
    port1.on('message', (message) => {
      // What the worker's start has said was said before.
      this.#readChannel();
      this.emit('message', message);
    });
    port1.on('messageerror', (error) => this.emit('messageerror', error));
    // The thread keeps the loop, not the port.
    port1.unref();
  }

  #makeStreams({ stdin, stdout, stderr }) {
    const { Readable, Writable } = require('stream');
    this.stdin = !stdin ? null : new Writable({
      write: (chunk, encoding, callback) => {
        const copy = new Uint8Array(chunk);
        this.#send({ type: 'input', chunk: copy }, [copy.buffer]);
        callback();
      },
      final: (callback) => {
        this.#send({ type: 'input', chunk: null });
        callback();
      },
    });
    for (const [name, isKept] of [['stdout', stdout], ['stderr', stderr]]) {
      const stream = this[name] = new Readable({ read() {} });
      if (isKept) continue;
      stream.on('data', (chunk) => process[name].write(chunk));
    }
  }

  #readChannel() {
    for (let parts; (parts = this.#channel?.receive());) this.#told(read(parts));
  }

  #send(message, transfer = []) {
    const { bytes, buffers } = pack(message, transfer);
    this.#channel?.post(bytes, buffers, []);
  }

  #told(message) {
    switch (message.type) {
      case 'online':
        this.#isOnline = true;
        this.emit('online');
        break;
      case 'output':
        this[message.name].push(typeof message.chunk === 'string' ? Buffer.from(message.chunk, message.encoding) : asBuffer(message.chunk));
        break;
      case 'outOfMemory':
        this.#fail(new codes.ERR_WORKER_OUT_OF_MEMORY('JS heap out of memory'));
        break;
      case 'error':
        this.#fail(require('internal/worker_errors').restore(message.error));
        break;
      default:
    }
  }

  #fail(error) {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.emit('error', error);
  }

  // The thread is over: what it has sent before comes first.
  #exited(code, problem) {
    this.#thread = undefined;
    try {
      this.#readChannel();
      if (problem === 'memory') this.#fail(new codes.ERR_WORKER_OUT_OF_MEMORY('JS heap out of memory'));
      if (problem === 'start') this.#fail(new codes.ERR_WORKER_INIT_FAILED('its thread has failed'));
    } finally {
      this.#channel.close();
      this.#channel = undefined;
      this.#drainPort();
      if (!this.stdout.destroyed) this.stdout.push(null);
      if (!this.stderr.destroyed) this.stderr.push(null);
      this.stdin?.destroy();
      this.emit('exit', code);
      this.removeAllListeners();
    }
  }

  #drainPort() {
    const { receiveMessageOnPort } = require('internal/message_port');
    for (let got; (got = receiveMessageOnPort(this.#port));) this.emit('message', got.message);
    this.#port.close();
  }

  postMessage(...args) {
    if (this.#thread) this.#port.postMessage(...args);
  }

  terminate(callback) {
    this.ref();
    if (typeof callback === 'function') {
      process.emitWarning('Passing a callback to worker.terminate() is deprecated. It returns a Promise instead.',
        'DeprecationWarning', 'DEP0132');
      if (this.#thread) this.once('exit', (code) => callback(null, code));
      else process.nextTick(callback, null);
    }
    if (!this.#thread) return Promise.resolve();
    this.#thread.terminate();
    return new Promise((resolve) => { this.once('exit', resolve); });
  }

  get performance() {
    return { eventLoopUtilization: (one, other) => this.#utilization(one, other) };
  }

  #utilization(one, other) {
    const { utilization } = require('internal/performance_loop');
    if (other) return utilization(one.idle - other.idle, one.active - other.active);
    const [start, nanoseconds] = this.#thread?.loopTimes() ?? [-1, 0];
    // As in Node, before its loop begins there is nothing to tell.
    if (start < 0 || !this.#isOnline) return { idle: 0, active: 0, utilization: 0 };
    const idle = nanoseconds / 1e6;
    const active = (binding('process').nanoseconds() - start) / 1e6 - idle;
    return one ? utilization(idle - one.idle, active - one.active) : utilization(idle, active);
  }

  ref() { this.#thread?.ref(); }
  unref() { this.#thread?.unref(); }
  get threadId() { return this.#thread?.id ?? -1; }
  get resourceLimits() { return this.#thread ? { ...this.#limits } : {}; }
  getHeapSnapshot() { return Promise.reject(new codes.ERR_WORKER_NOT_RUNNING()); }
}

function read([bytes, buffers, ports, files]) {
  return unpack(bytes, buffers, ports.map(portOf), files);
}

// Its memory came with the message.
const asBuffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

module.exports = { Worker };
