// A system of events made by hand: the emitter calls its listeners at once, and the loop calls those who can wait.
//
//     oxuv examples/js/event_system.js
'use strict';

class EventSystem {
  #listeners = new Map();
  #queue = [];

  on(name, listener) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, []);
    this.#listeners.get(name).push(listener);
    // What undoes it.
    return () => this.off(name, listener);
  }

  once(name, listener) {
    const off = this.on(name, (...args) => {
      off();
      listener(...args);
    });
    return off;
  }

  off(name, listener) {
    const rest = (this.#listeners.get(name) ?? []).filter((each) => each !== listener);
    this.#listeners.set(name, rest);
  }

  // Calls the listeners before it comes back. How many there were.
  emit(name, ...args) {
    const listeners = this.#listeners.get(name) ?? [];
    for (const listener of listeners) listener(...args);
    return listeners.length;
  }

  // Leaves it to the loop: what is posted in one go is emitted in one go, in the phase check.
  post(name, ...args) {
    if (this.#queue.push([name, args]) === 1) setImmediate(() => this.#deliver());
  }

  #deliver() {
    const queue = this.#queue;
    this.#queue = [];
    for (const [name, args] of queue) this.emit(name, ...args);
  }
}

const system = new EventSystem();
const off = system.on('greet', (name) => console.log(`hello, ${name}`));
system.once('greet', () => console.log('the first greeting'));

console.log('before emit');
system.emit('greet', 'Ada');
console.log('after emit');

system.post('greet', 'Grace');
system.post('bye', 'Grace');
system.on('bye', (name) => {
  console.log(`bye, ${name}`);
  off();
  console.log('listeners to greetings:', system.emit('greet', 'nobody'));
});
console.log('after post');
