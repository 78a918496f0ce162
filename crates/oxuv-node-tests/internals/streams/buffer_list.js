'use strict';

const { Readable } = require('stream');

module.exports = new Readable()._readableState.buffer.constructor;
