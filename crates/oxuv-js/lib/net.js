// The module `net`: servers and sockets over TCP and pipes.
'use strict';

const { Socket } = require('internal/net/socket');
const { Server } = require('internal/net/server');
const { normalizeArgs } = require('internal/net/arguments');
const { publish } = require('internal/observed');
const { isIP } = binding('net');

function createServer(options, connectionListener) {
  return new Server(options, connectionListener);
}

function connect(...args) {
  const normalized = normalizeArgs(args);
  const [options] = normalized;
  const socket = new Socket(options);
  publish('net.client.socket', { socket });
  if (options.timeout) socket.setTimeout(options.timeout);
  return socket.connect(normalized);
}

const kindOfIP = (text) => (text == null ? 0 : isIP(`${text}`));

let hasWarned = false;
function warnOfAccepts() {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning('net._setSimultaneousAccepts() is deprecated and will be removed.', 'DeprecationWarning', 'DEP0121');
}

module.exports = {
  _createServerHandle: (...args) => require('internal/net/server').createServerHandle(...args),
  _normalizeArgs: normalizeArgs,
  _setSimultaneousAccepts: warnOfAccepts,
  get BlockList() { return require('internal/net/block_list').BlockList; },
  get SocketAddress() { return require('internal/net/socket_address').SocketAddress; },
  connect,
  createConnection: connect,
  createServer,
  isIP: kindOfIP,
  isIPv4: (text) => kindOfIP(text) === 4,
  isIPv6: (text) => kindOfIP(text) === 6,
  Server,
  Socket,
  Stream: Socket,
};
