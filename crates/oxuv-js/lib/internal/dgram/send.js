// Sending datagrams: the forms in which it is asked for, and what becomes of it.
'use strict';

const process = require('process');
const { Buffer } = require('buffer');
const { codes } = require('internal/codes');
const { exceptionWithHostPort } = require('internal/net/errors');
const { validateNumber, validatePort, validateString } = require('internal/validators');
const { kState, UNBOUND, BOUND, CONNECTED } = require('internal/dgram/state');

const KINDS = ['Buffer', 'TypedArray', 'DataView', 'string'];

function bytesOf(data) {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data) ? data : undefined;
}

function slice(data, offset, length) {
  const bytes = bytesOf(data);
  if (bytes === undefined) throw new codes.ERR_INVALID_ARG_TYPE('buffer', KINDS, data);
  offset >>>= 0;
  length >>>= 0;
  if (offset > bytes.byteLength) throw new codes.ERR_BUFFER_OUT_OF_BOUNDS('offset');
  if (offset + length > bytes.byteLength) throw new codes.ERR_BUFFER_OUT_OF_BOUNDS('length');
  return Buffer.from(bytes.buffer, bytes.byteOffset + offset, length);
}

// The parts of a datagram.
function partsOf(data) {
  if (!Array.isArray(data)) {
    const bytes = bytesOf(data);
    if (bytes === undefined) throw new codes.ERR_INVALID_ARG_TYPE('buffer', KINDS, data);
    return [bytes];
  }
  const parts = data.map(bytesOf);
  if (parts.includes(undefined)) throw new codes.ERR_INVALID_ARG_TYPE('buffer list arguments', KINDS, data);
  return parts.length > 0 ? parts : [Buffer.alloc(0)];
}

// send(data, port, address, done), send(data, offset, length, port, address, done); connected: without port and address.
function argumentsOf(isConnected, data, offset, length, port, address, done) {
  if (isConnected) {
    if (typeof length === 'number') {
      data = slice(data, offset, length);
      if (typeof port === 'function') [done, port] = [port, null];
    } else {
      done = offset;
    }
    if (port || address) throw new codes.ERR_SOCKET_DGRAM_IS_CONNECTED();
  } else if (address || (port && typeof port !== 'function')) {
    data = slice(data, offset, length);
  } else {
    [done, port, address] = [port, offset, length];
  }
  return { data, port, address, done };
}

function send(socket, hooks, args) {
  const state = socket[kState];
  const isConnected = state.connectState === CONNECTED;
  let { data, port, address, done } = argumentsOf(isConnected, ...args);
  const parts = partsOf(data);
  if (!isConnected) port = validatePort(port, 'Port', false);
  if (typeof done !== 'function') done = undefined;
  if (typeof address === 'function') {
    done = address;
    address = undefined;
  } else if (address !== undefined && address !== null) {
    validateString(address, 'address');
  }
  hooks.healthCheck(socket);
  if (state.bindState === UNBOUND) socket.bind({ port: 0, exclusive: true }, null);
  if (state.bindState !== BOUND) hooks.enqueue(socket, () => socket.send(parts, port, address, done));
  else if (isConnected) process.nextTick(doSend, null, socket, undefined, parts, address, port, done);
  else state.handle.lookup(address, (error, ip) => process.nextTick(doSend, error, socket, ip, parts, address, port, done));
}

function doSend(error, socket, ip, parts, address, port, done) {
  const { handle } = socket[kState];
  if (error) {
    if (done) process.nextTick(done, error);
    else process.nextTick(() => socket.emit('error', error));
    return;
  }
  if (handle === null) return;
  const sent = handle.send(parts, ip, port || 0, done && ((status, count) => {
    if (status) done(exceptionWithHostPort(status, 'send', address, port), count);
    else done(null, count);
  }));
  // At once: one more than there were bytes.
  if (sent > 0) {
    if (done) process.nextTick(done, null, sent - 1);
  } else if (sent < 0 && done) {
    // Whoever asks for no answer does not hear of it, as in Node.
    process.nextTick(done, exceptionWithHostPort(sent, 'send', address, port));
  }
}

function install(Socket, hooks) {
  const methods = {
    send(data, offset, length, port, address, done) {
      send(this, hooks, [data, offset, length, port, address, done]);
    },
    sendto(data, offset, length, port, address, done) {
      validateNumber(offset, 'offset');
      validateNumber(length, 'length');
      validateNumber(port, 'port');
      validateString(address, 'address');
      this.send(data, offset, length, port, address, done);
    },
  };
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(Socket.prototype, name, { value, writable: true, configurable: true });
  }
}

module.exports = { install };
