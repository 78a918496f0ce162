// What needs several requests is written once, as a generator. It yields
// * requests, and gets their results;
// * numbers: so many milliseconds to wait;
// * promises, in the asynchronous form only.
'use strict';

const { reasonOf, start, sync } = require('internal/fs/util');

const pause = (ms) => binding('fs').pause(ms);

function runSync(steps) {
  let next = steps.next();
  while (!next.done) {
    let value;
    try {
      value = typeof next.value === 'number' ? pause(next.value) : sync(next.value);
    } catch (error) {
      next = steps.throw(error);
      continue;
    }
    next = steps.next(value);
  }
  return next.value;
}

// Calls `done` with an error or `null`, and the result if there is one.
function run(steps, done) {
  const step = (method, given) => {
    let next;
    try {
      next = steps[method](given);
    } catch (error) {
      done(reasonOf(error));
      return;
    }
    const { value } = next;
    if (next.done) {
      if (value === undefined) done(null);
      else done(null, value);
    } else if (typeof value === 'number') {
      setTimeout(step, value, 'next');
    } else if (typeof value.then === 'function') {
      value.then((found) => step('next', found), (error) => step('throw', error));
    } else {
      start(value, (error, found) => {
        if (error === null) step('next', found);
        else step('throw', error);
      });
    }
  };
  step('next');
}

const promise = (method) => (...args) => new Promise((resolve, reject) => {
  method(...args, (error, value) => { if (error) reject(error); else resolve(value); });
});

module.exports = { run, runSync, promise };
