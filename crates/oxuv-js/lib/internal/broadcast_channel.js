// Channels that all with the same name hear, on all threads.
'use strict';

const native = binding('worker');
const { codes } = require('internal/codes');
const { EventTarget, defineHandler, dispatch } = require('internal/event_target');
const { messageEvent } = require('internal/message_event');
const { pack, unpack } = require('internal/messages');

const custom = Symbol.for('nodejs.util.inspect.custom');

class BroadcastChannel extends EventTarget {
  #name;
  #isClosed = false;

  constructor(name) {
    if (arguments.length === 0) throw new codes.ERR_MISSING_ARGS('name');
    if (typeof name === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
    super();
    this.#name = `${name}`;
    const port = native.named(this.#name);
    Object.defineProperty(this, '_native', { value: port, writable: true, enumerable: false, configurable: true });
    Object.defineProperty(this, '_isBroadcast', { value: true, enumerable: false });
    port.listen((bytes, buffers) => this.#receive(bytes, buffers), () => {});
    // It waits for messages from the beginning.
    port.ref();
    port.start();
  }

  static #of(value) {
    if (value === null || typeof value !== 'object' || !(#name in value)) throw new codes.ERR_INVALID_THIS('BroadcastChannel');
    return value;
  }

  #receive(bytes, buffers) {
    let event;
    try {
      event = messageEvent('message', unpack(bytes, buffers, []), []);
    } catch (error) {
      event = messageEvent('messageerror', error, []);
    }
    dispatch(this, event);
  }

  get name() { return BroadcastChannel.#of(this).#name; }

  close() {
    BroadcastChannel.#of(this).#isClosed = true;
    this._native.close();
  }

  postMessage(message) {
    BroadcastChannel.#of(this);
    if (arguments.length === 0) throw new codes.ERR_MISSING_ARGS('message');
    if (this.#isClosed) throw new DOMException('BroadcastChannel is closed.', 'InvalidStateError');
    const { bytes } = pack(message, [], undefined);
    this._native.post(bytes, [], []);
  }

  ref() {
    BroadcastChannel.#of(this)._native.ref();
    return this;
  }

  unref() {
    BroadcastChannel.#of(this)._native.unref();
    return this;
  }

  [custom](depth, options) {
    BroadcastChannel.#of(this);
    if (depth < 0) return 'BroadcastChannel';
    const { inspect } = require('util');
    return `BroadcastChannel ${inspect({ name: this.#name, active: !this.#isClosed }, options)}`;
  }
}
defineHandler(BroadcastChannel.prototype, 'message');
defineHandler(BroadcastChannel.prototype, 'messageerror');

module.exports = { BroadcastChannel };
