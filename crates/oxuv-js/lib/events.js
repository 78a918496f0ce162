// EventEmitter.
'use strict';

const { codes: { ERR_INVALID_ARG_TYPE } } = require('errors');

class EventEmitter {
  constructor() {
    this._events = Object.create(null);
  }

  on(name, listener) {
    if (typeof listener !== 'function') throw new ERR_INVALID_ARG_TYPE('listener', 'Function', listener);
    (this._events[name] ??= []).push(listener);
    return this;
  }

  once(name, listener) {
    const wrapper = (...args) => { this.off(name, wrapper); return listener.apply(this, args); };
    wrapper.listener = listener;
    return this.on(name, wrapper);
  }

  off(name, listener) {
    const all = this._events[name] ?? [];
    const at = all.findLastIndex((each) => each === listener || each.listener === listener);
    if (at >= 0) this._events[name] = all.toSpliced(at, 1);
    return this;
  }

  emit(name, ...args) {
    const all = this._events[name] ?? [];
    if (all.length === 0) return false;
    for (const listener of [...all]) listener.apply(this, args);
    return true;
  }

  listenerCount(name) {
    return (this._events[name] ?? []).length;
  }
}
EventEmitter.EventEmitter = EventEmitter;

module.exports = EventEmitter;
