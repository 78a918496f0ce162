// Errors of system calls as those of sockets: the call comes first, and the address behind it.
'use strict';

const { systemError } = binding('util');

// `above` is the function whose callers the trace begins with.
function make(errno, syscall, rest, above) {
  const [code] = systemError(errno) ?? ['UNKNOWN'];
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new Error(`${syscall} ${code}${rest}`);
  Error.stackTraceLimit = limit;
  Object.assign(error, above === listenException ? { code, errno, syscall } : { errno, code, syscall });
  if (limit > 0) Error.captureStackTrace(error, above);
  return error;
}

function errnoException(errno, syscall) {
  return make(errno, syscall, '', errnoException);
}

function place(address, port) {
  if (port && port > 0) return ` ${address}:${port}`;
  return address ? ` ${address}` : '';
}

function withPlace(error, address, port) {
  error.address = address;
  if (port) error.port = port;
  return error;
}

function exceptionWithHostPort(errno, syscall, address, port, local) {
  const rest = `${place(address, port)}${local ? ` - Local (${local})` : ''}`;
  return withPlace(make(errno, syscall, rest, exceptionWithHostPort), address, port);
}

// With what the error means in words, too.
function listenException(errno, syscall, address, port) {
  const [, meaning = 'unknown error'] = systemError(errno) ?? [];
  const error = make(errno, syscall, `: ${meaning}${place(address, port)}`, listenException);
  return withPlace(error, address, port);
}

module.exports = { errnoException, exceptionWithHostPort, listenException };
