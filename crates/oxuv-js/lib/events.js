// EventEmitter.
'use strict';

const errors = require('errors');

const kCapture = Symbol('kCapture');
const kErrorMonitor = Symbol('events.errorMonitor');
const kMaxListeners = Symbol('events.maxEventTargetListeners');
const kWarned = Symbol('events.maxEventTargetListenersWarned');
const kRejection = Symbol.for('nodejs.rejection');

let defaultMaxListeners = 10;

const inspect = (value, options) => require('internal/inspect').inspect(value, options);

function EventEmitter(options) {
  EventEmitter.init.call(this, options);
}

EventEmitter.prototype._events = undefined;
EventEmitter.prototype._eventsCount = 0;
EventEmitter.prototype._maxListeners = undefined;
Object.defineProperty(EventEmitter.prototype, kCapture, { value: false, writable: true, enumerable: false });

EventEmitter.init = function init(options) {
  // What is inherited belongs to the prototype, not to this emitter.
  if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
    this._events = Object.create(null);
    this._eventsCount = 0;
  }
  this._maxListeners = this._maxListeners || undefined;
  if (options?.captureRejections) {
    require('internal/validators').validateBoolean(options.captureRejections, 'options.captureRejections');
    this[kCapture] = true;
  } else {
    // Kept as an own property only where it says something new.
    this[kCapture] = EventEmitter.prototype[kCapture];
  }
};

function checkListener(listener) {
  if (typeof listener !== 'function') throw new errors.codes.ERR_INVALID_ARG_TYPE('listener', 'Function', listener);
}

function checkCount(value, name) {
  if (typeof value !== 'number' || value < 0 || Number.isNaN(value)) {
    throw new errors.codes.ERR_OUT_OF_RANGE(name, 'a non-negative number', value);
  }
}

EventEmitter.prototype.setMaxListeners = function setMaxListeners(n) {
  checkCount(n, 'n');
  this._maxListeners = n;
  return this;
};

function maxListenersOf(emitter) {
  return emitter._maxListeners === undefined ? defaultMaxListeners : emitter._maxListeners;
}

EventEmitter.prototype.getMaxListeners = function getMaxListeners() {
  return maxListenersOf(this);
};

// A listener that gives a promise: its rejection becomes an 'error', or goes where the emitter wants it.
function captureRejection(emitter, promise, type, args) {
  if (!emitter[kCapture]) return;
  try {
    const { then } = promise;
    if (typeof then === 'function') {
      then.call(promise, undefined, (reason) => { require('process').nextTick(emitRejection, emitter, reason, type, args); });
    }
  } catch (error) {
    emitter.emit('error', error);
  }
}

function emitRejection(emitter, reason, type, args) {
  if (typeof emitter[kRejection] === 'function') {
    emitter[kRejection](reason, type, ...args);
    return;
  }
  // An 'error' listener that rejects must not be asked about its own rejection.
  const before = emitter[kCapture];
  try {
    emitter[kCapture] = false;
    emitter.emit('error', reason);
  } finally {
    emitter[kCapture] = before;
  }
}

// An error is often made elsewhere than where it is emitted: should nobody catch it, both are told.
function notePlace(emitter, error) {
  try {
    const capture = {};
    Error.captureStackTrace(capture, EventEmitter.prototype.emit);
    errors.emitted.set(error, { name: emitter.constructor.name, stack: capture.stack });
  } catch { /* Without memory or stack it is thrown all the same. */ }
}

// 'error' without a listener is thrown.
function throwUnhandled(emitter, args) {
  const [error] = args;
  if (error instanceof Error) {
    notePlace(emitter, error);
    throw error;
  }
  let text;
  try {
    text = inspect(error);
  } catch {
    text = error;
  }
  const unhandled = new errors.codes.ERR_UNHANDLED_ERROR(text);
  unhandled.context = error;
  throw unhandled;
}

EventEmitter.prototype.emit = function emit(type, ...args) {
  const events = this._events;
  if (type === 'error') {
    if (events !== undefined && events[kErrorMonitor] !== undefined) this.emit(kErrorMonitor, ...args);
    if (events === undefined || events.error === undefined) throwUnhandled(this, args);
  }
  const handler = events === undefined ? undefined : events[type];
  if (handler === undefined) return false;
  if (typeof handler === 'function') {
    const result = Reflect.apply(handler, this, args);
    if (result !== undefined && result !== null) captureRejection(this, result, type, args);
    return true;
  }
  // Those that listen now: what is added or removed meanwhile counts from the next event on.
  for (const listener of handler.slice()) {
    const result = Reflect.apply(listener, this, args);
    if (result !== undefined && result !== null) captureRejection(this, result, type, args);
  }
  return true;
};

