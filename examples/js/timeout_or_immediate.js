// Which comes first, a timeout of 0 ms or an immediate?
//
//     oxuv examples/js/timeout_or_immediate.js
'use strict';

const fs = require('node:fs');

function race(from, whenBothCame) {
  const came = [];
  const arrive = (name) => () => {
    if (came.push(name) < 2) return;
    console.log(`${from}: the ${came[0]} comes first`);
    whenBothCame?.();
  };
  setTimeout(arrive('timeout'), 0);
  setImmediate(arrive('immediate'));
}

// From the script itself it depends on the machine: 0 ms are 1 ms, and they have gone by when the loop begins, or not.
race('from the script', () => {
  // From a file's callback it is certain: that is called in the phase poll, and check comes next, before timers.
  fs.stat(__filename, (error) => {
    if (error) throw error;
    race('from the callback of a file');
  });
});
