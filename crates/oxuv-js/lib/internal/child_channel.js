// The channel between a parent and a child: messages, and handles along with them.
'use strict';

const EventEmitter = require('events');
const native = binding('child');
const { codes } = require('internal/codes');
const { validateObject } = require('internal/validators');
const { failure } = require('internal/child_process');

const INTERNAL = 'NODE_';
// So many bytes that the other side has not taken are too many.
const MOST_QUEUED = 65536 * 2;
const RETRIES = 3;

const isInternal = (message) => message !== null && typeof message === 'object' && typeof message.cmd === 'string' &&
  message.cmd.length > INTERNAL.length && message.cmd.startsWith(INTERNAL);

// What scripts see as `channel`. It keeps the loop while somebody wants to hear, or as a script says.
class Control extends EventEmitter {
  #handle;
  #refs = 0;
  #isExplicit = false;
  _pending = [];

  constructor(handle) {
    super();
    this.#handle = handle;
  }

  refCounted() { if (++this.#refs === 1 && !this.#isExplicit) this.#handle.ref(); }
  unrefCounted() {
    if (--this.#refs !== 0 || this.#isExplicit) return;
    this.#handle.unref();
    this.emit('unref');
  }
  ref() {
    this.#isExplicit = true;
    this.#handle.ref();
  }
  unref() {
    this.#isExplicit = true;
    this.#handle.unref();
  }
  hasRef() { return this.#handle.hasRef(); }
  get fd() { return this.#handle.fd; }
}

class Channel {
  #target;
  #handle;
  #control;
  #codec;
  // A handle that has come, and whose message is not complete yet.
  #arrived;
  // What has been sent with a handle, until the other side has it, and what waits for that.
  #underWay;
  #waiting;
  #isFinished = false;

  constructor(target, handle, serialization) {
    this.#target = target;
    this.#handle = handle;
    this.#control = new Control(handle);
    this.#codec = require('internal/child_codec').codec(serialization);
  }

  get control() { return this.#control; }

  start() {
    const target = this.#target;
    target.connected = true;
    target.channel = this.#control;
    Object.defineProperty(target, '_channel', {
      get() { return target.channel; },
      set(value) { target.channel = value; },
      enumerable: true,
      configurable: true,
    });
    target.send = (message, handle, options, callback) => this.#ask(message, handle, options, callback);
    target._send = (message, handle, options, callback) => this.#send(message, handle, options, callback);
    target.disconnect = () => this.#leave();
    target._disconnect = () => this.#disconnect();
    target.on('newListener', (name) => this.#heard(name));
    target.on('internalMessage', (message, handle) => this.#internal(message, handle));
    this.#handle.onread = (count, buffer) => this.#read(count, buffer);
    this.#handle.readStart();
  }

  // Messages that came while nobody listened.
  #heard(name) {
    if (name !== 'message') return;
    process.nextTick(() => {
      if (!this.#target.listenerCount('message')) return;
      for (const args of this.#control._pending.splice(0)) this.#target.emit(...args);
    });
  }

  #read(count, buffer) {
    const taken = native.takeHandle(this.#handle);
    if (taken) this.#arrived = taken;
    if (count < 0) {
      this.#ended();
      return;
    }
    let messages;
    try {
      messages = this.#codec.read(new Uint8Array(buffer));
    } catch (error) {
      // What comes is not what such a channel carries.
      this.#target.emit('error', error);
      this.#ended();
      return;
    }
    for (const message of messages) this.#received(message);
  }

  #received(message) {
    let handle;
    const isOurs = isInternal(message);
    if (isOurs && message.cmd === 'NODE_HANDLE') {
      handle = this.#arrived;
      this.#arrived = undefined;
    }
    this.#tell(isOurs ? 'internalMessage' : 'message', message, handle);
  }

  #tell(name, message, handle) {
    process.nextTick(() => {
      if (name === 'internalMessage' || this.#target.listenerCount('message')) this.#target.emit(name, message, handle);
      else this.#control._pending.push([name, message, handle]);
    });
  }

  // The other side has gone, or wants no more.
  #ended() {
    this.#handle.onread = () => {};
    this.#handle.readStop();
    if (this.#target.connected) this.#disconnect();
    else this.#close();
    this.#target._channelClosed?.();
  }

  #close() {
    this.#handle.close();
    this.#arrived?.close();
    this.#arrived = undefined;
  }

  #internal(message, handle) {
    switch (message.cmd) {
      case 'NODE_HANDLE_ACK':
        this.#acknowledged();
        break;
      case 'NODE_HANDLE_NACK':
        this.#refused();
        break;
      case 'NODE_HANDLE':
        this.#unwrap(message, handle);
        break;
      default:
    }
  }

  #unwrap(message, handle) {
    if (!handle) {
      this.#send({ cmd: 'NODE_HANDLE_NACK' }, null, { swallowErrors: true });
      return;
    }
    if (this.#target.connected) this.#send({ cmd: 'NODE_HANDLE_ACK' }, null, { swallowErrors: true });
    require('internal/child_handles').receive(this.#target, message, handle, (object) => this.#tell('message', message.msg, object));
  }

  #acknowledged() {
    const done = this.#underWay;
    this.#underWay = undefined;
    if (done) done.handle.close();
    this.#continue();
  }

  #refused() {
    const again = this.#underWay;
    if (!again) return;
    if (again.retries++ < RETRIES) {
      this.#write(again.message, again.handle, () => {});
      return;
    }
    this.#underWay = undefined;
    again.handle.close();
    const error = failure(-9, 'write');
    if (typeof again.callback === 'function') process.nextTick(again.callback, error);
    this.#continue();
  }

  #continue() {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const { message, handle, options, callback } of waiting ?? []) this.#send(message, handle, options, callback);
    // What wanted to leave waited for that.
    if (!this.#waiting && !this.#target.connected && this.#target.channel) this.#disconnect();
  }

  // The arguments of a script.
  #ask(message, handle, options, callback) {
    if (typeof handle === 'function') [callback, handle, options] = [handle, undefined, undefined];
    else if (typeof options === 'function') [callback, options] = [options, undefined];
    else if (options !== undefined) validateObject(options, 'options');
    options = { swallowErrors: false, ...options };
    if (this.#target.connected) return this.#send(message, handle, options, callback);
    const error = new codes.ERR_IPC_CHANNEL_CLOSED();
    if (typeof callback === 'function') process.nextTick(callback, error);
    else process.nextTick(() => this.#target.emit('error', error));
    return false;
  }

  #send(message, object, options, callback) {
    if (message === undefined) throw new codes.ERR_MISSING_ARGS('message');
    if (!['string', 'object', 'number', 'boolean'].includes(typeof message)) {
      throw new codes.ERR_INVALID_ARG_TYPE('message', ['string', 'object', 'number', 'boolean'], message);
    }
    // Callers of old gave a boolean.
    options = { keepOpen: false, swallowErrors: options === true, ...(typeof options === 'object' ? options : undefined) };
    let kind;
    if (object) {
      const handles = require('internal/child_handles');
      kind = handles.kindOf(object);
      if (kind === undefined) throw new codes.ERR_INVALID_HANDLE_TYPE();
      message = { cmd: 'NODE_HANDLE', type: kind, msg: message };
    }
    const isAnswer = /^NODE_HANDLE_N?ACK$/.test(message?.cmd);
    if (this.#waiting && !isAnswer) {
      this.#waiting.push({ message: object ? message.msg : message, handle: object, options, callback });
      return this.#waiting.length === 1;
    }
    let handle;
    if (object) {
      handle = require('internal/child_handles').give(this.#target, kind, object, message, options);
      // It is gone already: the message goes without.
      if (!handle) message = message.msg;
    }
    return this.#transfer(message, handle, kind, options, callback);
  }

  #transfer(message, handle, kind, options, callback) {
    const errno = this.#write(message, handle, callback);
    if (errno < 0) {
      if (handle && kind === 'net.Socket' && !options.keepOpen) handle.close();
      if (!options.swallowErrors) {
        const error = failure(errno, 'write');
        if (typeof callback === 'function') process.nextTick(callback, error);
        else process.nextTick(() => this.#target.emit('error', error));
      }
    } else if (handle) {
      this.#waiting ??= [];
      if (kind === 'net.Socket' && !options.keepOpen) this.#underWay = { handle, message, callback, retries: 0 };
      else this.#underWay = undefined;
    }
    return this.#handle.writeQueueSize < MOST_QUEUED;
  }

  #write(message, handle, callback) {
    const bytes = this.#codec.write(message);
    const done = () => {
      this.#control.unrefCounted();
      if (typeof callback === 'function') callback(null);
    };
    const status = handle ? native.writeWithHandle(this.#handle, bytes, handle, done) : this.#handle.write(bytes, done);
    if (status === 1 || (handle && status === 0)) this.#control.refCounted();
    else if (status === 0 && typeof callback === 'function') process.nextTick(callback, null);
    return status;
  }

  #leave() {
    const target = this.#target;
    if (!target.connected) {
      target.emit('error', new codes.ERR_IPC_DISCONNECTED());
      return;
    }
    // Nothing new is sent, but what waits for another handle still is.
    target.connected = false;
    if (!this.#waiting || this.#waiting.length === 0) this.#disconnect();
  }

  #disconnect() {
    const target = this.#target;
    target.connected = false;
    target.channel = null;
    this.#underWay?.handle.close();
    this.#underWay = undefined;
    const finish = () => {
      if (this.#isFinished) return;
      this.#isFinished = true;
      this.#close();
      target.emit('disconnect');
    };
    // A message that has come in part is waited for.
    if (this.#codec.isBuffering && this.#handle.onread !== undefined) {
      target.once('message', finish);
      target.once('internalMessage', finish);
    } else {
      process.nextTick(finish);
    }
  }
}

function setUp(target, handle, serialization) {
  const channel = new Channel(target, handle, serialization);
  channel.start();
  return channel.control;
}

// The descriptor is one that the parent has left open.
function setUpInChild(fd, serialization) {
  const handle = binding('net').pipe(true);
  const errno = handle.open(fd);
  if (errno !== 0) {
    handle.close();
    throw failure(errno, 'open');
  }
  handle.unref();
  const control = setUp(process, handle, serialization);
  const counts = (name) => name === 'message' || name === 'disconnect';
  process.on('newListener', (name) => { if (counts(name)) control.refCounted(); });
  process.on('removeListener', (name) => { if (counts(name)) control.unrefCounted(); });
}

module.exports = { setUp, setUpInChild };
