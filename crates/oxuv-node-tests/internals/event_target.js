// What tests take from Node's `internal/event_target`. The classes are the program's own.
'use strict';

const { EventTarget, Event, CustomEvent } = globalThis;
const kEvents = Object.getOwnPropertySymbols(new EventTarget()).find((symbol) => symbol.description === 'kEvents');
const kWeakHandler = Symbol.for('oxuv.weakListener');

// An event target with the methods of an emitter.
class NodeEventTarget extends EventTarget {
  static defaultMaxListeners = 10;
  #most = NodeEventTarget.defaultMaxListeners;

  // Every method begins with it, so that it says by its code when `this` is something else.
  static #of(value) {
    if (value !== null && typeof value === 'object' && #most in value) return value;
    throw Object.assign(new TypeError('Value of "this" must be of type NodeEventTarget'), { code: 'ERR_INVALID_THIS' });
  }

  setMaxListeners(most) { NodeEventTarget.#of(this).#most = most; }
  getMaxListeners() { return NodeEventTarget.#of(this).#most; }
  eventNames() { return [...NodeEventTarget.#of(this)[kEvents].keys()]; }
  listenerCount(type) { return NodeEventTarget.#of(this)[kEvents].get(String(type))?.length ?? 0; }
  on(type, listener, options) {
    NodeEventTarget.#of(this).addEventListener(type, listener, options);
    return this;
  }
  addListener(type, listener, options) { return NodeEventTarget.prototype.on.call(this, type, listener, options); }
  once(type, listener, options) { return NodeEventTarget.prototype.on.call(this, type, listener, { ...options, once: true }); }
  off(type, listener, options) {
    NodeEventTarget.#of(this).removeEventListener(type, listener, options);
    return this;
  }
  removeListener(type, listener, options) { return NodeEventTarget.prototype.off.call(this, type, listener, options); }
  emit(type, detail) { return NodeEventTarget.#of(this).dispatchEvent(new CustomEvent(type, { detail })); }
  removeAllListeners(type) {
    if (type === undefined) NodeEventTarget.#of(this)[kEvents].clear();
    else NodeEventTarget.#of(this)[kEvents].delete(String(type));
    return this;
  }
}

// The property `onNAME`, whose value is a listener.
function defineEventHandler(target, name, event = name) {
  let handler = null;
  let isListening = false;
  const listener = function(...args) {
    if (typeof handler === 'function') return Reflect.apply(handler, this, args);
  };
  Object.defineProperty(target, `on${name}`, {
    get: () => handler,
    set(value) {
      if (typeof value === 'function' && !isListening) target.addEventListener(event, listener);
      if (typeof value !== 'function' && isListening) target.removeEventListener(event, listener);
      isListening = typeof value === 'function';
      handler = value;
    },
    enumerable: true,
    configurable: true,
  });
}

module.exports = { Event, CustomEvent, EventTarget, NodeEventTarget, defineEventHandler, kEvents, kWeakHandler };
