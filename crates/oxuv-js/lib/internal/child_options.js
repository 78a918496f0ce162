// What a child is to be: options checked, and made into what the other side takes.
'use strict';

const { codes } = require('internal/codes');
const validators = require('internal/validators');
const { signals } = require('os').constants;

const { validateString, validateObject, validateBoolean } = validators;

// The number of a signal that is given by name or number.
function signalNumber(signal) {
  if (typeof signal === 'number' && Object.values(signals).includes(signal)) return signal;
  if (typeof signal === 'string') {
    const number = signals[signal.toUpperCase()];
    if (number !== undefined) return number;
  }
  throw new codes.ERR_UNKNOWN_SIGNAL(signal);
}

const signalName = (number) => Object.keys(signals).find((name) => signals[name] === number) ?? null;

function killSignal(signal) {
  if (typeof signal === 'string' || typeof signal === 'number') return signalNumber(signal);
  if (signal !== undefined && signal !== null) throw new codes.ERR_INVALID_ARG_TYPE('options.killSignal', ['string', 'number'], signal);
  return undefined;
}

function validateTimeout(timeout) {
  if (timeout === undefined || timeout === null) return;
  if (!(Number.isInteger(timeout) && timeout >= 0)) throw new codes.ERR_OUT_OF_RANGE('timeout', 'an unsigned integer', timeout);
}

function validateMaxBuffer(size) {
  if (size === undefined || size === null) return;
  if (!(typeof size === 'number' && size >= 0)) throw new codes.ERR_OUT_OF_RANGE('options.maxBuffer', 'a positive number', size);
}

// The system's texts end at a zero.
function refuseZero(text, name) {
  if (typeof text === 'string' && text.includes('\0')) {
    throw new codes.ERR_INVALID_ARG_VALUE(name, text, 'must be a string without null bytes');
  }
}

// A path that is given as text, bytes or URL.
function pathText(path, name) {
  if (path instanceof URL) path = require('internal/url').fileURLToPath(path);
  if (typeof path === 'string') {
    refuseZero(path, name);
    return path;
  }
  if (path instanceof Uint8Array) return Buffer.from(path).toString();
  throw new codes.ERR_INVALID_ARG_TYPE(name, ['string', 'Buffer', 'URL'], path);
}

function validateId(id, name) {
  if (id !== (id | 0)) throw new codes.ERR_INVALID_ARG_TYPE(name, 'int32', id);
}

const isGiven = (value) => value !== undefined && value !== null;

function validate(options) {
  for (const [name, check] of [['detached', validateBoolean], ['uid', validateId], ['gid', validateId], ['argv0', validateString],
    ['windowsHide', validateBoolean], ['windowsVerbatimArguments', validateBoolean]]) {
    if (isGiven(options[name])) check(options[name], `options.${name}`);
  }
  if (isGiven(options.shell) && typeof options.shell !== 'boolean' && typeof options.shell !== 'string') {
    throw new codes.ERR_INVALID_ARG_TYPE('options.shell', ['boolean', 'string'], options.shell);
  }
  refuseZero(options.argv0, 'options.argv0');
  refuseZero(options.shell, 'options.shell');
}

// The arguments of `spawn` and the like as one object.
function normalize(file, args, options) {
  validateString(file, 'file');
  if (file.length === 0) throw new codes.ERR_INVALID_ARG_VALUE('file', file, 'cannot be empty');
  refuseZero(file, 'file');
  if (Array.isArray(args)) {
    args = [...args];
  } else if (!isGiven(args)) {
    args = [];
  } else if (typeof args !== 'object') {
    throw new codes.ERR_INVALID_ARG_TYPE('args', 'object', args);
  } else {
    options = args;
    args = [];
  }
  args.forEach((arg, at) => refuseZero(arg, `args[${at}]`));
  if (options === undefined) options = {};
  else validateObject(options, 'options');
  const cwd = isGiven(options.cwd) ? pathText(options.cwd, 'options.cwd') : options.cwd;
  validate(options);
  if (options.shell) {
    args = ['-c', [file, ...args].join(' ')];
    file = typeof options.shell === 'string' ? options.shell : '/bin/sh';
  }
  args.unshift(typeof options.argv0 === 'string' ? options.argv0 : file);
  return { ...options, args, cwd, detached: Boolean(options.detached), envPairs: pairs(options.env || process.env), file,
    windowsHide: Boolean(options.windowsHide), windowsVerbatimArguments: Boolean(options.windowsVerbatimArguments) };
}

// What is inherited counts, too.
function pairs(env) {
  const found = [];
  for (const name in env) {
    if (env[name] === undefined) continue;
    refuseZero(name, `options.env['${name}']`);
    refuseZero(String(env[name]), `options.env['${name}']`);
    found.push(`${name}=${env[name]}`);
  }
  return found;
}

function stdioList(stdio, channel) {
  const list = stdio === 'ignore' || stdio === 'overlapped' || stdio === 'pipe' ? [stdio, stdio, stdio]
    : stdio === 'inherit' ? [0, 1, 2] : undefined;
  if (list === undefined) throw new codes.ERR_INVALID_ARG_VALUE('stdio', stdio);
  if (channel) list.push(channel);
  return list;
}

// What each of the child's descriptors is to be, and which of them is the channel.
function getValidStdio(stdio, isSync) {
  if (typeof stdio === 'string') stdio = stdioList(stdio);
  else if (!Array.isArray(stdio)) throw new codes.ERR_INVALID_ARG_VALUE('stdio', stdio);
  while (stdio.length < 3) stdio.push(undefined);
  let ipc, ipcFd;
  const slots = stdio.map((each, at) => {
    const slot = slotOf(each, at, isSync);
    if (slot.ipc) {
      if (isSync) throw new codes.ERR_IPC_SYNC_FORK();
      if (ipc !== undefined) throw new codes.ERR_IPC_ONE_PIPE();
      ipc = slot;
      ipcFd = at;
    }
    return slot;
  });
  return { stdio: slots, ipc, ipcFd };
}

function slotOf(each, at, isSync) {
  each ??= at < 3 ? 'pipe' : 'ignore';
  if (each === 'ignore') return { type: 'ignore' };
  if (each === 'pipe' || each === 'overlapped' || (typeof each === 'number' && each < 0)) {
    return { type: each === 'overlapped' ? 'overlapped' : 'pipe', readable: at === 0, writable: at !== 0 };
  }
  if (each === 'ipc') return { type: 'pipe', ipc: true };
  if (each === 'inherit') return { type: 'inherit', fd: at };
  if (typeof each === 'number' || typeof each.fd === 'number') return { type: 'fd', fd: typeof each === 'number' ? each : each.fd };
  const handle = each.handle ?? each._handle;
  if (typeof handle === 'object' && handle !== null) return { type: 'wrap', handle, stream: each };
  if (ArrayBuffer.isView(each) || typeof each === 'string') {
    if (!isSync) throw new codes.ERR_INVALID_SYNC_FORK_INPUT(require('util').inspect(each));
  }
  throw new codes.ERR_INVALID_ARG_VALUE('stdio', each);
}

// As the other side takes it: whatever was given as an argument is text there.
function forNative({ args, cwd, ...rest }, stdio) {
  return { ...rest, stdio, cwd: cwd || undefined, args: args?.map((arg) => `${arg}`) };
}

module.exports = {
  forNative,
  normalize, getValidStdio, stdioList, signalNumber, signalName, killSignal, pathText, isGiven,
  validateTimeout, validateMaxBuffer, refuseZero,
};
