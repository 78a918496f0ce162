// What a PerformanceObserver hears of requests, if there is one.
'use strict';

const { internal: { make, watchers } } = require('internal/performance');
const now = performance.now;

const kBegun = Symbol('begun');

function begin(message) {
  if (watchers.tell !== undefined) message[kBegun] = now();
}

function end(message, name, describe) {
  if (message[kBegun] === undefined || watchers.tell === undefined) return;
  watchers.tell(make(name, 'http', message[kBegun], now() - message[kBegun], describe()));
  message[kBegun] = undefined;
}

// A server has answered.
function answered(response) {
  end(response, 'HttpRequest', () => ({
    req: { method: response.req.method, url: response.req.url, headers: response.req.headers },
    res: { statusCode: response.statusCode, statusMessage: response.statusMessage, headers: response.getHeaders() },
  }));
}

// A client has got an answer.
function responded(request, response) {
  end(request, 'HttpClient', () => ({
    req: { method: request.method, url: `${request.protocol}//${request.host}${request.path}`, headers: request.getHeaders() },
    res: { statusCode: response.statusCode, statusMessage: response.statusMessage, headers: response.headers },
  }));
}

module.exports = { begin, answered, responded };
