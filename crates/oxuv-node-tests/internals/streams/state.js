// What tests take from Node's `internal/streams/state`.
'use strict';

const { Readable } = require('stream');

module.exports = {
  getDefaultHighWaterMark: (objectMode) => new Readable({ objectMode }).readableHighWaterMark,
};
