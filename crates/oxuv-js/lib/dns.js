// Names and addresses: what the system looks up, and what its servers are asked. The latter is in internal/dns/resolver.js.
'use strict';

const process = require('process');
const { codes } = require('internal/codes');
const { validateFunction } = require('internal/validators');
const { dnsException, kinds } = require('internal/dns/errors');
const lookups = require('internal/dns/lookup');

const { optionsOf, find, checkName, checkService, findService } = lookups;

// Its callback gets an address and its family, or with `all` a list of them.
function lookup(hostname, options, callback) {
  checkName(hostname);
  let asked;
  if (typeof options === 'function') {
    callback = options;
    asked = optionsOf();
  } else {
    const isOdd = options !== undefined && typeof options !== 'object' && typeof options !== 'number';
    validateFunction(isOdd && arguments.length === 2 ? options : callback, 'callback');
    asked = optionsOf(options);
  }
  const isAsked = find(hostname, asked, (error, list) => {
    if (error) callback(error);
    else if (asked.all) callback(null, list);
    else callback(null, list.length > 0 ? list[0].address : null, list.length > 0 ? list[0].family : asked.family === 6 ? 6 : 4);
  });
  return isAsked ? { callback, family: asked.family, hostname } : {};
}

Object.defineProperty(lookup, require('util').promisify.custom, { value: (...args) => require('dns/promises').lookup(...args) });

function lookupService(address, port, callback) {
  if (arguments.length !== 3) throw new codes.ERR_MISSING_ARGS('address', 'port', 'callback');
  checkService(address, port);
  validateFunction(callback, 'callback');
  const status = findService(address, port, callback);
  if (status) throw dnsException(status, 'getnameinfo', address);
  return { callback, hostname: address, port: +port };
}

Object.defineProperty(lookupService, require('util').promisify.custom, {
  value: (...args) => require('dns/promises').lookupService(...args),
});

module.exports = {
  lookup,
  lookupService,
  setDefaultResultOrder: lookups.setDefaultResultOrder,
  getDefaultResultOrder: lookups.getDefaultResultOrder,
  ADDRCONFIG: lookups.ADDRCONFIG,
  ALL: lookups.ALL,
  V4MAPPED: lookups.V4MAPPED,
  ...kinds,
};
Object.defineProperty(module.exports, 'promises', { get: () => require('dns/promises'), enumerable: true, configurable: true });

const { Resolver, METHODS, defaultResolver, setServers } = require('internal/dns/resolver');
Object.assign(module.exports, { Resolver, getServers: () => defaultResolver().getServers(), setServers });
for (const name of METHODS) {
  module.exports[name] = { [name](...args) { return defaultResolver()[name](...args); } }[name];
}
