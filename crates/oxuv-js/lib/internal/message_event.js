// What a listener gets for a message.
'use strict';

const { Event } = require('internal/event_target');
const { codes } = require('internal/codes');

const isPort = (value) => value instanceof require('internal/message_port').MessagePort;

class MessageEvent extends Event {
  #data;
  #origin;
  #lastEventId;
  #source;
  #ports;

  constructor(type, init = {}) {
    super(type, init);
    const { data = null, origin = '', lastEventId = '', source = null, ports = [] } = init ?? {};
    this.#data = data;
    this.#origin = `${origin}`;
    this.#lastEventId = `${lastEventId}`;
    if (source !== null && !isPort(source)) throw new codes.ERR_INVALID_ARG_TYPE('init.source', 'MessagePort', source);
    this.#source = source;
    if (typeof ports?.[Symbol.iterator] !== 'function') throw new TypeError('ports is not iterable');
    this.#ports = [...ports];
    this.#ports.forEach((port, at) => {
      if (!isPort(port)) throw new codes.ERR_INVALID_ARG_TYPE(`init.ports[${at}]`, 'MessagePort', port);
    });
    Object.freeze(this.#ports);
  }

  get data() { return this.#data; }
  get origin() { return this.#origin; }
  get lastEventId() { return this.#lastEventId; }
  get source() { return this.#source; }
  get ports() { return this.#ports; }

  // From a channel: `undefined` stays what it is.
  static _of(type, data, ports) {
    const event = new MessageEvent(type);
    event.#data = data;
    event.#ports = ports;
    return event;
  }
}
const { _of: messageEvent } = MessageEvent;
delete MessageEvent._of;

module.exports = { MessageEvent, messageEvent };
