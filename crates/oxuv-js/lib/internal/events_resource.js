// EventEmitterAsyncResource: its listeners find the values of the step that made it.
'use strict';

const EventEmitter = require('events');
const { AsyncResource } = require('async_hooks');
const { codes } = require('internal/codes');
const { validateString } = require('internal/validators');

class OfEmitter extends AsyncResource {
  #emitter;

  constructor(emitter, type, options) {
    super(type, options);
    this.#emitter = emitter;
  }

  get eventEmitter() { return this.#emitter; }
}

class EventEmitterAsyncResource extends EventEmitter {
  #resource;

  constructor(options = undefined) {
    const name = typeof options === 'string' ? options : options?.name;
    if (typeof options === 'string') options = undefined;
    if (new.target === EventEmitterAsyncResource) validateString(name, 'options.name');
    super(options);
    this.#resource = new OfEmitter(this, name || new.target.name, options);
  }

  // Methods of another object have none.
  static #of(value) {
    if (typeof value !== 'object' || value === null || !(#resource in value)) throw new codes.ERR_INVALID_THIS('EventEmitterAsyncResource');
    return value.#resource;
  }

  emit(event, ...args) {
    return EventEmitterAsyncResource.#of(this).runInAsyncScope(super.emit, this, event, ...args);
  }

  emitDestroy() { EventEmitterAsyncResource.#of(this).emitDestroy(); }
  get asyncId() { return EventEmitterAsyncResource.#of(this).asyncId(); }
  get triggerAsyncId() { return EventEmitterAsyncResource.#of(this).triggerAsyncId(); }
  get asyncResource() { return EventEmitterAsyncResource.#of(this); }
}

module.exports = { EventEmitterAsyncResource };
