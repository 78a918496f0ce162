// Channels that tell of an act together, and the old modules.
'use strict';

const channels = require('diagnostics_channel');
const { AsyncLocalStorage } = require('async_hooks');

const act = channels.tracingChannel('act');
const handlers = {};
for (const event of ['start', 'end', 'asyncStart', 'asyncEnd', 'error']) {
  handlers[event] = (message) => console.log(' ', event, JSON.stringify(message, (key, value) => (value instanceof Error ? value.message : value)));
}
const fail = (text) => { throw new Error(text); };

async function main() {
  act.subscribe(handlers);
  console.log(act.traceSync(function add(a) { return this.b + a; }, { n: 1 }, { b: 2 }, 1));
  try { act.traceSync(fail, { n: 2 }, null, 'sync'); } catch (error) { console.log(error.message); }
  console.log(await act.tracePromise(async (a) => a * 2, { n: 3 }, null, 4));
  await act.tracePromise(async () => fail('promise'), { n: 4 }).catch((error) => console.log(error.message));
  await new Promise((resolve) => {
    act.traceCallback((a, callback) => setTimeout(callback, 1, null, a), -1, { n: 5 }, null, 7, (error, value) => resolve(console.log(error, value)));
  });
  console.log(act.unsubscribe(handlers), act.unsubscribe(handlers));
  act.traceSync(() => console.log('nobody hears'));

  const store = new AsyncLocalStorage();
  const channel = channels.channel('store');
  channel.bindStore(store, (message) => message.value);
  channel.runStores({ value: 9 }, function run(argument) { console.log(store.getStore(), this.own, argument); }, { own: 1 }, 2);
  console.log(store.getStore(), channel.unbindStore(store), channel.unbindStore(store), channel.hasSubscribers);

  const constants = require('constants');
  console.log(Object.isFrozen(constants), constants.O_RDONLY, constants.SIGINT, constants.ENOENT);
  console.log(require('punycode').toASCII('mañana.com'), require('punycode').ucs2.decode('ab'));
  process.on('warning', ({ code }) => console.log(code));
  console.log(require('sys') === require('util'), require('node:sys') === require('util'));
}

main();
