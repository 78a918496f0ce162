// What is nested deep takes time by its text, and ends where there is no stack for it.
'use strict';
const { inspect } = require('util');
const nested = (depth) => {
  let value = {};
  for (let i = 0; i < depth; i++) value = { a: i, value, z: [i] };
  return value;
};
const begin = Date.now();
const text = inspect(nested(500), { depth: Infinity });
console.log(text.split('\n').length, Date.now() - begin < 5000);
console.log(text.slice(0, 60));
console.log(/Inspection interrupted prematurely\. Maximum call stack size exceeded\.\]/.test(inspect(nested(20000), { depth: Infinity })));
