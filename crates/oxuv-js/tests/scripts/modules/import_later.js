// What is imported when timers have fired.
'use strict';
const say = (name) => (module) => console.log(name, typeof module.default);
const fail = (error) => console.log('failed', error.message);
setTimeout(() => import('node:fs').then(say('after a timer'), fail), 1);
setTimeout(() => {
  setImmediate(() => import('node:path').then(say('after an immediate'), fail));
}, 20);
