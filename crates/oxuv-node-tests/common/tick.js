// What Node's tests require as `../common/tick`: a call after so many turns of the loop.
'use strict';

module.exports = function tick(turns, callback) {
  if (turns > 0) setImmediate(tick, turns - 1, callback);
  else callback();
};
