'use strict';

module.exports = require('stream').Readable;
