// Channels of `diagnostics_channel` that tell of one act together: of its beginning and its end, and of what comes later.
'use strict';

const process = require('process');
const { codes } = require('internal/codes');
const { validateFunction } = require('internal/validators');

const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];

// Tells of the message and runs, with what the stores of the channel are to have.
function runStores(channel, message, run) {
  let inner = () => {
    channel.publish(message);
    return run();
  };
  for (const [store, transform] of channel._stores ?? []) {
    const next = inner;
    inner = () => {
      let value = message;
      if (transform) {
        try {
          value = transform(message);
        } catch (error) {
          process.nextTick(() => process._triggerUncaught(error, false));
          return next();
        }
      }
      return store.run(value, next);
    };
  }
  return inner();
}

class TracingChannel {
  get hasSubscribers() { return EVENTS.some((event) => this[event]?.hasSubscribers); }

  subscribe(handlers) {
    for (const event of EVENTS) if (handlers[event]) this[event]?.subscribe(handlers[event]);
  }

  unsubscribe(handlers) {
    let hadAll = true;
    for (const event of EVENTS) if (handlers[event] && !this[event]?.unsubscribe(handlers[event])) hadAll = false;
    return hadAll;
  }

  traceSync(act, context = {}, thisArg, ...args) {
    return this.#begin(context, () => {
      const result = Reflect.apply(act, thisArg, args);
      context.result = result;
      return result;
    });
  }

  tracePromise(act, context = {}, thisArg, ...args) {
    const settle = (key, value) => {
      context[key] = value;
      if (key === 'error') this.error.publish(context);
      this.asyncStart.publish(context);
      this.asyncEnd.publish(context);
    };
    return this.#begin(context, () => {
      const result = Reflect.apply(act, thisArg, args);
      const promise = result instanceof Promise ? result : Promise.resolve(result);
      return promise.then(
        (value) => { settle('result', value); return value; },
        (error) => { settle('error', error); throw error; },
      );
    });
  }

  traceCallback(act, position = -1, context = {}, thisArg, ...args) {
    const callback = args.at(position);
    validateFunction(callback, 'callback');
    const channels = this;
    args.splice(position, 1, function traced(error, result) {
      if (error) {
        context.error = error;
        channels.error.publish(context);
      } else {
        context.result = result;
      }
      return runStores(channels.asyncStart, context, () => {
        try {
          return Reflect.apply(callback, this, arguments);
        } finally {
          channels.asyncEnd.publish(context);
        }
      });
    });
    return this.#begin(context, () => Reflect.apply(act, thisArg, args));
  }

  // The part that runs at once.
  #begin(context, act) {
    return runStores(this.start, context, () => {
      try {
        return act();
      } catch (error) {
        context.error = error;
        this.error.publish(context);
        throw error;
      } finally {
        this.end.publish(context);
      }
    });
  }
}

function tracingChannel(given, channel) {
  const isName = typeof given === 'string';
  if (!isName && (typeof given !== 'object' || given === null)) {
    throw new codes.ERR_INVALID_ARG_TYPE('nameOrChannels', ['string', 'object', 'Channel'], given);
  }
  const channels = new TracingChannel();
  const { Channel } = require('diagnostics_channel');
  for (const event of EVENTS) {
    const value = isName ? channel(`tracing:${given}:${event}`) : given[event];
    if (!(value instanceof Channel)) throw new codes.ERR_INVALID_ARG_TYPE(`nameOrChannels.${event}`, 'Channel', value);
    Object.defineProperty(channels, event, { value, enumerable: true });
  }
  return channels;
}

module.exports = { runStores, tracingChannel };
