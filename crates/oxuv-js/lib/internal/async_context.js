// What follows a script's asynchronous steps: values that a callback, a promise's reaction or the code behind an `await` finds as they
// were where it was asked for. Nothing of this is there until somebody uses it.
//
// A frame is a map that is never changed, or undefined. `bind` keeps the frame of now for a function. With promises that is what `then`
// does from `activate` on. `await` calls no function of ours when it goes on, but it looks at the promise's `constructor` when it begins:
// there we add a reaction of our own, which comes right before its, and leaves the frame for it. And where it makes a promise of its own,
// as of `await 1`, the engine tells us when that is resolved.
'use strict';

const engine = binding('engine');
const process = require('process');
const ticks = require('ticks');

let frame;
let isActive = false;

// True while a promise is looked at by our own functions, or by those of Promise that are no `await`.
let isOurs = false;

// The frames in which promises were made. Promises of our own do not count.
const frames = new WeakMap();
const OURS = new Map();

function runIn(wanted, callback, self, args) {
  const before = frame;
  frame = wanted;
  try {
    return Reflect.apply(callback, self, args);
  } finally {
    frame = before;
  }
}

function bind(callback) {
  const wanted = frame;
  return function(...args) {
    return runIn(wanted, callback, this, args);
  };
}

const bindIfFunction = (value) => (typeof value === 'function' ? bind(value) : value);

function quietly(callback) {
  const before = isOurs;
  isOurs = true;
  try {
    return callback();
  } finally {
    isOurs = before;
  }
}

const [INIT, BEFORE, RESOLVE] = [0, 1, 3];

// What the engine tells of promises.
function watch(kind, promise) {
  if (kind === INIT) {
    if (isOurs) frames.set(promise, OURS);
    else if (frame !== undefined) frames.set(promise, frame);
  } else if (kind === BEFORE) {
    // The `then` of something else is called.
    frame = frames.get(promise);
  } else if (kind === RESOLVE) {
    const wanted = frames.get(promise);
    if (wanted !== OURS) ticks.enqueue(() => { frame = wanted; });
  }
}

function activate() {
  if (isActive) return;
  isActive = true;
  const { prototype } = Promise;
  const { then } = prototype;
  const { resolve, reject } = Promise;
  const hidden = (value) => ({ value, writable: true, enumerable: false, configurable: true });
  Object.defineProperty(prototype, 'then', hidden({
    then(onFulfilled, onRejected) {
      const bound = [bindIfFunction(onFulfilled), bindIfFunction(onRejected)];
      return quietly(() => Reflect.apply(then, this, bound));
    },
  }.then));
  Object.defineProperty(prototype, 'constructor', {
    get() {
      if (!isOurs && this !== prototype) {
        const wanted = frame;
        const restore = () => { frame = wanted; };
        quietly(() => Reflect.apply(then, this, [restore, restore]));
      }
      return Promise;
    },
    set(value) { Object.defineProperty(this, 'constructor', hidden(value)); },
    enumerable: false,
    configurable: true,
  });
  // These look at the constructor, too.
  const statics = {
    resolve(value) { return quietly(() => Reflect.apply(resolve, this, [value])); },
    reject(value) { return quietly(() => Reflect.apply(reject, this, [value])); },
  };
  for (const name of ['resolve', 'reject']) Object.defineProperty(Promise, name, hidden(statics[name]));
  engine.watchPromises(watch, bind);
  // Ticks, timers and requests keep the frame from now on.
  process._own.bind = bind;
  ticks.follow(bind, () => { frame = undefined; });
}

module.exports = {
  activate,
  bind,
  current: () => frame,
  runIn,
  // From here on, to the end of the step.
  enter(wanted) { frame = wanted; },
};