function warnOfMany(target, type, list) {
  list.warned = true;
  const count = list.length;
  const warning = new Error(`Possible EventEmitter memory leak detected. ${count} ${String(type)} listeners ` +
    `added to ${inspect(target, { depth: -1 })}. Use emitter.setMaxListeners() to increase limit`);
  warning.name = 'MaxListenersExceededWarning';
  warning.emitter = target;
  warning.type = type;
  warning.count = count;
  require('process').emitWarning(warning);
}

// One listener stands for itself, several are a list.
function add(target, type, listener, isFirst) {
  checkListener(listener);
  let events = target._events;
  if (events === undefined) {
    events = target._events = Object.create(null);
    target._eventsCount = 0;
  } else if (events.newListener !== undefined) {
    // Told before it is there, so that 'newListener' may add others in front.
    target.emit('newListener', type, listener.listener ?? listener);
    events = target._events;
  }
  const existing = events[type];
  if (existing === undefined) {
    events[type] = listener;
    ++target._eventsCount;
    return target;
  }
  let list = existing;
  if (typeof existing === 'function') list = events[type] = isFirst ? [listener, existing] : [existing, listener];
  else if (isFirst) list.unshift(listener);
  else list.push(listener);
  const most = maxListenersOf(target);
  if (most > 0 && list.length > most && !list.warned) warnOfMany(target, type, list);
  return target;
}

EventEmitter.prototype.addListener = function addListener(type, listener) {
  return add(this, type, listener, false);
};
EventEmitter.prototype.on = EventEmitter.prototype.addListener;
EventEmitter.prototype.prependListener = function prependListener(type, listener) {
  return add(this, type, listener, true);
};

function onceWrapper(target, type, listener) {
  let hasFired = false;
  const wrapper = (...args) => {
    if (hasFired) return undefined;
    target.removeListener(type, wrapper);
    hasFired = true;
    return Reflect.apply(listener, target, args);
  };
  wrapper.listener = listener;
  return wrapper;
}

EventEmitter.prototype.once = function once(type, listener) {
  checkListener(listener);
  this.on(type, onceWrapper(this, type, listener));
  return this;
};
EventEmitter.prototype.prependOnceListener = function prependOnceListener(type, listener) {
  checkListener(listener);
  this.prependListener(type, onceWrapper(this, type, listener));
  return this;
};

EventEmitter.prototype.removeListener = function removeListener(type, listener) {
  checkListener(listener);
  const events = this._events;
  const list = events?.[type];
  if (list === undefined) return this;
  if (list === listener || list.listener === listener) {
    this._eventsCount -= 1;
    if (this._eventsCount === 0) {
      this._events = Object.create(null);
    } else {
      delete events[type];
    }
    if (events.removeListener) this.emit('removeListener', type, list.listener || listener);
  } else if (typeof list !== 'function') {
    // The one that was added last goes first.
    let at = list.length - 1;
    while (at >= 0 && list[at] !== listener && list[at].listener !== listener) at--;
    if (at < 0) return this;
    if (at === 0) list.shift();
    else list.splice(at, 1);
    if (list.length === 1) events[type] = list[0];
    if (events.removeListener !== undefined) this.emit('removeListener', type, listener);
  }
  return this;
};
EventEmitter.prototype.off = EventEmitter.prototype.removeListener;

EventEmitter.prototype.removeAllListeners = function removeAllListeners(...types) {
  const events = this._events;
  if (events === undefined) return this;
  const [type] = types;
  if (events.removeListener === undefined) {
    // Nobody is to be told.
    if (types.length === 0) {
      this._events = Object.create(null);
      this._eventsCount = 0;
    } else if (events[type] !== undefined) {
      if (--this._eventsCount === 0) this._events = Object.create(null);
      else delete events[type];
    }
    return this;
  }
  if (types.length === 0) {
    for (const key of Reflect.ownKeys(events)) if (key !== 'removeListener') this.removeAllListeners(key);
    this.removeAllListeners('removeListener');
    this._events = Object.create(null);
    this._eventsCount = 0;
    return this;
  }
  const list = events[type];
  if (typeof list === 'function') this.removeListener(type, list);
  else if (list !== undefined) for (let i = list.length - 1; i >= 0; i--) this.removeListener(type, list[i]);
  return this;
};

