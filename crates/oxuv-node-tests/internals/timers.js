// What tests take from Node's `internal/timers`.
'use strict';

// Where a socket has its time-out.
function findTimeout() {
  return Object.getOwnPropertySymbols(new (require('net').Socket)()).find((symbol) => symbol.description === 'timeout');
}

module.exports = {
  setUnrefTimeout: (callback, after) => setTimeout(callback, after).unref(),
  get kTimeout() { return findTimeout(); },
};
