// Calls a function when something has happened often enough.
'use strict';

const assert = require('assert');
const { mustCall } = require('./');

class Countdown {
  constructor(remaining, callback) {
    assert.strictEqual(typeof remaining, 'number');
    assert.strictEqual(typeof callback, 'function');
    this.remaining = remaining;
    this.callback = mustCall(callback);
  }

  dec() {
    assert(this.remaining > 0, 'Countdown expired');
    if (--this.remaining === 0) this.callback();
    return this.remaining;
  }
}

module.exports = Countdown;
