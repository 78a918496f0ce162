// The forms in which a server or a socket is told where to listen or to connect.
'use strict';

const { codes: { ERR_INVALID_FD_TYPE } } = require('internal/codes');
const { validateInt32 } = require('internal/validators');
const net = binding('net');

// Marks arguments that went through `normalizeArgs` already.
const kNormalized = Symbol('normalizedArgs');

const toNumber = (value) => ((value = Number(value)) >= 0 ? value : false);
const isPipeName = (value) => typeof value === 'string' && toNumber(value) === false;

// ([port][, host]...[, callback]), (path...[, callback]) or (options[, callback]): options and callback.
function normalizeArgs(args) {
  let options = {};
  const [first] = args;
  if (args.length > 0) {
    if (typeof first === 'object' && first !== null) {
      options = first;
    } else if (isPipeName(first)) {
      options.path = first;
    } else {
      options.port = first;
      if (args.length > 1 && typeof args[1] === 'string') options.host = args[1];
    }
  }
  const last = args.at(-1);
  const normalized = [options, typeof last === 'function' ? last : null];
  normalized[kNormalized] = true;
  return normalized;
}

// A handle for a descriptor: what it is, it says itself.
function handleFor(fd) {
  validateInt32(fd, 'fd', 0);
  const kind = net.kindOf(fd);
  if (kind === 'PIPE') return net.pipe();
  if (kind === 'TCP') return net.tcp();
  throw new ERR_INVALID_FD_TYPE(kind);
}

module.exports = { kNormalized, toNumber, isPipeName, normalizeArgs, handleFor };
