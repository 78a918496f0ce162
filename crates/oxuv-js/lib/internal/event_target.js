// Event, CustomEvent and EventTarget.
'use strict';

const process = require('process');
const { codes } = require('internal/codes');
const { validateObject } = require('internal/validators');
const { kMaxEventTargetListeners: kMax, kMaxEventTargetListenersWarned: kWarned } = require('events');

const custom = Symbol.for('nodejs.util.inspect.custom');
const isObject = (value) => value !== null && typeof value === 'object';

function show(self, properties, depth, options) {
  const name = self.constructor.name;
  if (depth < 0) return name;
  const { inspect } = require('internal/inspect');
  return `${name} ${inspect(properties, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
}

const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };

class Event {
  #type;
  #bubbles;
  #cancelable;
  #composed;
  #isPrevented = false;
  #timeStamp;
  #isStopped = false;
  #stopsPropagation = false;
  #target = null;
  #isDispatched = false;
  #isPassive = false;

  constructor(type, options = undefined) {
    if (arguments.length === 0) throw new codes.ERR_MISSING_ARGS('type');
    if (options != null) validateObject(options, 'options', { allowArray: true, allowFunction: true });
    this.#type = `${type}`;
    this.#bubbles = !!options?.bubbles;
    this.#cancelable = !!options?.cancelable;
    this.#composed = !!options?.composed;
    this.#timeStamp = globalThis.performance.now();
    Object.defineProperty(this, 'isTrusted', { get: isTrusted, enumerable: true, configurable: false });
  }

  static #of(value) {
    if (!isObject(value) || !(#type in value)) throw new codes.ERR_INVALID_THIS('Event');
    return value;
  }

  get type() { return Event.#of(this).#type; }
  get target() { return Event.#of(this).#target; }
  get srcElement() { return Event.#of(this).#target; }
  get currentTarget() { return Event.#of(this).#isDispatched ? this.#target : null; }
  get cancelable() { return Event.#of(this).#cancelable; }
  get defaultPrevented() { return Event.#of(this).#cancelable && this.#isPrevented; }
  get returnValue() { return !Event.#of(this).#cancelable || !this.#isPrevented; }
  set returnValue(value) { if (!value) this.preventDefault(); }
  get timeStamp() { return Event.#of(this).#timeStamp; }
  get bubbles() { return Event.#of(this).#bubbles; }
  get composed() { return Event.#of(this).#composed; }
  get eventPhase() { return Event.#of(this).#isDispatched ? PHASES.AT_TARGET : PHASES.NONE; }
  get cancelBubble() { return Event.#of(this).#stopsPropagation; }
  set cancelBubble(value) { if (value) Event.#of(this).#stopsPropagation = true; }

  composedPath() { return Event.#of(this).#isDispatched ? [this.#target] : []; }
  preventDefault() { if (!Event.#of(this).#isPassive) this.#isPrevented = true; }
  stopPropagation() { Event.#of(this).#stopsPropagation = true; }
  stopImmediatePropagation() {
    Event.#of(this).#isStopped = true;
    this.#stopsPropagation = true;
  }
  initEvent(type, bubbles = false, cancelable = false) {
    if (arguments.length === 0) throw new codes.ERR_MISSING_ARGS('type');
    if (Event.#of(this).#isDispatched) return;
    this.#type = `${type}`;
    this.#bubbles = !!bubbles;
    this.#cancelable = !!cancelable;
  }

  [custom](depth, options) {
    const { type, defaultPrevented, cancelable, timeStamp } = Event.#of(this);
    return show(this, { type, defaultPrevented, cancelable, timeStamp }, depth, options);
  }

  // For the dispatch alone: on its way to a target, there, and done.
  static {
    const internal = {
      isEvent: (value) => isObject(value) && #type in value,
      isDispatched: (event) => event.#isDispatched,
      begin(event, target) { event.#target = target; event.#isDispatched = true; },
      isStopped: (event) => event.#isStopped,
      setPassive(event, isPassive) { event.#isPassive = isPassive; },
      finish(event) { event.#isDispatched = false; },
    };
    Event.internal = internal;
  }
}
const { internal } = Event;
delete Event.internal;

// Events that the library itself sends.
const trusted = new WeakSet();
function isTrusted() { return trusted.has(this); }

Object.defineProperties(Event.prototype, {
  [Symbol.toStringTag]: { value: 'Event', configurable: true },
  ...Object.fromEntries(['type', 'target', 'srcElement', 'currentTarget', 'cancelable', 'defaultPrevented', 'returnValue', 'timeStamp',
    'bubbles', 'composed', 'eventPhase', 'cancelBubble', 'composedPath', 'preventDefault', 'stopPropagation',
    'stopImmediatePropagation', 'initEvent'].map((key) => [key, { enumerable: true }])),
});
for (const [name, value] of Object.entries(PHASES)) {
  Object.defineProperty(Event, name, { value, enumerable: true });
  Object.defineProperty(Event.prototype, name, { value, enumerable: true });
}

class CustomEvent extends Event {
  #detail;

  constructor(type, options = undefined) {
    if (arguments.length === 0) throw new codes.ERR_MISSING_ARGS('type');
    super(type, options);
    this.#detail = options?.detail ?? null;
  }

  get detail() {
    if (!isObject(this) || !(#detail in this)) throw new codes.ERR_INVALID_THIS('CustomEvent');
    return this.#detail;
  }
}
Object.defineProperty(CustomEvent.prototype, Symbol.toStringTag, { value: 'CustomEvent', configurable: true });
Object.defineProperty(CustomEvent.prototype, 'detail', { enumerable: true });

// The listeners of each type, in the order in which they were added.
const kListeners = Symbol('kEvents');
// A function that hears of each change: abort signals watch whether anybody listens.
const kChanged = Symbol('kChanged');

// An option: the listener lives as long as this object, and the target holds neither.
const kWeak = Symbol.for('oxuv.weakListener');
// What keeps such listeners alive, by that object.
const keepers = new WeakMap();

class Entry {
  #listener;

  constructor(listener, { once, capture, passive, [kWeak]: keeper }) {
    this.once = !!once;
    this.capture = !!capture;
    this.passive = !!passive;
    this.isWeak = keeper !== undefined && keeper !== null;
    this.isRemoved = false;
    this.#listener = this.isWeak ? new WeakRef(listener) : listener;
    if (!this.isWeak) return;
    if (keepers.has(keeper)) keepers.get(keeper).push(listener);
    else keepers.set(keeper, [listener]);
  }

  // Undefined when nobody holds it any more.
  get listener() { return this.isWeak ? this.#listener.deref() : this.#listener; }
}

// How many listeners hold what they listen to.
const strong = (list) => list.reduce((count, entry) => count + !entry.isWeak, 0);

function checkedListener(listener) {
  if (typeof listener === 'function' || (isObject(listener))) return true;
  if (listener === null || listener === undefined) return false;
  throw new codes.ERR_INVALID_ARG_TYPE('listener', 'EventListener', listener);
}

function checkTarget(value) {
  if (!isObject(value) || value[kListeners] === undefined) throw new codes.ERR_INVALID_THIS('EventTarget');
}

class EventTarget {
  constructor() {
    prepare(this);
  }

  addEventListener(type, listener, options = undefined) {
    checkTarget(this);
    if (arguments.length < 2) throw new codes.ERR_MISSING_ARGS('type', 'listener');
    let flags = options;
    if (typeof options === 'boolean') flags = { capture: options };
    else if (options == null) flags = {};
    else validateObject(options, 'options', { allowArray: true, allowFunction: true });
    const { once, capture, passive, signal } = flags;
    if (!checkedListener(listener)) {
      const warning = new Error(`addEventListener called with ${listener === null ? 'null' : 'undefined'} which has no effect.`);
      warning.name = 'AddEventListenerArgumentTypeWarning';
      warning.target = this;
      warning.type = type;
      process.emitWarning(warning);
      return;
    }
    type = `${type}`;
    if ('signal' in flags && signal !== undefined) {
      require('internal/validators').validateAbortSignal(signal, 'options.signal');
      if (signal === null) throw new codes.ERR_INVALID_ARG_TYPE('options.signal', 'AbortSignal', signal);
      if (signal.aborted) return;
      signal.addEventListener('abort', () => { this.removeEventListener(type, listener, flags); }, { once: true, [kWeak]: this });
    }
    const all = this[kListeners];
    let list = all.get(type);
    if (list === undefined) all.set(type, list = []);
    if (list.some((each) => each.listener === listener && each.capture === !!capture)) return;
    list.push(new Entry(listener, { once, capture, passive, [kWeak]: flags[kWeak] }));
    warnOfMany(this, type, list.length);
    this[kChanged]?.(type, strong(list));
  }

  removeEventListener(type, listener, options = undefined) {
    checkTarget(this);
    if (arguments.length < 2) throw new codes.ERR_MISSING_ARGS('type', 'listener');
    if (!checkedListener(listener)) return;
    const capture = typeof options === 'boolean' ? options : !!options?.capture;
    removeWhere(this, `${type}`, (each) => each.listener === listener && each.capture === capture);
  }

  dispatchEvent(event) {
    checkTarget(this);
    if (!internal.isEvent(event)) throw new codes.ERR_INVALID_ARG_TYPE('event', 'Event', event);
    if (internal.isDispatched(event)) throw new codes.ERR_EVENT_RECURSION(event.type);
    dispatch(this, event);
    return !event.defaultPrevented;
  }

  [custom](depth, options) {
    checkTarget(this);
    return show(this, {}, depth, options);
  }
}
Object.defineProperties(EventTarget.prototype, {
  [Symbol.toStringTag]: { value: 'EventTarget', configurable: true },
  addEventListener: { enumerable: true },
  removeEventListener: { enumerable: true },
  dispatchEvent: { enumerable: true },
});

function prepare(target) {
  target[kListeners] = new Map();
  target[kMax] = undefined;
  target[kWarned] = false;
}

function warnOfMany(target, type, count) {
  const most = target[kMax] ?? require('events').defaultMaxListeners;
  if (most === 0 || count <= most || target[kWarned]) return;
  target[kWarned] = true;
  const { inspect } = require('internal/inspect');
  const warning = new Error(`Possible EventTarget memory leak detected. ${count} ${type} listeners added to ` +
    `${inspect(target, { depth: -1 })}. Use events.setMaxListeners() to increase limit`);
  Object.assign(warning, { name: 'MaxListenersExceededWarning', target, type, count });
  process.emitWarning(warning);
}

function removeWhere(target, type, matches) {
  const list = target[kListeners].get(type);
  const at = list === undefined ? -1 : list.findIndex(matches);
  if (at < 0) return;
  list[at].isRemoved = true;
  list.splice(at, 1);
  if (list.length === 0) target[kListeners].delete(type);
  target[kChanged]?.(type, strong(list));
}

// What a listener throws is nobody's business but the process's; the other listeners are called all the same.
const rethrow = (error) => { process.nextTick(() => { throw error; }); };

function dispatch(target, event) {
  const { type } = event;
  const list = target[kListeners].get(type);
  internal.begin(event, target);
  for (const entry of list === undefined ? [] : list.slice()) {
    // It may have been stopped before it was dispatched.
    if (internal.isStopped(event)) break;
    if (entry.isRemoved) continue;
    if (entry.once) removeWhere(target, type, (each) => each === entry);
    internal.setPassive(event, entry.passive);
    try {
      const { listener } = entry;
      const result = typeof listener === 'function' ? listener.call(target, event) : listener?.handleEvent?.(event);
      if (result !== undefined && result !== null && typeof result.then === 'function') result.then(undefined, rethrow);
    } catch (error) {
      rethrow(error);
    }
    internal.setPassive(event, false);
  }
  internal.finish(event);
}

function listenersOf(target, type) {
  return (target[kListeners]?.get(`${type}`) ?? []).map(({ listener }) => listener).filter((listener) => listener !== undefined);
}

// A property such as `onabort`: a listener that keeps its place when it is replaced.
function defineHandler(prototype, type) {
  const handlers = new WeakMap();
  Object.defineProperty(prototype, `on${type}`, {
    get() { return handlers.get(this)?.handler ?? null; },
    set(handler) {
      const known = handlers.get(this);
      const isCallable = typeof handler === 'function' || isObject(handler);
      if (known === undefined && isCallable) {
        const wrapper = (event) => (typeof entry.handler === 'function' ? entry.handler.call(this, event) : undefined);
        const entry = { handler, wrapper };
        handlers.set(this, entry);
        this.addEventListener(type, wrapper);
      } else if (known !== undefined && isCallable) {
        known.handler = handler;
      } else if (known !== undefined) {
        this.removeEventListener(type, known.wrapper);
        handlers.delete(this);
      }
    },
    enumerable: true,
    configurable: true,
  });
}

module.exports = { Event, CustomEvent, EventTarget, prepare, listenersOf, namesOf: (target) => [...target[kListeners].keys()], defineHandler, show, kChanged, dispatch, trusted };
