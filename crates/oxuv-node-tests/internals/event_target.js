// What tests take from Node's `internal/event_target`. The classes are the program's own.
'use strict';

const { EventTarget, Event, CustomEvent } = globalThis;
const kEvents = Object.getOwnPropertySymbols(new EventTarget()).find((symbol) => symbol.description === 'kEvents');
// Listeners that hold nothing: here an option that is not known, so they hold what they listen to.
const kWeakHandler = Symbol('kWeakHandler');

// An event target with the methods of an emitter.
class NodeEventTarget extends EventTarget {
  static defaultMaxListeners = 10;
  #most = NodeEventTarget.defaultMaxListeners;

  setMaxListeners(most) { this.#most = most; }
  getMaxListeners() { return this.#most; }
  eventNames() { this.#most; return [...this[kEvents].keys()]; }
  listenerCount(type) { this.#most; return this[kEvents].get(String(type))?.size ?? 0; }
  on(type, listener, options) {
    this.#most;
    this.addEventListener(type, listener, options);
    return this;
  }
  addListener(type, listener, options) { return NodeEventTarget.prototype.on.call(this, type, listener, options); }
  once(type, listener, options) {
    this.#most;
    this.addEventListener(type, listener, { ...options, once: true });
    return this;
  }
  off(type, listener, options) {
    this.#most;
    this.removeEventListener(type, listener, options);
    return this;
  }
  removeListener(type, listener, options) { return NodeEventTarget.prototype.off.call(this, type, listener, options); }
  emit(type, detail) {
    this.#most;
    return this.dispatchEvent(new CustomEvent(type, { detail }));
  }
  removeAllListeners(type) {
    this.#most;
    if (type === undefined) this[kEvents].clear();
    else this[kEvents].delete(String(type));
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
