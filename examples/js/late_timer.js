// A timer says when its callback is called at the earliest: here something else is under way at that time.
//
//     oxuv examples/js/late_timer.js
'use strict';

const fs = require('node:fs');

const start = Date.now();
const passed = () => Date.now() - start;

setTimeout(() => console.log(`the timer of 100 ms is called after ${passed()} ms`), 100);

// Reads a file, over and over, until this takes so many milliseconds. The loop goes on meanwhile: timers could be called.
function read(ms, done) {
  fs.readFile(__filename, (error) => {
    if (error) throw error;
    if (passed() < ms) read(ms, done);
    else done();
  });
}

read(95, () => {
  console.log(`the file is read after ${passed()} ms; its callback takes 10 ms`);
  // The loop waits for this: there is one thread for all callbacks.
  for (const begin = Date.now(); Date.now() - begin < 10;);
});
