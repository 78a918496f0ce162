// The start of a worker: everything of it comes by its channel.
'use strict';

const process = require('process');
const native = binding('worker');
const { unpack, pack } = require('internal/messages');
const { portOf } = require('internal/message_port');
const { codes } = require('internal/codes');
const state = require('internal/worker_state');

const channel = native.ownPort();

function send(message, transfer = []) {
  const { bytes, buffers } = pack(message, transfer);
  channel.post(bytes, buffers, []);
}

function read([bytes, buffers, ports, files]) {
  return unpack(bytes, buffers, ports.map(portOf), files);
}

function start() {
  const given = read(channel.receive());
  fillState(given);
  fillProcess(given);
  channel.listen((...parts) => received(read(parts)), () => {});
  channel.start();
  send({ type: 'online' });
  run(given);
}

function fillState({ publicPort, workerData, environmentData, resourceLimits }) {
  state.parentPort = publicPort;
  state.workerData = workerData;
  state.environmentData = environmentData;
  state.resourceLimits = resourceLimits;
}

function fillProcess({ env, argv, kind, text, hasStdin }) {
  const own = process._own;
  own.isWorker = true;
  const define = (name, value) => Object.defineProperty(process, name, { value, writable: true, enumerable: true, configurable: true });
  define('env', require('internal/process').makeEnvironment(env));
  process.argv = [process.execPath, kind === 'file' ? text : '[worker eval]', ...argv];
  for (const name of ['abort', 'chdir', 'disconnect', 'initgroups', 'send', 'setegid', 'seteuid', 'setgid', 'setgroups', 'setuid']) {
    const refuse = () => { throw new codes.ERR_WORKER_UNSUPPORTED_OPERATION(`process.${name}()`); };
    refuse.disabled = true;
    define(name, refuse);
  }
  for (const name of ['channel', 'connected']) {
    const get = () => { throw new codes.ERR_WORKER_UNSUPPORTED_OPERATION(`process.${name}`); };
    Object.defineProperty(process, name, { get, enumerable: false, configurable: true });
  }
  // The name and the port of the process are not a thread's to set.
  for (const name of ['title', 'debugPort']) {
    const value = process[name];
    Object.defineProperty(process, name, { get: () => value, set() {}, enumerable: true, configurable: true });
  }
  const { umask } = process;
  define('umask', (mask) => {
    if (mask !== undefined) throw new codes.ERR_WORKER_UNSUPPORTED_OPERATION('Setting process.umask()');
    return umask();
  });
  fillStreams(hasStdin);
  own.tellParent = tellParent;
}

let input;

function fillStreams(hasStdin) {
  const lazy = (name, make) => {
    let stream;
    Object.defineProperty(process, name, { get: () => (stream ??= make()), enumerable: true, configurable: true });
  };
  const early = [];
  input = { push(chunk) { early.push(chunk); } };
  lazy('stdin', () => {
    const { Readable } = require('stream');
    let isOver = false;
    // Who waits for input keeps the worker.
    const stream = new Readable({ read() { if (hasStdin && !isOver) channel.ref(); } });
    input = { push(chunk) {
      isOver ||= chunk === null;
      channel.unref();
      stream.push(chunk);
    } };
    if (!hasStdin) stream.push(null);
    for (const chunk of early.splice(0)) input.push(chunk);
    return stream;
  });
  for (const name of ['stdout', 'stderr']) {
    lazy(name, () => output(name));
    process._own[name] = () => process[name];
  }
}

function output(name) {
  const { Writable } = require('stream');
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, encoding, callback) {
      if (typeof chunk === 'string') {
        send({ type: 'output', name, chunk, encoding });
      } else {
        const copy = new Uint8Array(chunk);
        send({ type: 'output', name, chunk: copy }, [copy.buffer]);
      }
      callback();
    },
  });
  stream._isStdio = true;
  return stream;
}

function received(message) {
  if (message.type === 'input') input.push(message.chunk === null ? null : asBuffer(message.chunk));
}

// An exception that nobody caught ends the worker.
function tellParent(error) {
  const isShort = error?.constructor?.name === 'InternalError' && error.message === 'out of memory';
  if (isShort) send({ type: 'outOfMemory' });
  else send({ type: 'error', error: require('internal/worker_errors').describe(error) });
}

function run({ kind, text }) {
  const Module = require('modules');
  const options = binding('engine').startOptions();
  if (options.requires.length > 0) Module._preloadModules(options.requires);
  if (kind === 'eval') require('internal/start').startText(text, '[worker eval]', options);
  else if (kind === 'url') require('esm').run(text);
  else require('internal/start').startFile(text, options);
}

// Its memory came with the message.
const asBuffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

module.exports = { start };
