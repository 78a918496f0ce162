// util.inspect: errors.
const util = require('util');
console.log(util.inspect(new Error('m')).split('\n')[0]);
class MyE extends Error {}
console.log(util.inspect(new MyE('m')).split('\n')[0]);
class MyE2 extends TypeError {
  constructor(m) {
    super(m);
    this.name = 'Named';
    this.extra = 1;
  }
}
console.log(util.inspect(new MyE2('m')).replace(/\n +at .*/g, ''));
const e = new Error('x', { cause: new Error('c') });
console.log(
  util
    .inspect(e)
    .replace(/\n +at .*/g, '')
    .replace(/\n +\.\.\. .*/g, ''),
);
const ne = new Error('nostack');
Object.defineProperty(ne, 'stack', { value: undefined });
console.log(util.inspect(ne));
const ae = new AggregateError([new Error('1')], 'agg');
console.log(util.inspect(ae).replace(/\n +at .*/g, ''));
const se = new Error('s');
se.stack = 'custom stack';
console.log(util.inspect(se));
const ce = new Error('code');
ce.code = 'E';
ce.name = 'Other';
console.log(util.inspect(ce).replace(/\n +at .*/g, ''));
console.log(util.inspect({ e: Object.assign(new RangeError('in'), { stack: 'RangeError: in\n    at x' }) }));
console.log(util.inspect(new Error('')).split('\n')[0]);
console.log(util.inspect(Object.create(Error.prototype)));
const nn = new Error('null');
Object.setPrototypeOf(nn, null);
console.log(util.inspect(nn).split('\n')[0]);
