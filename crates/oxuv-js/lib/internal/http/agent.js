// Agents: they keep a client's connections, and hand them to its requests.
'use strict';

const net = require('net');
const EventEmitter = require('events');
const { codes } = require('internal/codes');
const { validateNumber, validateOneOf } = require('internal/validators');

// The options with which a request that waits is to be connected.
const kRequestOptions = Symbol('requestOptions');

function Agent(options) {
  if (!(this instanceof Agent)) return new Agent(options);
  EventEmitter.call(this);
  this.defaultPort = 80;
  this.protocol = 'http:';
  this.options = { __proto__: null, ...options };
  this.options.noDelay ??= true;
  // That of a request is none of the socket's.
  this.options.path = null;
  // By the names of their places: requests that wait, sockets in use and sockets without use.
  this.requests = { __proto__: null };
  this.sockets = { __proto__: null };
  this.freeSockets = { __proto__: null };
  this.keepAliveMsecs = this.options.keepAliveMsecs || 1000;
  this.keepAlive = this.options.keepAlive || false;
  this.maxSockets = this.options.maxSockets || Agent.defaultMaxSockets;
  this.maxFreeSockets = this.options.maxFreeSockets || 256;
  this.scheduling = this.options.scheduling || 'lifo';
  this.maxTotalSockets = this.options.maxTotalSockets;
  this.totalSocketCount = 0;
  validateOneOf(this.scheduling, 'scheduling', ['fifo', 'lifo']);
  checkMost(this);
  this.on('free', onFree);
}
Object.setPrototypeOf(Agent.prototype, EventEmitter.prototype);
Object.setPrototypeOf(Agent, EventEmitter);

Agent.defaultMaxSockets = Infinity;

function checkMost(agent) {
  const most = agent.maxTotalSockets;
  if (most === undefined) {
    agent.maxTotalSockets = Infinity;
    return;
  }
  validateNumber(most, 'maxTotalSockets');
  if (most <= 0 || Number.isNaN(most)) throw new codes.ERR_OUT_OF_RANGE('maxTotalSockets', '> 0', most);
}

// A request is done with its socket: the next one gets it, or it is kept, or it goes.
function onFree(socket, options) {
  const name = this.getName(options);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const waiting = this.requests[name];
  if (waiting && waiting.length > 0) {
    const request = waiting.shift();
    setRequestSocket(this, request, socket);
    if (waiting.length === 0) delete this.requests[name];
  } else if (!keep(this, socket, options, name)) {
    socket.destroy();
  }
}

function keep(agent, socket, options, name) {
  const request = socket._httpMessage;
  if (!request || !request.shouldKeepAlive || !agent.keepAlive) return false;
  const free = agent.freeSockets[name] || [];
  const count = free.length + (agent.sockets[name]?.length ?? 0);
  if (agent.totalSocketCount > agent.maxTotalSockets || count > agent.maxSockets || free.length >= agent.maxFreeSockets ||
      !agent.keepSocketAlive(socket)) return false;
  agent.freeSockets[name] = free;
  socket._httpMessage = null;
  agent.removeSocket(socket, options);
  socket.once('error', onFreeSocketError);
  free.push(socket);
  return true;
}

// Nobody uses it, so nobody is told.
function onFreeSocketError() {
  this.destroy();
  this.emit('agentRemove');
}

function setRequestSocket(agent, request, socket) {
  request.onSocket(socket);
  const agentTimeout = agent.options.timeout || 0;
  if (request.timeout === undefined || request.timeout === agentTimeout) return;
  socket.setTimeout(request.timeout);
}

const { prototype } = Agent;

prototype.createConnection = net.createConnection;

// The name of the place that a socket with these options is connected to.
prototype.getName = function getName(options = {}) {
  let name = `${options.host || 'localhost'}:${options.port || ''}:${options.localAddress || ''}`;
  if (options.family === 4 || options.family === 6) name += `:${options.family}`;
  if (options.socketPath) name += `:${options.socketPath}`;
  return name;
};

function merged(agent, options) {
  const all = { __proto__: null, ...options, ...agent.options };
  if (all.socketPath) all.path = all.socketPath;
  return all;
}

