// `net.BlockList`: addresses, ranges of them, and networks.
'use strict';

const { codes: { ERR_INVALID_ARG_VALUE } } = require('internal/codes');
const { validateInt32, validateString } = require('internal/validators');
const { inspect } = require('internal/inspect');
const { SocketAddress, familyOf, bytesOf } = require('internal/net/socket_address');
const { formatIP } = binding('net');

const { kClone } = require('internal/transferable');

const BITS = { ipv4: 32, ipv6: 128 };
const NAMES = { ipv4: 'IPv4', ipv6: 'IPv6' };

const numberOf = (bytes) => bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
// IPv6 addresses that stand for those of IPv4.
const isMapped = (number) => number >> 32n === 0xFFFFn;

// An address as its family and a number.
function addressOf(address, family, name) {
  if (SocketAddress.isSocketAddress(address)) {
    ({ address, family } = address);
  } else {
    validateString(address, name);
    validateString(family, 'family');
    family = familyOf(family, 'family');
  }
  const bytes = bytesOf(address, family);
  return { family, number: numberOf(bytes), text: formatIP(bytes) };
}

class BlockList {
  // The newest first.
  #rules;

  constructor() {
    this.#rules = [];
  }

  // Copies in the same thread have their rules in common.
  [kClone]() {
    return { kind: 'BlockList', value: this.#rules, isShared: true };
  }

  static withRules(rules) {
    const list = new BlockList();
    list.#rules = rules;
    return list;
  }

  static isBlockList(value) {
    return typeof value === 'object' && value !== null && #rules in value;
  }

  addAddress(address, family = 'ipv4') {
    const { number, text, family: known } = addressOf(address, family, 'address');
    this.#add(known, number, number, `Address: ${NAMES[known]} ${text}`);
  }

  addRange(start, end, family = 'ipv4') {
    const first = addressOf(start, family, 'start');
    const last = addressOf(end, family, 'end');
    if (first.family !== last.family || first.number > last.number) throw new ERR_INVALID_ARG_VALUE('start', start, 'must come before end');
    this.#add(first.family, first.number, last.number, `Range: ${NAMES[first.family]} ${first.text}-${last.text}`);
  }

  addSubnet(network, prefix, family = 'ipv4') {
    const { number, text, family: known } = addressOf(network, family, 'network');
    validateInt32(prefix, 'prefix', 0, BITS[known]);
    const inner = (1n << BigInt(BITS[known] - prefix)) - 1n;
    this.#add(known, number & ~inner, number | inner, `Subnet: ${NAMES[known]} ${text}/${prefix}`);
  }

  #add(family, first, last, text) {
    this.#rules.unshift({ family, first, last, text });
  }

  check(address, family = 'ipv4') {
    if (!SocketAddress.isSocketAddress(address)) {
      validateString(address, 'address');
      validateString(family, 'family');
    }
    let found;
    try {
      found = addressOf(address, family, 'address');
    } catch {
      return false;
    }
    const has = (family, number) => this.#rules.some((rule) => rule.family === family && number >= rule.first && number <= rule.last);
    if (has(found.family, found.number)) return true;
    // One family's address may be written as the other's.
    if (found.family === 'ipv4') return has('ipv6', found.number | 0xFFFF00000000n);
    return isMapped(found.number) && has('ipv4', found.number & 0xFFFFFFFFn);
  }

  get rules() {
    return this.#rules.map(({ text }) => text);
  }

  [inspect.custom](depth, options) {
    if (depth < 0) return '[BlockList]';
    const inner = { ...options, depth: options.depth == null ? null : options.depth - 1 };
    return `BlockList ${inspect({ rules: this.rules }, inner)}`;
  }
}

const { withRules } = BlockList;
delete BlockList.withRules;

module.exports = { BlockList, withRules };
