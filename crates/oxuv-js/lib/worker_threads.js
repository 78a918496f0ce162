// Scripts on threads of their own, and messages between them.
'use strict';

const { markAsUntransferable } = require('internal/messages');
const { MessagePort, MessageChannel, receiveMessageOnPort } = require('internal/message_port');
const { codes } = require('internal/codes');
const state = require('internal/worker_state');

function setEnvironmentData(key, value) {
  if (value === undefined) state.environmentData.delete(key);
  else state.environmentData.set(key, value);
}

// There is one context only.
function moveMessagePortToContext(port) {
  if (!(port instanceof MessagePort)) throw new codes.ERR_INVALID_ARG_TYPE('port', 'MessagePort', port);
  if (!port._native?.isOpen) throw new codes.ERR_CLOSED_MESSAGE_PORT();
  return port;
}

module.exports = {
  isMainThread: state.isMainThread,
  threadId: state.threadId,
  parentPort: state.parentPort,
  workerData: state.workerData,
  resourceLimits: state.resourceLimits,
  SHARE_ENV: state.SHARE_ENV,
  MessagePort,
  MessageChannel,
  markAsUntransferable,
  moveMessagePortToContext,
  receiveMessageOnPort,
  setEnvironmentData,
  getEnvironmentData: (key) => state.environmentData.get(key),
  get Worker() { return require('internal/worker').Worker; },
  get BroadcastChannel() { return require('internal/broadcast_channel').BroadcastChannel; },
};
