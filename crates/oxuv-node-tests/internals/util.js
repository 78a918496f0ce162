// What tests take from Node's `internal/util`.
'use strict';

// Does nothing for so many milliseconds, and holds up the loop.
function sleep(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

module.exports = { sleep };
