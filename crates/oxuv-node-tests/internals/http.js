// What tests take from Node's `internal/http`.
'use strict';

const { OutgoingMessage } = require('http');

// Where a message has its headers.
const kOutHeaders = Object.getOwnPropertySymbols(OutgoingMessage.prototype).find((symbol) => symbol.description === 'kOutHeaders');

module.exports = { kOutHeaders };