prototype.addRequest = function addRequest(request, options, port, localAddress) {
  // An older form.
  if (typeof options === 'string') options = { __proto__: null, host: options, port, localAddress };
  options = merged(this, options);
  const name = this.getName(options);
  const inUse = this.sockets[name] ??= [];
  const free = this.freeSockets[name];
  const socket = takeFree(this, name);
  if (socket) {
    this.reuseSocket(socket, request);
    setRequestSocket(this, request, socket);
    inUse.push(socket);
  } else if ((free?.length ?? 0) + inUse.length < this.maxSockets && this.totalSocketCount < this.maxTotalSockets) {
    this.createSocket(request, options, (error, made) => {
      if (error) request.onSocket(made, error);
      else setRequestSocket(this, request, made);
    });
  } else {
    request[kRequestOptions] = options;
    (this.requests[name] ??= []).push(request);
  }
};

function takeFree(agent, name) {
  const free = agent.freeSockets[name];
  if (!free) return undefined;
  while (free.length > 0 && free[0].destroyed) free.shift();
  const socket = agent.scheduling === 'fifo' ? free.shift() : free.pop();
  if (free.length === 0) delete agent.freeSockets[name];
  return socket;
}

prototype.createSocket = function createSocket(request, options, callback) {
  options = merged(this, options);
  const name = this.getName(options);
  options._agentKey = name;
  options.encoding = null;
  let isDone = false;
  const done = (error, socket) => {
    if (isDone) return;
    isDone = true;
    if (error) {
      callback(error);
      return;
    }
    (this.sockets[name] ??= []).push(socket);
    this.totalSocketCount++;
    listen(this, socket, options);
    callback(null, socket);
  };
  if (this.keepAlive) {
    options.keepAlive = this.keepAlive;
    options.keepAliveInitialDelay = this.keepAliveMsecs;
  }
  const socket = this.createConnection(options, done);
  if (socket) done(null, socket);
};

function listen(agent, socket, options) {
  const onSocketFree = () => agent.emit('free', socket, options);
  const onClose = () => {
    agent.totalSocketCount--;
    agent.removeSocket(socket, options);
  };
  // Without use it need not be kept.
  const onTimeout = () => {
    if (Object.values(agent.freeSockets).some((free) => free.includes(socket))) socket.destroy();
  };
  // Somebody has taken it over: another protocol.
  const onRemove = () => {
    onClose();
    socket.removeListener('free', onSocketFree);
    socket.removeListener('close', onClose);
    socket.removeListener('timeout', onTimeout);
    socket.removeListener('agentRemove', onRemove);
  };
  socket.on('free', onSocketFree);
  socket.on('close', onClose);
  socket.on('timeout', onTimeout);
  socket.on('agentRemove', onRemove);
}

prototype.removeSocket = function removeSocket(socket, options) {
  const name = this.getName(options);
  const sets = socket.writable ? [this.sockets] : [this.sockets, this.freeSockets];
  for (const set of sets) {
    const at = set[name] ? set[name].indexOf(socket) : -1;
    if (at < 0) continue;
    set[name].splice(at, 1);
    if (set[name].length === 0) delete set[name];
  }
  connectNext(this, name, options);
};

// There is room for a socket: a request that waits gets a new one.
function connectNext(agent, name, options) {
  let request = agent.requests[name]?.[0];
  if (request === undefined) {
    const [other] = Object.keys(agent.requests);
    if (other === undefined || agent.sockets[other]?.length) return;
    request = agent.requests[other][0];
    options = request[kRequestOptions];
  }
  if (!request || !options) return;
  request[kRequestOptions] = undefined;
  agent.createSocket(request, options, (error, socket) => {
    if (error) request.onSocket(null, error);
    else socket.emit('free');
  });
}

prototype.keepSocketAlive = function keepSocketAlive(socket) {
  socket.setKeepAlive(true, this.keepAliveMsecs);
  socket.unref();
  const timeout = this.options.timeout || 0;
  if (socket.timeout !== timeout) socket.setTimeout(timeout);
  return true;
};

prototype.reuseSocket = function reuseSocket(socket, request) {
  socket.removeListener('error', onFreeSocketError);
  request.reusedSocket = true;
  socket.ref();
};

prototype.destroy = function destroy() {
  for (const set of [this.freeSockets, this.sockets]) {
    for (const name of Object.keys(set)) for (const socket of [...set[name]]) socket.destroy();
  }
};

module.exports = { Agent, globalAgent: new Agent() };
