// How a socket connects: look-up of the name, local address, and what comes of it.
'use strict';

const {
  codes: { ERR_INVALID_ADDRESS_FAMILY, ERR_INVALID_ARG_TYPE, ERR_INVALID_IP_ADDRESS },
} = require('internal/codes');
const { validateFunction, validateNumber, validatePort } = require('internal/validators');
const { exceptionWithHostPort } = require('internal/net/errors');
const observed = require('internal/observed');
const { isIP } = binding('net');

// Only kinds of addresses that this machine has.
const ADDRCONFIG = 32;

function lookupAndConnect(socket, options) {
  const { localAddress, localPort } = options;
  const host = options.host || 'localhost';
  let { port } = options;
  if (localAddress && !isIP(`${localAddress}`)) throw new ERR_INVALID_IP_ADDRESS(localAddress);
  if (localPort) validateNumber(localPort, 'options.localPort');
  if (port !== undefined) {
    if (typeof port !== 'number' && typeof port !== 'string') {
      throw new ERR_INVALID_ARG_TYPE('options.port', ['number', 'string'], port);
    }
    validatePort(port);
  }
  port |= 0;
  const family = isIP(`${host}`);
  if (family) {
    process.nextTick(() => {
      if (socket.connecting) connectTo(socket, { address: host, port, family, localAddress, localPort });
    });
    return;
  }
  if (options.lookup !== undefined) validateFunction(options.lookup, 'options.lookup');
  lookUp(socket, host, options, port);
}

function lookUp(socket, host, options, port) {
  const wanted = { family: options.family, hints: options.hints || 0 };
  if (wanted.family !== 4 && wanted.family !== 6 && wanted.hints === 0) wanted.hints = ADDRCONFIG;
  socket._host = host;
  const lookup = options.lookup || require('dns').lookup;
  lookup(host, wanted, (error, address, family) => {
    // Told of also when the socket is gone.
    socket.emit('lookup', error, address, family, host);
    if (!socket.connecting) return;
    error ??= problemOf(address, family, options);
    if (error) {
      process.nextTick(() => socket.destroy(error));
      return;
    }
    socket._unrefTimer();
    const { localAddress, localPort } = options;
    connectTo(socket, { address, port, family, localAddress, localPort });
  });
}

// What is wrong with the answer of a look-up.
function problemOf(address, family, { host, port }) {
  if (typeof address !== 'string' || !isIP(address)) return new ERR_INVALID_IP_ADDRESS(address);
  if (family === 4 || family === 6) return undefined;
  const error = new ERR_INVALID_ADDRESS_FAMILY(family, host, port);
  return Object.assign(error, { host, port });
}

function connectTo(socket, { address, port, family, localAddress, localPort }) {
  const handle = socket._handle;
  if (localAddress || localPort) {
    const from = localAddress || (family === 6 ? '::' : '0.0.0.0');
    const error = handle.bind(from, localPort || 0);
    if (error) {
      socket.destroy(exceptionWithHostPort(error, 'bind', localAddress, localPort));
      return;
    }
  }
  start(socket, handle, { address, port, localAddress, localPort });
}

function connectPipe(socket, path) {
  start(socket, socket._handle, { address: path });
}

function start(socket, handle, { address, port, localAddress, localPort }) {
  const failed = (status) => {
    const local = localAddress && localPort ? `${localAddress}:${localPort}` : undefined;
    const error = exceptionWithHostPort(status, 'connect', address, port, local);
    if (local) Object.assign(error, { localAddress, localPort });
    socket.destroy(error);
  };
  // Pipes are not observed.
  const begun = port === undefined ? undefined : observed.begin();
  const status = handle.connect(address, port ?? 0, (status) => {
    if (socket.destroyed) return;
    socket.connecting = false;
    socket._sockname = null;
    if (status === 0) observed.end(begun, 'net', 'connect', () => ({ host: address, port }));
    if (status === 0) connected(socket, handle);
    else failed(status);
  });
  if (status) failed(status);
}

function connected(socket, handle) {
  const { readable = true, writable = true } = handle;
  if (socket.readable && !readable) {
    socket.push(null);
    socket.read();
  }
  if (socket.writable && !writable) socket.end();
  socket._unrefTimer();
  socket._connected();
  socket.emit('connect');
  socket.emit('ready');
  // The first read, or the end at once.
  if (readable && !socket.isPaused()) socket.read(0);
}

module.exports = { lookupAndConnect, connectPipe };
