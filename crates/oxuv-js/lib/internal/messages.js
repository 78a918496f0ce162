// Values on their way from one port to another: bytes, the contents of buffers that are handed over, and ports.
'use strict';

const types = require('internal/types');
const { codes } = require('internal/codes');
const { Serializer, TAG } = require('internal/serializer');
const { kCheck, kClone, kTransfer } = require('internal/transferable');
const { threadId } = require('internal/worker_state');

const fail = (text) => { throw new DOMException(text, 'DataCloneError'); };

// Objects that a script has said to stay.
const untransferable = new WeakSet();

function markAsUntransferable(object) {
  if ((typeof object === 'object' && object !== null) || typeof object === 'function') untransferable.add(object);
}

// What makes a copy, by kind.
const MAKERS = {
  Blob: (state) => require('internal/blob').withState(state),
  BlockList: (rules) => require('internal/net/block_list').withRules(rules),
  Histogram: (state) => require('internal/histogram').withState(state),
};
const fileOf = (number) => require('internal/fs/file_handle').withNumber(number);

// Values that copies in this thread have in common with the original, by numbers.
const shared = new Map();
let lastShared = 0;

function numberOf(value) {
  for (const [number, known] of shared) {
    const there = known.deref();
    if (there === value) return number;
    if (there === undefined) shared.delete(number);
  }
  shared.set(++lastShared, new WeakRef(value));
  return lastShared;
}

// The list that an argument stands for: itself, or the option `transfer`.
function transferList(given) {
  const wrong = (what) => {
    const error = new TypeError(`Optional ${what} argument must be an iterable`);
    error.code = 'ERR_INVALID_ARG_TYPE';
    throw error;
  };
  if (given === undefined || given === null) return [];
  if (typeof given !== 'object') wrong('transferList');
  const list = (iterable, what) => {
    try {
      return [...iterable];
    } catch {
      return wrong(what);
    }
  };
  if (typeof given[Symbol.iterator] === 'function') return list(given, 'transferList');
  if (given.transfer === undefined) return [];
  if (given.transfer === null || typeof given.transfer !== 'object') wrong('options.transfer');
  return list(given.transfer, 'options.transfer');
}

// `source` is the port that the message is posted to: it cannot go itself.
function pack(value, list, source) {
  const { MessagePort } = require('internal/message_port');
  const buffers = new Map();
  const ports = new Map();
  const files = new Map();
  for (const each of list) {
    const isPort = each instanceof MessagePort;
    if (types.isArrayBuffer(each)) {
      if (buffers.has(each)) fail('Transfer list contains duplicate ArrayBuffer');
      if (each.detached) fail('An ArrayBuffer is detached and could not be cloned.');
      // One that has to stay is copied.
      if (!untransferable.has(each)) buffers.set(each, buffers.size);
    } else if (isPort) {
      if (each === source) fail('Transfer list contains source port');
      if (ports.has(each)) fail('Transfer list contains duplicate MessagePort');
      // One that has to stay is as one that was not listed.
      if (untransferable.has(each)) continue;
      if (!each._native?.isOpen) fail('MessagePort in transfer list is already detached');
      ports.set(each, ports.size);
    } else if (typeof each?.[kTransfer] === 'function') {
      if (files.has(each)) fail('Transfer list contains duplicate FileHandle');
      each[kCheck]();
      files.set(each, files.size);
    } else {
      throw new codes.ERR_INVALID_TRANSFER_OBJECT();
    }
  }
  const serializer = new Serializer({ transfer: buffers, writeHost: (object, to) => writeHost(object, to, ports, files) });
  serializer.writeHeader();
  serializer.writeValue(value);
  return { bytes: serializer.release(), buffers: [...buffers.keys()], ports: [...ports.keys()], files: [...files.keys()] };
}

const PORT = 0;
const CLONE = 1;
const FILE = 2;

function writeHost(object, serializer, ports, files) {
  const isFile = typeof object[kTransfer] === 'function';
  if (isFile || object instanceof require('internal/message_port').MessagePort) {
    const list = isFile ? files : ports;
    if (!list.has(object)) throw new codes.ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST();
    serializer.writeByte(TAG.HOST);
    serializer.writeUint32(isFile ? FILE : PORT);
    serializer.writeUint32(list.get(object));
    return true;
  }
  if (typeof object[kClone] !== 'function') return false;
  const { kind, value, isShared = false } = object[kClone]();
  serializer.writeByte(TAG.HOST);
  serializer.writeUint32(CLONE);
  serializer.writeUint32(threadId);
  serializer.writeUint32(isShared ? numberOf(value) : 0);
  serializer.writeValue(kind);
  serializer.writeValue(value);
  return true;
}

// `ports` and `numbers`, those of files, have come along.
function unpack(bytes, buffers, ports, numbers = []) {
  // All are made, so that one that the message does not name is closed some day.
  const files = numbers.map(fileOf);
  const { deserialize } = require('internal/deserializer');
  return deserialize(new Uint8Array(bytes), {
    buffers,
    readHost(from) {
      const what = from.readUint32();
      if (what !== CLONE) return (what === PORT ? ports : files)[from.readUint32()];
      const [thread, number] = [from.readUint32(), from.readUint32()];
      const kind = from.readValue();
      const value = from.readValue();
      return MAKERS[kind]?.((thread === threadId && shared.get(number)?.deref()) || value);
    },
  });
}

module.exports = { MAKERS, pack, unpack, transferList, markAsUntransferable };
