// A tour of the event loop: what is called when, and why then.
//
//     oxuv examples/js/phases.js
'use strict';

const fs = require('node:fs');

const say = (phase, what) => console.log(`${phase.padEnd(12)}${what}`);

// Between any two callbacks, ticks are called first, then what promises have to do.
function addTickAndMicrotask(after) {
  queueMicrotask(() => say('  microtask', `after ${after}`));
  process.nextTick(() => say('  tick', `after ${after}`));
}

setTimeout(() => {
  say('timers', 'a timer that is due');
  addTickAndMicrotask('the timer');
}, 0);

setImmediate(() => {
  say('check', 'an immediate, which begins to read a file');
  // The work is done by another thread; the loop hears of its end in the phase poll.
  fs.readFile(__filename, fileWasRead);
  addTickAndMicrotask('the immediate');
});

function fileWasRead(error, bytes) {
  if (error) throw error;
  say('poll', `the file has been read: ${bytes.length > 1000 ? 'more' : 'less'} than 1000 bytes`);
  // From here the next phase is check, and timers come with the next turn.
  setTimeout(() => say('timers', 'a timer made in poll'), 0);
  setImmediate(() => say('check', 'an immediate made in poll'));
  addTickAndMicrotask('the file');
}

let isFirst = true;
process.on('beforeExit', () => {
  say('beforeExit', isFirst ? 'nothing is left to do; so here is something' : 'nothing is left to do, and it stays so');
  if (isFirst) setTimeout(() => say('timers', 'a timer made in beforeExit'), 1);
  isFirst = false;
});

process.on('exit', (code) => say('exit', `the end, with code ${code}`));

addTickAndMicrotask('the script');
// A timer of 0 ms is one of 1 ms. When the loop begins it is due.
for (const start = Date.now(); Date.now() - start < 5;);
say('script', 'from the first line to the last');
