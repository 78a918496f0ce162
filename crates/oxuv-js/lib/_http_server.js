// What scripts know by this name: the server of `http`.
'use strict';

const { Server, ServerResponse, STATUS_CODES, _connectionListener } = require('http');

module.exports = { Server, ServerResponse, STATUS_CODES, _connectionListener };
