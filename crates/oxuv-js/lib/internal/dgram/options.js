// The options of a socket of datagrams.
'use strict';

const { inspect } = require('util');
const { codes } = require('internal/codes');
const { errnoException } = require('internal/net/errors');
const { validateNumber, validateString } = require('internal/validators');
const { kState } = require('internal/dgram/state');

function check(errno, syscall) {
  if (errno) throw errnoException(errno, syscall);
}

// A size of 0 asks only.
function bufferSize(socket, size, receives) {
  if (size >>> 0 !== size) throw new codes.ERR_SOCKET_BAD_BUFFER_SIZE();
  const { handle } = socket[kState];
  const now = size > 2 ** 31 - 1 ? -22 : handle === null ? -9 : handle.bufferSize(size, receives);
  if (now < 0) throw bufferError(now, receives);
  return now;
}

function bufferError(errno, receives) {
  const [code, message] = binding('util').systemError(errno) ?? ['UNKNOWN', 'unknown error'];
  const syscall = `uv_${receives ? 'recv' : 'send'}_buffer_size`;
  const error = new Error(`Could not get or set buffer size: ${syscall} returned ${code} (${message})`);
  error.stack = error.stack.replace('Error:', 'SystemError [ERR_SOCKET_BUFFER_SIZE]:');
  const info = { errno, code, message, syscall };
  Object.defineProperty(error, 'name', { value: 'SystemError', writable: true, configurable: true });
  Object.assign(error, { code: 'ERR_SOCKET_BUFFER_SIZE', info });
  for (const key of ['errno', 'syscall']) {
    Object.defineProperty(error, key, {
      get: () => info[key], set(value) { info[key] = value; }, enumerable: true, configurable: true,
    });
  }
  // The getters are shown with their values.
  Object.defineProperty(error, inspect.custom, {
    value(depth, options) { return inspect(this, { ...options, getters: true, customInspect: false }); },
    writable: true, configurable: true,
  });
  return error;
}

function methods({ healthCheck }) {
  return {
    setBroadcast(on) {
      check(this[kState].handle.setBroadcast(!!on), 'setBroadcast');
    },
    setTTL(ttl) {
      validateNumber(ttl, 'ttl');
      check(this[kState].handle.setTTL(ttl), 'setTTL');
      return ttl;
    },
    setMulticastTTL(ttl) {
      validateNumber(ttl, 'ttl');
      check(this[kState].handle.setMulticastTTL(ttl), 'setMulticastTTL');
      return ttl;
    },
    setMulticastLoopback(on) {
      check(this[kState].handle.setMulticastLoopback(!!on), 'setMulticastLoopback');
      return on;
    },
    setMulticastInterface(interfaceAddress) {
      healthCheck(this);
      validateString(interfaceAddress, 'interfaceAddress');
      check(this[kState].handle.setMulticastInterface(interfaceAddress), 'setMulticastInterface');
    },
    addMembership(multicastAddress, interfaceAddress) {
      healthCheck(this);
      if (!multicastAddress) throw new codes.ERR_MISSING_ARGS('multicastAddress');
      check(this[kState].handle.addMembership(`${multicastAddress}`, interfaceAddress), 'addMembership');
    },
    dropMembership(multicastAddress, interfaceAddress) {
      healthCheck(this);
      if (!multicastAddress) throw new codes.ERR_MISSING_ARGS('multicastAddress');
      check(this[kState].handle.dropMembership(`${multicastAddress}`, interfaceAddress), 'dropMembership');
    },
    addSourceSpecificMembership(sourceAddress, groupAddress, interfaceAddress) {
      healthCheck(this);
      validateString(sourceAddress, 'sourceAddress');
      validateString(groupAddress, 'groupAddress');
      check(this[kState].handle.addSourceMembership(sourceAddress, groupAddress, interfaceAddress), 'addSourceSpecificMembership');
    },
    dropSourceSpecificMembership(sourceAddress, groupAddress, interfaceAddress) {
      healthCheck(this);
      validateString(sourceAddress, 'sourceAddress');
      validateString(groupAddress, 'groupAddress');
      check(this[kState].handle.dropSourceMembership(sourceAddress, groupAddress, interfaceAddress), 'dropSourceSpecificMembership');
    },
    setRecvBufferSize(size) { bufferSize(this, size, true); },
    setSendBufferSize(size) { bufferSize(this, size, false); },
    getRecvBufferSize() { return bufferSize(this, 0, true); },
    getSendBufferSize() { return bufferSize(this, 0, false); },
    getSendQueueSize() { return this[kState].handle.queueSize; },
    getSendQueueCount() { return this[kState].handle.queueCount; },
  };
}

function install(Socket, hooks) {
  for (const [name, value] of Object.entries(methods(hooks))) {
    Object.defineProperty(Socket.prototype, name, { value, writable: true, configurable: true });
  }
}

module.exports = { install };
