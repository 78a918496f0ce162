// The module `http`: servers and clients of HTTP/1.1.
'use strict';

const { validateInteger } = require('internal/validators');
const { methods, parsers, MAX_HEADER_SIZE } = require('internal/http/parser');
const { validateHeaderName, validateHeaderValue } = require('internal/http/common');
const { IncomingMessage } = require('internal/http/incoming');
const { OutgoingMessage } = require('internal/http/outgoing');
const { ServerResponse } = require('internal/http/response');
const { Server } = require('internal/http/server');
const agents = require('internal/http/agent');
const { ClientRequest } = require('internal/http/client');

if (/(?:^|,)\s*http\s*(?:,|$)/i.test(process.env.NODE_DEBUG)) {
  process.emitWarning("Setting the NODE_DEBUG environment variable to 'http' can expose sensitive data " +
    '(such as passwords, tokens and authentication headers) in the resulting log.');
}

function createServer(options, requestListener) {
  return new Server(options, requestListener);
}

function request(url, options, callback) {
  return new ClientRequest(url, options, callback);
}

function get(url, options, callback) {
  const sent = request(url, options, callback);
  sent.end();
  return sent;
}

module.exports = {
  _connectionListener: require('internal/http/connection').serveConnection,
  METHODS: [...methods].sort(),
  STATUS_CODES: require('internal/http/status'),
  Agent: agents.Agent,
  ClientRequest,
  IncomingMessage,
  OutgoingMessage,
  Server,
  ServerResponse,
  createServer,
  validateHeaderName,
  validateHeaderValue,
  get,
  request,
  setMaxIdleHTTPParsers(max) {
    validateInteger(max, 'max', 1);
    parsers.max = max;
  },
};

Object.defineProperties(module.exports, {
  maxHeaderSize: { __proto__: null, get: () => MAX_HEADER_SIZE, configurable: true, enumerable: true },
  globalAgent: {
    __proto__: null,
    get: () => agents.globalAgent,
    set(value) { agents.globalAgent = value; },
    configurable: true,
    enumerable: true,
  },
});
