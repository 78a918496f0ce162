// The look-ups that the system does, with the options of both forms.
'use strict';

const process = require('process');
const net = binding('net');
const { lookupName } = binding('dns');
const { codes, make } = require('internal/codes');
const { validateBoolean, validateNumber, validateOneOf, validatePort, validateString } = require('internal/validators');
const { dnsException } = require('internal/dns/errors');
const observed = require('internal/observed');

const ADDRCONFIG = 32;
const V4MAPPED = 8;
const ALL = 16;

const BadPort = make('ERR_SOCKET_BAD_PORT', RangeError, (port) => `Port should be >= 0 and < 65536. Received ${String(port)}.`);

let isVerbatim = true;
let isWarned = false;

function setDefaultResultOrder(order) {
  validateOneOf(order, 'dnsOrder', ['verbatim', 'ipv4first']);
  isVerbatim = order === 'verbatim';
}

const getDefaultResultOrder = () => (isVerbatim ? 'verbatim' : 'ipv4first');

function checkHints(hints) {
  if ((hints & ~(ADDRCONFIG | ALL | V4MAPPED)) !== 0) throw new codes.ERR_INVALID_ARG_VALUE('hints', hints);
}

// What the options of a look-up say.
function optionsOf(options) {
  const asked = { family: 0, hints: 0, all: false, verbatim: isVerbatim };
  if (typeof options === 'number') {
    validateOneOf(options, 'family', [0, 4, 6]);
    asked.family = options;
    return asked;
  }
  if (options === undefined || options === null) return asked;
  if (typeof options !== 'object') throw new codes.ERR_INVALID_ARG_TYPE('options', ['integer', 'object'], options);
  const { family, hints, all, verbatim } = options;
  if (hints !== undefined && hints !== null) {
    validateNumber(hints, 'options.hints');
    asked.hints = hints >>> 0;
    checkHints(asked.hints);
  }
  if (family === 'IPv4' || family === 'IPv6') {
    asked.family = family === 'IPv4' ? 4 : 6;
  } else if (family !== undefined && family !== null) {
    validateOneOf(family, 'options.family', [0, 4, 6]);
    asked.family = family;
  }
  if (all !== undefined && all !== null) {
    validateBoolean(all, 'options.all');
    asked.all = all;
  }
  if (verbatim !== undefined && verbatim !== null) {
    validateBoolean(verbatim, 'options.verbatim');
    asked.verbatim = verbatim;
  }
  return asked;
}

// Looks up, and tells of the addresses, with their families, by `done(error, list)`: later always. True if the system was asked.
function find(hostname, { family, hints, verbatim }, done) {
  if (!hostname) {
    warnOf(hostname);
    process.nextTick(done, null, []);
    return false;
  }
  const known = net.isIP(hostname);
  if (known) {
    const { caused } = process._own;
    process.nextTick(caused === undefined ? done : caused(done), null, [{ address: hostname, family: known }]);
    return false;
  }
  const begun = observed.begin();
  const told = (status, found) => {
    if (status) {
      done(dnsException(status, 'getaddrinfo', hostname));
      return;
    }
    let list = found.map((address) => ({ address, family: net.isIP(address) }));
    if (!verbatim) list = [...list.filter((each) => each.family === 4), ...list.filter((each) => each.family === 6)];
    observed.end(begun, 'dns', 'lookup', () => ({ hostname, family, hints, verbatim, addresses: list.map((each) => each.address) }));
    done(null, list);
  };
  const status = net.lookup(hostname, family, hints, told);
  if (status === 0) return true;
  // A name with a zero in it is none, but one that is too long is not even asked for.
  process.nextTick(done, dnsException(hostname.includes('\0') ? -3008 : status, 'getaddrinfo', hostname));
  return false;
}

function warnOf(hostname) {
  if (isWarned) return;
  isWarned = true;
  process.emitWarning(`The provided hostname "${hostname}" is not a valid hostname, and is supported in the dns module solely for compatibility.`,
    'DeprecationWarning', 'DEP0118');
}

function checkService(address, port) {
  if (net.isIP(address) === 0) throw new codes.ERR_INVALID_ARG_VALUE('address', address);
  try {
    validatePort(port);
  } catch {
    // In Node's words of that time.
    throw new BadPort(port);
  }
}

// Looks up names; then `done(error, hostname, service)`.
function findService(address, port, done) {
  const begun = observed.begin();
  return lookupName(address, +port, (status, hostname, service) => {
    if (status) {
      done(dnsException(status, 'getnameinfo', address));
      return;
    }
    observed.end(begun, 'dns', 'lookupService', () => ({ host: address, port: +port, hostname, service }));
    done(null, hostname, service);
  });
}

// The system's functions would take what is before the zero for all of the name.
function checkZero(name, argument) {
  if (name.includes('\0')) throw new codes.ERR_INVALID_ARG_VALUE(argument, name, 'must be a string without null bytes');
}

function checkName(hostname) {
  if (!hostname) return;
  validateString(hostname, 'hostname');
  checkZero(hostname, 'hostname');
}

module.exports = {
  ADDRCONFIG, ALL, V4MAPPED, setDefaultResultOrder, getDefaultResultOrder, optionsOf, find, checkName, checkZero, checkService, findService,
};
