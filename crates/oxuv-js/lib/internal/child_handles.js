// What can be sent along with a message: which handle that is, and what becomes of it at the other side.
'use strict';

const net = require('net');

const isDatagram = (object) => object instanceof require('dgram').Socket;
const isHandle = (object) => typeof object.readStart === 'function' && typeof object.close === 'function';

function kindOf(object) {
  if (object instanceof net.Socket) return 'net.Socket';
  if (object instanceof net.Server) return 'net.Server';
  if (isHandle(object)) return 'net.Native';
  if (isDatagram(object)) return 'dgram.Socket';
  return undefined;
}

// The handle to be sent. A socket has none any more then, unless it is to stay open here.
function give(target, kind, object, message, options) {
  if (kind === 'net.Native') return object;
  if (kind === 'dgram.Socket') {
    message.dgramType = object.type;
    return require('internal/dgram/state').handleOf(object);
  }
  if (kind === 'net.Server' || !object._handle) return object._handle;
  const { _handle: handle } = object;
  if (object.server) announce(target, object, message, options.keepOpen);
  if (options.keepOpen) return handle;
  handle.onread = () => {};
  handle.readStop();
  object._handle = null;
  object.setTimeout(0);
  // A connection of HTTP is none any more.
  if (object.parser) require('_http_common').freeParser(object.parser, null, object);
  object._httpMessage?.detachSocket?.(object);
  return handle;
}

// A server counts the connections that it has sent away, too.
function announce(target, socket, message, isKept) {
  const { server } = socket;
  message.key = server._connectionKey;
  if (!target._sentSockets?.has(message.key)) {
    const list = new SentSockets(target, message.key);
    (target._sentSockets ??= new Map()).set(message.key, list);
    server._setupWorker(list);
  }
  if (isKept) return;
  // It is the other side's from now on.
  server._connections--;
  socket._server = null;
}

function receive(target, message, handle, emit) {
  if (message.type === 'net.Server') {
    const server = new net.Server();
    server.listen(handle, () => emit(server));
  } else if (message.type === 'net.Socket') {
    const socket = new net.Socket({ handle, readable: true, writable: true });
    if (message.key) listFor(target, message.key).add(socket);
    emit(socket);
  } else if (message.type === 'net.Native') {
    emit(handle);
  } else if (message.type === 'dgram.Socket') {
    const socket = new (require('dgram').Socket)(message.dgramType);
    socket.bind(require('internal/dgram/state').bound(handle), () => emit(socket));
  } else {
    handle.close();
    emit(undefined);
  }
}

const EventEmitter = require('events');

// At the sender: asks the other side how many of the server's connections it has.
class SentSockets extends EventEmitter {
  constructor(target, key) {
    super();
    this.setMaxListeners(0);
    this.target = target;
    this.key = key;
    target.once?.('exit', () => this.emit('exit', this));
  }

  #request(message, answer, callback) {
    if (!this.target.connected) {
      callback(this);
      return;
    }
    const { target } = this;
    const stop = () => {
      target.removeListener('internalMessage', onMessage);
      target.removeListener('disconnect', onDisconnect);
    };
    const onMessage = (reply) => {
      if (reply.cmd !== answer || reply.key !== this.key) return;
      stop();
      callback(null, reply);
    };
    const onDisconnect = () => {
      stop();
      callback(new (require('internal/codes').codes.ERR_CHILD_CLOSED_BEFORE_REPLY)());
    };
    target.on('internalMessage', onMessage);
    target.once('disconnect', onDisconnect);
    target._send(message, undefined, true);
  }

  close(callback) {
    this.#request({ cmd: 'NODE_SOCKET_NOTIFY_CLOSE', key: this.key }, 'NODE_SOCKET_ALL_CLOSED', callback);
  }

  getConnections(callback) {
    this.#request({ cmd: 'NODE_SOCKET_GET_COUNT', key: this.key }, 'NODE_SOCKET_COUNT',
      (error, reply) => (error ? callback(error) : callback(null, reply.count)));
  }
}

const lists = new WeakMap();

function listFor(target, key) {
  let all = lists.get(target);
  if (all === undefined) lists.set(target, all = new Map());
  if (!all.has(key)) all.set(key, new ReceivedSockets(target, key));
  return all.get(key);
}

// At the receiver: the connections that came from one server, and answers about them.
class ReceivedSockets {
  #sockets = new Set();
  #whenEmpty;

  constructor(target, key) {
    target.on('internalMessage', (message) => {
      if (message.key !== key) return;
      if (message.cmd === 'NODE_SOCKET_GET_COUNT') {
        this.#answer(target, { cmd: 'NODE_SOCKET_COUNT', key, count: this.#sockets.size });
      } else if (message.cmd === 'NODE_SOCKET_NOTIFY_CLOSE') {
        const tell = () => this.#answer(target, { cmd: 'NODE_SOCKET_ALL_CLOSED', key });
        if (this.#sockets.size === 0) tell();
        else this.#whenEmpty = tell;
      }
    });
  }

  #answer(target, message) {
    if (target.connected) target._send(message, undefined, true);
  }

  add(socket) {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size > 0 || !this.#whenEmpty) return;
      this.#whenEmpty();
      this.#whenEmpty = undefined;
    });
  }
}

module.exports = { kindOf, give, receive };
