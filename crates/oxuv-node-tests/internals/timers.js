// What tests take from Node's `internal/timers`.
'use strict';

module.exports = { setUnrefTimeout: (callback, after) => setTimeout(callback, after).unref() };
