// What AsyncLocalStorage gives behind every kind of asynchronous step, while others run.
'use strict';

const { AsyncLocalStorage, AsyncResource } = require('async_hooks');
const fs = require('fs');

const storage = new AsyncLocalStorage();
const store = () => storage.getStore();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function* generate() {
  await sleep(1);
  yield store();
  await 1;
  yield store();
}

async function work() {
  const own = store();
  const seen = [];
  const see = (what) => seen.push(store() === own ? what : `${what}:${store()}`);
  await 1;
  see('await');
  await sleep(2);
  see('timer');
  await { then(resolve) { see('then of another'); setTimeout(resolve, 3); } };
  see('thenable');
  for await (const value of generate()) see(`generator ${value === own}`);
  for await (const value of [1, Promise.resolve(2)]) see(`list ${value}`);
  await Promise.reject(new Error('no')).catch(() => see('catch'));
  try { await Promise.reject(new Error('no')); } catch { see('rejected'); }
  await Promise.all([sleep(1), 2, sleep(3)]);
  see('all');
  await Promise.race([sleep(1), sleep(2)]).finally(() => see('finally'));
  await new Promise((resolve) => process.nextTick(() => { see('tick'); resolve(); }));
  await new Promise((resolve) => setImmediate(() => { see('immediate'); resolve(); }));
  await new Promise((resolve) => queueMicrotask(() => { see('microtask'); resolve(); }));
  await new Promise((resolve) => fs.stat('/', () => { see('file'); resolve(); }));
  await fs.promises.stat('/');
  see('promise of a file');
  let beats = 0;
  await new Promise((resolve) => {
    const beat = setInterval(() => {
      see('interval');
      if (++beats < 2) return;
      clearInterval(beat);
      resolve();
    }, 1);
  });
  return `${own}: ${seen.join(', ')}`;
}

async function main() {
  const all = [work(), ...['a', 'b', 'c'].map((name) => storage.run(name, work))];
  console.log('outside', store());
  for (const each of await Promise.all(all)) console.log(each);
  storage.run('inner', () => {
    storage.exit(() => console.log('exit', store()));
    storage.run('nested', () => console.log(store()));
    console.log(store());
    const resource = new AsyncResource('Mine');
    setImmediate(() => storage.run('other', () => resource.runInAsyncScope((...args) => console.log('resource', store(), args), null, 1, 2)));
    const bound = AsyncResource.bind(() => console.log('bound', store()));
    storage.exit(() => setImmediate(bound));
  });
  storage.enterWith('entered');
  await null;
  console.log(store());
  storage.disable();
  console.log(store());
}

main();
process.on('unhandledRejection', (error) => console.log('unhandled', error.message));
storage.run('z', () => { Promise.reject(new Error('told of')); });
