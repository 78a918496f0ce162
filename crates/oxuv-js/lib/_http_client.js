// What scripts know by this name: the requests of clients of `http`.
'use strict';

const { ClientRequest } = require('http');

module.exports = { ClientRequest };
