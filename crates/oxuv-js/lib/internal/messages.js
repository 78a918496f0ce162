// Values on their way from one port to another: bytes, the contents of buffers that are handed over, and ports.
'use strict';

const types = require('internal/types');
const { codes } = require('internal/codes');
const { Serializer, TAG } = require('internal/serializer');

const fail = (text) => { throw new DOMException(text, 'DataCloneError'); };

// Objects that a script has said to stay.
const untransferable = new WeakSet();

function markAsUntransferable(object) {
  if ((typeof object === 'object' && object !== null) || typeof object === 'function') untransferable.add(object);
}

// How an object of the library's is written: `{ kind, value }`, and how it is made again, by kind.
const kClone = Symbol('clone');
const makers = new Map();

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
    } else {
      throw new codes.ERR_INVALID_TRANSFER_OBJECT();
    }
  }
  const serializer = new Serializer({ transfer: buffers, writeHost: (object, to) => writeHost(object, to, ports) });
  serializer.writeHeader();
  serializer.writeValue(value);
  return { bytes: serializer.release(), buffers: [...buffers.keys()], ports: [...ports.keys()] };
}

const PORT = 0;
const CLONE = 1;

function writeHost(object, serializer, ports) {
  if (object instanceof require('internal/message_port').MessagePort) {
    if (!ports.has(object)) throw new codes.ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST();
    serializer.writeByte(TAG.HOST);
    serializer.writeUint32(PORT);
    serializer.writeUint32(ports.get(object));
    return true;
  }
  if (typeof object[kClone] !== 'function') return false;
  const { kind, value } = object[kClone]();
  serializer.writeByte(TAG.HOST);
  serializer.writeUint32(CLONE);
  serializer.writeValue(kind);
  serializer.writeValue(value);
  return true;
}

// `ports` are those that came along.
function unpack(bytes, buffers, ports) {
  const { deserialize } = require('internal/deserializer');
  return deserialize(new Uint8Array(bytes), {
    buffers,
    readHost(from) {
      if (from.readUint32() === PORT) return ports[from.readUint32()];
      const kind = from.readValue();
      return makers.get(kind)?.(from.readValue());
    },
  });
}

module.exports = { pack, unpack, transferList, markAsUntransferable, kClone, makers };
