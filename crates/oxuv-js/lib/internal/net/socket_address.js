// `net.SocketAddress`: an address with its port.
'use strict';

const { codes: { ERR_INVALID_ADDRESS, ERR_INVALID_ARG_VALUE } } = require('internal/codes');
const { validateObject, validatePort, validateString, validateUint32 } = require('internal/validators');
const { inspect } = require('internal/inspect');
const { parseIP, formatIP } = binding('net');

// `ipv4` or `ipv6`, in whatever case.
function familyOf(family, name) {
  const known = typeof family?.toLowerCase === 'function' ? family.toLowerCase() : family;
  if (known !== 'ipv4' && known !== 'ipv6') throw new ERR_INVALID_ARG_VALUE(name, family);
  return known;
}

// The bytes of an address of this family.
function bytesOf(address, family) {
  const bytes = parseIP(address);
  if (bytes?.length !== (family === 'ipv4' ? 4 : 16)) throw new ERR_INVALID_ADDRESS();
  return bytes;
}

class SocketAddress {
  #address;
  #port;
  #family;
  #flowlabel;

  static isSocketAddress(value) {
    return typeof value === 'object' && value !== null && #address in value;
  }

  constructor(options = {}) {
    validateObject(options, 'options');
    const family = familyOf(options.family ?? 'ipv4', 'options.family');
    const { address = family === 'ipv4' ? '127.0.0.1' : '::', port = 0, flowlabel = 0 } = options;
    validateString(address, 'options.address');
    validatePort(port, 'options.port');
    validateUint32(flowlabel, 'options.flowlabel');
    this.#address = formatIP(bytesOf(address, family));
    this.#port = port | 0;
    this.#family = family;
    this.#flowlabel = flowlabel;
  }

  get address() { return this.#address; }
  get port() { return this.#port; }
  get family() { return this.#family; }
  get flowlabel() { return this.#family === 'ipv6' ? this.#flowlabel : 0; }

  toJSON() {
    return { address: this.address, port: this.port, family: this.family, flowlabel: this.flowlabel };
  }

  [inspect.custom](depth, options) {
    if (depth < 0) return '[SocketAddress]';
    return `SocketAddress ${inspect(this.toJSON(), { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
  }
}

module.exports = { SocketAddress, familyOf, bytesOf };
