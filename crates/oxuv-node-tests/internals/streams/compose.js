'use strict';

module.exports = require('stream').compose;
