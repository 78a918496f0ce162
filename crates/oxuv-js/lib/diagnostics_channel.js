// The module `diagnostics_channel`: named channels on which a library says what it does.
'use strict';

const { codes } = require('internal/codes');
const { validateFunction } = require('internal/validators');

const { channels } = require('internal/observed');

class Channel {
  #subscribers = [];

  constructor(name) {
    this.name = name;
  }

  get hasSubscribers() { return this.#subscribers.length > 0 || this._stores?.size > 0; }

  subscribe(subscriber) {
    validateFunction(subscriber, 'subscription');
    this.#subscribers = [...this.#subscribers, subscriber];
  }

  unsubscribe(subscriber) {
    const at = this.#subscribers.indexOf(subscriber);
    if (at < 0) return false;
    this.#subscribers = this.#subscribers.toSpliced(at, 1);
    return true;
  }

  // Stores that have a value, made of the message, while `runStores` runs.
  bindStore(store, transform) {
    (this._stores ??= new Map()).set(store, transform);
  }

  unbindStore(store) {
    return this._stores?.delete(store) ?? false;
  }

  runStores(message, run, thisArg, ...args) {
    return require('internal/tracing_channel').runStores(this, message, () => Reflect.apply(run, thisArg, args));
  }

  publish(message) {
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(message, this.name);
      } catch (error) {
        // The others and the library are not disturbed.
        process.nextTick(() => process._triggerUncaught(error, false));
      }
    }
  }
}

function channel(name) {
  if (typeof name !== 'string' && typeof name !== 'symbol') throw new codes.ERR_INVALID_ARG_TYPE('channel', ['string', 'symbol'], name);
  let found = channels.get(name);
  if (found === undefined) channels.set(name, found = new Channel(name));
  return found;
}

module.exports = {
  Channel,
  channel,
  hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
  subscribe: (name, subscriber) => channel(name).subscribe(subscriber),
  unsubscribe: (name, subscriber) => channel(name).unsubscribe(subscriber),
  tracingChannel: (name) => require('internal/tracing_channel').tracingChannel(name, channel),
};
