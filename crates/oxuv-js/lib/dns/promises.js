// The look-ups of `dns` as promises.
'use strict';

const { codes } = require('internal/codes');
const { validateString } = require('internal/validators');
const { dnsException, kinds } = require('internal/dns/errors');
const lookups = require('internal/dns/lookup');
const { optionsOf, find, checkName, checkService, findService } = lookups;

function lookup(hostname, options) {
  checkName(hostname);
  const asked = optionsOf(options);
  return new Promise((resolve, reject) => {
    find(hostname, asked, (error, list) => {
      if (error) reject(error);
      else if (asked.all) resolve(list);
      else resolve(list[0] ?? { address: null, family: asked.family === 6 ? 6 : 4 });
    });
  });
}

function lookupService(address, port) {
  if (arguments.length !== 2) throw new codes.ERR_MISSING_ARGS('address', 'port');
  checkService(address, port);
  return new Promise((resolve, reject) => {
    const status = findService(address, port, (error, hostname, service) => {
      if (error) reject(error);
      else resolve({ hostname, service });
    });
    if (status) reject(dnsException(status, 'getnameinfo', address));
  });
}

const { PromiseResolver: Resolver, METHODS, defaultResolver, defaultPromiseResolver, setServers } = require('internal/dns/resolver');

module.exports = {
  lookup,
  lookupService,
  Resolver,
  getServers: () => defaultResolver().getServers(),
  setServers,
  setDefaultResultOrder: lookups.setDefaultResultOrder,
  getDefaultResultOrder: lookups.getDefaultResultOrder,
  ...kinds,
};
for (const name of METHODS) {
  module.exports[name] = { [name](...args) { return defaultPromiseResolver()[name](...args); } }[name];
}