function listenersOf(emitter, type, unwraps) {
  const list = emitter._events?.[type];
  if (list === undefined) return [];
  const all = typeof list === 'function' ? [list] : list.slice();
  return unwraps ? all.map((each) => each.listener ?? each) : all;
}

EventEmitter.prototype.listeners = function listeners(type) {
  return listenersOf(this, type, true);
};
EventEmitter.prototype.rawListeners = function rawListeners(type) {
  return listenersOf(this, type, false);
};

function listenerCount(type, listener) {
  const list = this._events?.[type];
  if (list === undefined) return 0;
  if (listener !== undefined && listener !== null) {
    return listenersOf(this, type, false).filter((each) => each === listener || each.listener === listener).length;
  }
  return typeof list === 'function' ? 1 : list.length;
}
EventEmitter.prototype.listenerCount = listenerCount;

EventEmitter.prototype.eventNames = function eventNames() {
  return this._eventsCount > 0 ? Reflect.ownKeys(this._events) : [];
};

Object.defineProperties(EventEmitter, {
  defaultMaxListeners: {
    enumerable: true,
    get: () => defaultMaxListeners,
    set(n) { checkCount(n, 'defaultMaxListeners'); defaultMaxListeners = n; },
  },
  captureRejections: {
    enumerable: true,
    get: () => EventEmitter.prototype[kCapture],
    set(value) {
      require('internal/validators').validateBoolean(value, 'EventEmitter.captureRejections');
      EventEmitter.prototype[kCapture] = value;
    },
  },
});

Object.assign(EventEmitter, {
  EventEmitter,
  usingDomains: false,
  errorMonitor: kErrorMonitor,
  captureRejectionSymbol: kRejection,

  listenerCount: (emitter, type) => (typeof emitter.listenerCount === 'function'
    ? emitter.listenerCount(type) : listenerCount.call(emitter, type)),

  setMaxListeners(n = defaultMaxListeners, ...targets) {
    checkCount(n, 'n');
    if (targets.length === 0) {
      defaultMaxListeners = n;
      return;
    }
    for (const target of targets) {
      if (isEventTarget(target)) {
        target[kMaxListeners] = n;
        target[kWarned] = false;
      } else if (typeof target.setMaxListeners === 'function') {
        target.setMaxListeners(n);
      } else {
        throw new errors.codes.ERR_INVALID_ARG_TYPE('eventTargets', ['EventEmitter', 'EventTarget'], target);
      }
    }
  },

  getEventListeners(target, type) {
    if (typeof target.listeners === 'function') return target.listeners(type);
    if (isEventTarget(target)) return require('internal/event_target').listenersOf(target, type);
    throw new errors.codes.ERR_INVALID_ARG_TYPE('emitter', ['EventEmitter', 'EventTarget'], target);
  },

  getMaxListeners(target) {
    if (typeof target?.getMaxListeners === 'function') return maxListenersOf(target);
    if (isEventTarget(target)) return target[kMaxListeners] ?? defaultMaxListeners;
    throw new errors.codes.ERR_INVALID_ARG_TYPE('emitter', ['EventEmitter', 'EventTarget'], target);
  },

  // A promise even of wrong arguments.
  once: async (...args) => require('internal/events_async').once(...args),
  on: (...args) => require('internal/events_async').on(...args),
  addAbortListener: (...args) => require('internal/events_async').addAbortListener(...args),
});
// For event targets.
Object.defineProperties(EventEmitter, {
  kMaxEventTargetListeners: { value: kMaxListeners },
  kMaxEventTargetListenersWarned: { value: kWarned },
});

// Event targets are known by their methods, also those that are not ours.
function isEventTarget(value) {
  return typeof value?.addEventListener === 'function' && typeof value.removeEventListener === 'function';
}

Object.defineProperty(EventEmitter, 'EventEmitterAsyncResource', {
  get: () => require('internal/events_resource').EventEmitterAsyncResource,
  enumerable: true,
  configurable: true,
});

module.exports = EventEmitter;
