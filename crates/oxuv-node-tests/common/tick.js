// Calls a function when so many turns of the loop have gone by.
'use strict';

module.exports = function tick(turns, callback) {
  setImmediate(() => {
    if (turns > 1) tick(turns - 1, callback);
    else callback?.();
  });
};
