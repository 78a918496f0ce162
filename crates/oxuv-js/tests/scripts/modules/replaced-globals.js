const { log } = console;
for (const name of ['process', 'console', 'Buffer', 'queueMicrotask', 'setTimeout', 'setImmediate', 'atob', 'structuredClone', 'URL']) {
  globalThis[name] = { replaced: true };
}
globalThis.global = 5;
const own = require('process');
log(process.replaced, console.replaced, Buffer.replaced, typeof own.argv, require('./fixtures/both'));
own.nextTick(() => log('tick'));
require('timers').setTimeout(() => log('timer'), 60);
new (require('events'))().once('x', () => log('event')).emit('x');
import('data:text/javascript;base64,ZXhwb3J0IGRlZmF1bHQgNQ==').then((all) => log(all.default));
import('./fixtures/esm/plain.mjs').then((all) => log(all.value));
log(require('util').inspect(new Error('x')).split('\n')[0]);
own.on('exit', (code) => log('exit', code));
Promise.resolve().then(() => { own.exitCode = 3; });
