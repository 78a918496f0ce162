// The module `async_hooks`. AsyncLocalStorage follows promises, ticks, timers and requests; hooks hear of AsyncResource alone.
'use strict';

const process = require('process');
const context = require('internal/async_context');
const { codes } = require('internal/codes');
const { validateFunction, validateObject, validateString } = require('internal/validators');

// A frame with another value in it.
function changed(storage, store) {
  const frame = new Map(context.current());
  if (store === undefined) frame.delete(storage);
  else frame.set(storage, store);
  return frame.size === 0 ? undefined : frame;
}

class AsyncLocalStorage {
  #isEnabled = false;

  static bind(callback) { return AsyncResource.bind(callback); }

  static snapshot() {
    return context.bind((callback, ...args) => callback(...args));
  }

  #enable() {
    this.#isEnabled = true;
    context.activate();
  }

  run(store, callback, ...args) {
    // Nothing changes.
    if (Object.is(store, this.getStore())) return Reflect.apply(callback, null, args);
    this.#enable();
    return context.runIn(changed(this, store), callback, null, args);
  }

  exit(callback, ...args) {
    return this.#isEnabled ? context.runIn(changed(this, undefined), callback, null, args) : Reflect.apply(callback, null, args);
  }

  enterWith(store) {
    this.#enable();
    context.enter(changed(this, store));
  }

  getStore() { return this.#isEnabled ? context.current()?.get(this) : undefined; }

  disable() { this.#isEnabled = false; }
}

// Numbers of resources; the script's main part is 1.
let lastId = 1;
let scope = { id: 1, trigger: 0, resource: {} };

const hooks = new Set();
const wants = (name) => [...hooks].filter((hook) => hook.callbacks[name] !== undefined);
const tell = (name, ...args) => {
  try {
    for (const hook of wants(name)) hook.callbacks[name](...args);
  } catch (error) {
    end(error);
  }
};

// A hook that throws is the end, whoever listens to exceptions: nobody could tell how far the step has come.
function end(error) {
  process.stderr.write(`${error instanceof Error ? error.stack : require('report')(error)}\n`);
  process.exit(1);
}

class AsyncResource {
  #id;
  #trigger;
  #frame;
  #isDestroyed = false;

  constructor(type, options = {}) {
    validateString(type, 'type');
    let trigger = options;
    if (typeof options !== 'number') {
      validateObject(options, 'options');
      trigger = options.triggerAsyncId ?? scope.id;
    }
    if (!Number.isSafeInteger(trigger) || trigger < -1) throw new codes.ERR_INVALID_ASYNC_ID('triggerAsyncId', trigger);
    if (type === '' && wants('init').length > 0) throw new codes.ERR_ASYNC_TYPE(type);
    this.#id = ++lastId;
    this.#trigger = trigger;
    this.#frame = context.current();
    tell('init', this.#id, type, trigger, this);
  }

  static bind(callback, type, self) {
    validateFunction(callback, 'fn');
    return new AsyncResource(type || callback.name || 'bound-anonymous-fn').bind(callback, self);
  }

  runInAsyncScope(callback, self, ...args) {
    const before = scope;
    scope = { id: this.#id, trigger: this.#trigger, resource: this };
    tell('before', this.#id);
    try {
      return context.runIn(this.#frame, callback, self, args);
    } finally {
      scope = before;
      tell('after', this.#id);
    }
  }

  bind(callback, self) {
    validateFunction(callback, 'fn');
    const resource = this;
    const hasSelf = self !== undefined;
    const bound = function(...args) {
      return resource.runInAsyncScope(callback, hasSelf ? self : this, ...args);
    };
    return Object.defineProperties(bound, {
      length: { configurable: true, enumerable: false, value: callback.length, writable: false },
      asyncResource: { configurable: true, enumerable: true, value: this, writable: true },
    });
  }

  emitDestroy() {
    if (!this.#isDestroyed) {
      this.#isDestroyed = true;
      setImmediate(tell, 'destroy', this.#id);
    }
    return this;
  }

  asyncId() { return this.#id; }
  triggerAsyncId() { return this.#trigger; }
}

class AsyncHook {
  constructor(callbacks) {
    Object.defineProperty(this, 'callbacks', { value: callbacks });
  }

  enable() {
    hooks.add(this);
    return this;
  }

  disable() {
    hooks.delete(this);
    return this;
  }
}

function createHook(callbacks) {
  const known = {};
  for (const name of ['init', 'before', 'after', 'destroy', 'promiseResolve']) {
    const callback = callbacks[name];
    if (callback === undefined) continue;
    if (typeof callback !== 'function') throw new codes.ERR_ASYNC_CALLBACK(`hook.${name}`);
    known[name] = callback;
  }
  return new AsyncHook(known);
}

module.exports = {
  AsyncLocalStorage,
  AsyncResource,
  asyncWrapProviders: Object.freeze({ __proto__: null }),
  createHook,
  executionAsyncId: () => scope.id,
  executionAsyncResource: () => scope.resource,
  triggerAsyncId: () => scope.trigger,
};
