// Event targets that have the methods of emitters, too.
'use strict';

const { Event, EventTarget, dispatch } = require('internal/event_target');

const kWrappers = Symbol('wrappers');
// What a listener of the emitter's kind is called with.
const kValue = Symbol('value');

class NodeEventTarget extends EventTarget {
  [kWrappers] = new Map();

  #add(type, listener, options) {
    const known = this[kWrappers].get(listener);
    if (known?.has(type)) return this;
    const wrapper = (event) => {
      if (options.once) this.#forget(type, listener);
      return listener.call(this, kValue in event ? event[kValue] : event.type === 'message' ? event.data : event);
    };
    if (known === undefined) this[kWrappers].set(listener, new Map([[type, wrapper]]));
    else known.set(type, wrapper);
    this.addEventListener(type, wrapper, options);
    return this;
  }

  #forget(type, listener) {
    const known = this[kWrappers].get(listener);
    const wrapper = known?.get(type);
    known?.delete(type);
    if (known?.size === 0) this[kWrappers].delete(listener);
    return wrapper;
  }

  on(type, listener) { return this.#add(`${type}`, checked(listener), {}); }
  addListener(type, listener) { return this.on(type, listener); }
  once(type, listener) { return this.#add(`${type}`, checked(listener), { once: true }); }
  off(type, listener, options) {
    this.removeEventListener(type, this.#forget(`${type}`, listener) ?? listener, options);
    return this;
  }
  removeListener(type, listener, options) { return this.off(type, listener, options); }

  removeAllListeners(type) {
    for (const [listener, wrappers] of [...this[kWrappers]]) {
      for (const name of [...wrappers.keys()]) if (type === undefined || name === `${type}`) this.off(name, listener);
    }
    return this;
  }

  emit(type, value) {
    const event = new (require('internal/event_target').CustomEvent)(type, { detail: value });
    event[kValue] = value;
    const hasListeners = this.listenerCount(type) > 0;
    dispatch(this, event);
    return hasListeners;
  }

  listenerCount(type) { return require('internal/event_target').listenersOf(this, type).length; }
  eventNames() { return require('internal/event_target').namesOf(this); }
  setMaxListeners(count) { require('events').setMaxListeners(count, this); }
  getMaxListeners() { return require('events').getMaxListeners?.(this) ?? require('events').defaultMaxListeners; }
}

function checked(listener) {
  if (typeof listener === 'function' || (typeof listener === 'object' && listener !== null)) return listener;
  throw new (require('internal/codes').codes.ERR_INVALID_ARG_TYPE)('listener', 'EventListener', listener);
}

// An event whose listeners of the emitter's kind get this value.
function eventWith(type, value) {
  const event = new Event(type);
  event[kValue] = value;
  return event;
}

module.exports = { NodeEventTarget, eventWith, kValue };
