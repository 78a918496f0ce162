// What scripts know by this name: the agents of `http`.
'use strict';

module.exports = require('internal/http/agent');
