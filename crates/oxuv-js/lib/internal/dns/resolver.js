// The class `Resolver` in both forms: what servers of names are asked, and what of their answers is told.
'use strict';

const { codes } = require('internal/codes');
const { validateFunction, validateString } = require('internal/validators');
const { dnsException } = require('internal/dns/errors');
const { checkZero } = require('internal/dns/lookup');
const observed = require('internal/observed');
const net = binding('net');

const value = (record) => record.value;
const withType = ({ ttl, type, ...rest }) => ({ ...rest, ...(type === 'A' || type === 'AAAA' ? { ttl } : {}), type });
const addresses = (records, options) =>
  records.map(({ address, ttl }) => (options?.ttl ? { address, ttl } : address));
const plain = (records) => records.map(({ type, ttl, ...rest }) => rest);

// Method: what is asked, and what becomes of the records.
const KINDS = {
  resolveAny: ['ANY', (records) => records.map(withType)],
  resolve4: ['A', addresses],
  resolve6: ['AAAA', addresses],
  resolveCaa: ['CAA', plain],
  resolveCname: ['CNAME', (records) => records.map(value)],
  resolveMx: ['MX', plain],
  resolveNs: ['NS', (records) => records.map(value)],
  resolveTxt: ['TXT', (records) => records.map((record) => record.entries)],
  resolveSrv: ['SRV', plain],
  resolvePtr: ['PTR', (records) => records.map(value)],
  resolveNaptr: ['NAPTR', plain],
  resolveSoa: ['SOA', (records) => plain(records)[0]],
};
const METHODS = [...Object.keys(KINDS), 'reverse', 'resolve'];
const byType = new Map(Object.entries(KINDS).map(([method, [type]]) => [type, method]));

function ask(channel, method, name, options, done) {
  const [type, shape] = KINDS[method];
  const syscall = `query${type[0]}${type.slice(1).toLowerCase()}`;
  const begun = observed.begin();
  // Names of other letters are asked for by those that servers know.
  const asked = /[^\0-\x7f]/.test(name) ? binding('url').toAscii(name) || name : name;
  channel.ask(asked, type, (code, records) => {
    const fitting = records?.filter((record) => type === 'ANY' || record.type === type) ?? [];
    // Another name alone is an answer, too.
    const hasNone = !code && (records.length === 0 || (type === 'SOA' && fitting.length === 0));
    if (code || hasNone) {
      done(dnsException(code ?? 'ENODATA', syscall, name));
      return;
    }
    const result = shape(fitting, options);
    observed.end(begun, 'dns', syscall, () => ({ host: name, ttl: Boolean(options?.ttl), result }));
    done(null, result);
  });
}

// The name under which the name of an address is.
function reverseName(ip) {
  const bytes = net.parseIP(ip);
  if (bytes.length === 4) return `${[...bytes].reverse().join('.')}.in-addr.arpa`;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

function reverse(channel, ip, done) {
  if (net.isIP(ip) === 0) throw dnsException(-22, 'getHostByAddr', ip);
  channel.ask(reverseName(ip), 'PTR', (code, records) => {
    const names = records?.filter((record) => record.type === 'PTR').map(value) ?? [];
    if (code) done(dnsException(code, 'getHostByAddr', ip));
    else if (names.length === 0) done(dnsException('ENOTFOUND', 'getHostByAddr', ip));
    else done(null, names);
  });
}

function methodOf(type) {
  const method = byType.get(type);
  if (method === undefined) throw new codes.ERR_INVALID_ARG_VALUE('rrtype', type);
  return method;
}

// `Channel` needs sockets, which most who look up a name do not.
const Channel = (options) => new (require('internal/dns/channel').Channel)(options);

class Base {
  #channel;

  constructor(options) {
    this.#channel = Channel(options);
  }

  cancel() {
    this.#channel.cancel();
  }

  getServers() {
    return this.#channel.getServers();
  }

  setServers(servers) {
    this.#channel.setServers(servers);
  }

  setLocalAddress(ipv4, ipv6) {
    this.#channel.setLocalAddress(ipv4, ipv6);
  }

  static channelOf(resolver) {
    return resolver.#channel;
  }
}
const { channelOf } = Base;
delete Base.channelOf;

class Resolver extends Base {
  resolve(hostname, type, callback) {
    let method = 'resolve4';
    if (typeof type === 'string') method = methodOf(type);
    else if (typeof type === 'function') callback = type;
    else throw new codes.ERR_INVALID_ARG_TYPE('rrtype', 'string', type);
    return this[method](hostname, callback);
  }

  reverse(ip, callback) {
    validateString(ip, 'name');
    validateFunction(callback, 'callback');
    reverse(channelOf(this), ip, callback);
    return { callback, hostname: ip };
  }
}

class PromiseResolver extends Base {
  resolve(hostname, type) {
    if (type !== undefined) validateString(type, 'rrtype');
    return PromiseResolver.prototype[type === undefined ? 'resolve4' : methodOf(type)].call(this, hostname);
  }

  reverse(ip) {
    validateString(ip, 'name');
    return new Promise((resolve, reject) => {
      reverse(channelOf(this), ip, (error, names) => (error ? reject(error) : resolve(names)));
    });
  }
}
Object.defineProperty(PromiseResolver, 'name', { value: 'Resolver' });

for (const method of Object.keys(KINDS)) {
  Object.defineProperty(Resolver.prototype, method, {
    value: { [method](name, options, callback) {
      if (arguments.length <= 2) [options, callback] = [undefined, options];
      validateString(name, 'name');
      checkZero(name, 'name');
      validateFunction(callback, 'callback');
      ask(channelOf(this), method, name, options, callback);
      return { callback, hostname: name };
    } }[method],
    writable: true, configurable: true,
  });
  Object.defineProperty(PromiseResolver.prototype, method, {
    value: { [method](name, options) {
      validateString(name, 'name');
      checkZero(name, 'name');
      return new Promise((resolve, reject) => {
        ask(channelOf(this), method, name, options, (error, found) => (error ? reject(error) : resolve(found)));
      });
    } }[method],
    writable: true, configurable: true,
  });
}

// Which `dns` and its promises ask. What was asked of one before stays its.
let resolver;
let promiseResolver;
const defaultResolver = () => (resolver ??= new Resolver());
const defaultPromiseResolver = () => {
  if (promiseResolver === undefined) {
    promiseResolver = new PromiseResolver();
    promiseResolver.setServers(defaultResolver().getServers());
  }
  return promiseResolver;
};

function setServers(servers) {
  const next = new Resolver();
  next.setServers(servers);
  resolver = next;
  promiseResolver = undefined;
}

module.exports = { Resolver, PromiseResolver, METHODS, defaultResolver, defaultPromiseResolver, setServers };
