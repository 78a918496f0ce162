// Look-ups: options, orders, errors.
'use strict';

const dns = require('dns');

const show = (what, call) => {
  try {
    console.log(what, call());
  } catch (error) {
    console.log(what, error.name, error.code, error.message);
  }
};

const never = () => console.log('called');
show('no callback', () => dns.lookup('127.0.0.1'));
show('family', () => dns.lookup('127.0.0.1', 5, never));
show('hints', () => dns.lookup('127.0.0.1', { hints: 1 }, never));
show('all', () => dns.lookup('127.0.0.1', { all: 1 }, never));
show('name', () => dns.lookup(5, never));
show('order', () => { try { dns.setDefaultResultOrder('first'); } catch ({ code }) { return code; } });
show('service', () => dns.lookupService('127.0.0.1', 80));
show('address', () => dns.lookupService('here', 80, never));
show('constants', () => [dns.ADDRCONFIG, dns.V4MAPPED, dns.ALL, dns.NOTFOUND, dns.CANCELLED]);
show('promises', () => dns.promises === require('dns/promises'));
show('type', () => dns.resolve('localhost', 'B', never));
show('reverse', () => dns.reverse('here', never));

(async () => {
  const lookup = require('util').promisify(dns.lookup);
  console.log(await lookup('127.0.0.1'));
  console.log(await dns.promises.lookup('::1', { all: true }));
  console.log(await lookup('localhost', { family: 'IPv4' }));
  console.log(await lookup('localhost', { family: 4, all: true, hints: dns.ADDRCONFIG }));
  for (const name of ['no-such-host.invalid', 'a'.repeat(300)]) {
    await dns.promises.lookup(name, { family: 4 }).catch(({ code, syscall, hostname }) =>
      console.log(code === 'EAI_AGAIN' ? 'ENOTFOUND' : code, syscall, hostname === name));
  }
  const { hostname, service } = await dns.promises.lookupService('127.0.0.1', 22);
  console.log(typeof hostname, service);

  const resolver = new dns.Resolver({ timeout: 100, tries: 1 });
  resolver.setServers(['127.0.0.1', '[::1]:5353', '127.0.0.2:99']);
  console.log(resolver.getServers());
  show('servers', () => resolver.setServers(['here']));
  show('local', () => resolver.setLocalAddress('127.0.0.1', '::1'));
})();
