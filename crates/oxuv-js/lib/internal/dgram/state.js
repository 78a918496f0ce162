// The state of a socket of datagrams, and its handle.
'use strict';

const { Buffer } = require('buffer');
const { udp } = binding('udp');
const { codes: { ERR_SOCKET_BAD_TYPE } } = require('internal/codes');
const { validateFunction } = require('internal/validators');

const kState = Symbol('state symbol');
const [UNBOUND, BINDING, BOUND] = [0, 1, 2];
const [DISCONNECTED, CONNECTING, CONNECTED] = [0, 1, 2];

// What Node's sockets have as a handle: the loop's, and how the socket looks up names.
class Handle {
  constructor(family, lookup) {
    this.native = udp();
    this.family = family;
    this.names = lookup;
    this.owner = undefined;
    this.onmessage = undefined;
  }

  // Calls back with an address of the socket's family.
  lookup(address, callback) {
    try {
      this.names(address || (this.family === 4 ? '127.0.0.1' : '::1'), this.family, callback);
    } catch (error) {
      // The caller may have been told to wait, and would not hear of it.
      process.nextTick(callback, error);
    }
  }

  recvStart() {
    return this.native.receive((count, buffer, address, family, port) => {
      if (count < 0) this.onmessage(count, this);
      else this.onmessage(count, this, Buffer.from(buffer), { address, family, port });
    });
  }

  recvStop() {
    return this.native.receiveStop();
  }

  // Becomes another one that is bound already.
  take(other) {
    this.native.close();
    this.native = other.native;
  }

  bind6(...args) {
    return this.native.bind(...args);
  }

  get fd() {
    return this.native.fd;
  }

  get queueSize() {
    return this.native.queueSize;
  }

  get queueCount() {
    return this.native.queueCount;
  }
}
for (const name of ['open', 'bind', 'connect', 'disconnect', 'send', 'close', 'ref', 'unref', 'hasRef', 'getsockname', 'getpeername',
  'setBroadcast', 'setTTL', 'setMulticastTTL', 'setMulticastLoopback', 'setMulticastInterface', 'addMembership', 'dropMembership',
  'addSourceMembership', 'dropSourceMembership', 'bufferSize']) {
  Object.defineProperty(Handle.prototype, name, {
    value(...args) { return this.native[name](...args); }, writable: true, configurable: true,
  });
}

function newHandle(type, lookup) {
  if (lookup === undefined) lookup = require('dns').lookup;
  else validateFunction(lookup, 'lookup');
  if (type !== 'udp4' && type !== 'udp6') throw new ERR_SOCKET_BAD_TYPE();
  return new Handle(type === 'udp4' ? 4 : 6, lookup);
}

// The loop's handle of a socket, for another process; none if it is closed.
const handleOf = (socket) => socket[kState].handle?.native;
// One that came from another process, for a socket to be bound to.
const bound = (native) => ({ native, recvStart() {} });

module.exports = { kState, UNBOUND, BINDING, BOUND, DISCONNECTED, CONNECTING, CONNECTED, newHandle, handleOf, bound };
