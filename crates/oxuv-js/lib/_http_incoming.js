// What scripts know by this name: the messages of `http` that come in.
'use strict';

module.exports = require('internal/http/incoming');
