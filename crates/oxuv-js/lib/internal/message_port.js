// MessageChannel and MessagePort.
'use strict';

const native = binding('worker');
const { codes } = require('internal/codes');
const { defineHandler, dispatch, kChanged } = require('internal/event_target');
const { NodeEventTarget, eventWith, kValue } = require('internal/node_event_target');
const { messageEvent } = require('internal/message_event');
const { pack, unpack, transferList } = require('internal/messages');
const { kTransfer } = require('internal/transferable');

const kMake = Symbol('make');
const custom = Symbol.for('nodejs.util.inspect.custom');

function MessagePort(token, port) {
  if (token !== kMake) throw new codes.ERR_CONSTRUCT_CALL_INVALID();
  const self = Reflect.construct(NodeEventTarget, [], MessagePort);
  Object.defineProperty(self, '_native', { value: port, writable: true, enumerable: false, configurable: true });
  port.listen((...parts) => receive(self, parts), () => closed(self));
  return self;
}
Object.setPrototypeOf(MessagePort, NodeEventTarget);
MessagePort.prototype = Object.create(NodeEventTarget.prototype, {
  constructor: { value: MessagePort, writable: true, enumerable: false, configurable: true },
});

const portOf = (port) => MessagePort(kMake, port);

function receive(self, [bytes, buffers, natives, files]) {
  const ports = natives.map(portOf);
  let event;
  try {
    event = messageEvent('message', unpack(bytes, buffers, ports, files), ports);
  } catch (error) {
    event = messageEvent('messageerror', error, []);
    event[kValue] = error;
  }
  dispatch(self, event);
}

function closed(self) {
  self._native = undefined;
  dispatch(self, eventWith('close', undefined));
}

const methods = {
  postMessage(value, list) {
    if (arguments.length === 0) throw new TypeError('Not enough arguments');
    const transfer = transferList(list);
    const packed = pack(value, transfer, this);
    const isLost = packed.ports.some((port) => this._native?.isConnectedTo(port._native));
    send(this._native, packed);
    if (!isLost) return;
    process.emitWarning('The target port was posted to itself, and the communication channel was lost');
    this.close();
  },
  start() { this._native?.start(); },
  close(callback) {
    if (typeof callback === 'function') this.once('close', callback);
    this._native?.close();
  },
  ref() { this._native?.ref(); },
  unref() { this._native?.unref(); },
  hasRef() { return Boolean(this._native?.hasRef()); },
};
for (const [name, value] of Object.entries(methods)) {
  Object.defineProperty(MessagePort.prototype, name, { value, writable: true, enumerable: true, configurable: true });
}
defineHandler(MessagePort.prototype, 'message');
defineHandler(MessagePort.prototype, 'messageerror');

// Whoever listens for messages keeps the loop, and has them come.
Object.defineProperty(MessagePort.prototype, kChanged, {
  value(type, count) {
    if (type !== 'message') return;
    if (count === 0) {
      // What comes meanwhile waits for the next listener.
      this.unref();
      this._native?.stop();
    } else if (count === 1) {
      this.ref();
      this.start();
    }
  },
});
Object.defineProperty(MessagePort.prototype, custom, {
  value(depth, options) {
    const { inspect } = require('util');
    const shown = { active: Boolean(this._native?.isOpen), refed: this.hasRef() };
    return `MessagePort ${inspect({ ...shown, ...this }, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
  },
});

// Sends a message, if there still is somebody to send it. What goes with it is empty here from then on.
function send(native, { bytes, buffers, ports, files }) {
  const numbers = files.map((file) => file[kTransfer]());
  native?.post(bytes, buffers, ports.map((port) => port._native), numbers);
  for (const buffer of buffers) buffer.transfer();
  for (const port of ports) port._native = undefined;
}

function MessageChannel() {
  if (!new.target) throw new codes.ERR_CONSTRUCT_CALL_REQUIRED('MessageChannel');
  const [port1, port2] = native.channel().map(portOf);
  this.port1 = port1;
  this.port2 = port2;
}

function receiveMessageOnPort(port) {
  const isBroadcast = port?._isBroadcast === true;
  if (!isBroadcast && !(port instanceof MessagePort)) throw invalidPort(port);
  const parts = port._native?.receive();
  if (!parts) return undefined;
  const [bytes, buffers, natives, files] = parts;
  return { message: unpack(bytes, buffers, natives.map(portOf), files) };
}

function invalidPort() {
  const error = new TypeError('The "port" argument must be a MessagePort instance');
  error.code = 'ERR_INVALID_ARG_TYPE';
  return error;
}

// The same port with another wrapping, for `structuredClone`.
function moved(port) {
  const { _native: old } = port;
  if (!old?.isOpen) throw new DOMException('MessagePort in transfer list is already detached', 'DataCloneError');
  const [carrier, taker] = native.channel();
  carrier.post(new Uint8Array(0), [], [old]);
  port._native = undefined;
  const made = portOf(taker.receive()[2][0]);
  carrier.close();
  return made;
}

module.exports = { MessagePort, MessageChannel, receiveMessageOnPort, portOf, moved, send };
