// What scripts know by this name: the messages of `http` that go out.
'use strict';

module.exports = require('internal/http/outgoing');
