// Who wants to hear of what the library does: observers of performance, and subscribers of channels. What tells them loads this
// alone, and there is nobody as a rule.
'use strict';

// `tell(entry)`, while somebody observes.
const watchers = { tell: undefined };
// The channels of `diagnostics_channel`, by their names. There are none until somebody has asked for one.
const channels = new Map();

const now = () => require('internal/performance').performance.now();

// The time at which something begins; undefined if nobody observes.
const begin = () => (watchers.tell === undefined ? undefined : now());

// Tells of what began then; `describe()` gives the entry's detail.
function end(begun, type, name, describe) {
  if (begun === undefined || watchers.tell === undefined) return;
  const { internal: { make } } = require('internal/performance');
  watchers.tell(make(name, type, begun, now() - begun, describe()));
}

function publish(name, message) {
  if (channels.size > 0) channels.get(name)?.publish(message);
}

module.exports = { watchers, channels, begin, end, publish };
