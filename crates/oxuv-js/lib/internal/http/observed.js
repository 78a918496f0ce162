// What observers of performance and subscribers of channels hear of requests, if there are any.
'use strict';

const observed = require('internal/observed');

const kBegun = Symbol('begun');
// Nothing is made for subscribers where there are none.
const isHeard = () => observed.channels.size > 0;

function begin(message) {
  message[kBegun] = observed.begin();
}

function end(message, name, describe) {
  observed.end(message[kBegun], 'http', name, describe);
  message[kBegun] = undefined;
}

// A client's request is with the connection.
function requested(request) {
  if (isHeard()) observed.publish('http.client.request.start', { request });
}

// A server has got a request.
function began(request, response, socket, server) {
  begin(response);
  if (isHeard()) observed.publish('http.server.request.start', { request, response, socket, server });
}

// A server has answered.
function answered(response, socket, server) {
  if (isHeard()) observed.publish('http.server.response.finish', { request: response.req, response, socket, server });
  end(response, 'HttpRequest', () => ({
    req: { method: response.req.method, url: response.req.url, headers: response.req.headers },
    res: { statusCode: response.statusCode, statusMessage: response.statusMessage, headers: response.getHeaders() },
  }));
}

// A client has got an answer.
function responded(request, response) {
  if (isHeard()) observed.publish('http.client.response.finish', { request, response });
  end(request, 'HttpClient', () => ({
    req: { method: request.method, url: `${request.protocol}//${request.host}${request.path}`, headers: request.getHeaders() },
    res: { statusCode: response.statusCode, statusMessage: response.statusMessage, headers: response.headers },
  }));
}

module.exports = { begin, requested, began, answered, responded };
