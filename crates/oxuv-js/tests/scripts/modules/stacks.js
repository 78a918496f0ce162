function a() { return new Error('one'); }
const here = (s) => s.replaceAll(__dirname, '.');
console.log(here(a().stack).split('\n').slice(0, 3).join('|').replace(/:\d+\)/g, ')'));
const o = { name: 'Own', message: 'thing' };
Error.captureStackTrace(o);
console.log(here(o.stack).split('\n')[0], Object.getOwnPropertyDescriptor(o, 'stack') !== undefined, Object.keys(o));
function outer() { inner(); return o2; }
const o2 = {};
function inner() { Error.captureStackTrace(o2, inner); }
outer();
console.log(here(o2.stack).split('\n').slice(0, 2).map(l => l.replace(/:\d+:\d+/, '')).join('|'));
Error.stackTraceLimit = 1;
console.log(a().stack.split('\n').length);
Error.stackTraceLimit = 0;
console.log(JSON.stringify(a().stack));
Error.stackTraceLimit = 10;
const e = new Error('first'); e.message = 'second'; console.log(e.stack.split('\n')[0]);
e.stack = 'mine'; console.log(e.stack, Object.keys(e));
class Own extends Error { constructor(m) { super(m); this.name = 'Own'; } }
console.log(new Own('x').stack.split('\n')[0], String(new Own('x')));
class Named extends Error { get name() { return 'Named'; } }
console.log(new Named('x').stack.split('\n')[0]);
console.log(new Error('a\nb').stack.split('\n').slice(0, 2), new Error().stack.split('\n')[0], new Error('').stack.split('\n')[0]);
Error.prepareStackTrace = (error, sites) => [error.message, Array.isArray(sites), sites[0].getFunctionName(), here(sites[0].getFileName()), sites[0].getLineNumber(), typeof sites[0].getColumnNumber(), sites[0].isNative(), sites[0].isEval(), sites[0].isToplevel(), here(String(sites[0])).replace(/\d+\)$/, '')];
console.log(a().stack);
const o3 = {}; Error.captureStackTrace(o3); console.log(o3.stack[3]);
Error.prepareStackTrace = () => { throw new RangeError('in prepare'); };
try { a().stack; console.log('no throw'); } catch (x) { Error.prepareStackTrace = undefined; console.log(x.message); }
Error.prepareStackTrace = undefined;
console.log(a().stack.split('\n')[0]);
const ag = new AggregateError([new Error('i')], 'many'); console.log(ag.stack.split('\n')[0]);
console.log(Error('no new').stack.split('\n')[0]);
const frozen = Object.freeze(new Error('cold')); console.log(frozen.stack.split('\n')[0], frozen.stack === frozen.stack);
function Old() { Error.captureStackTrace(this, Old); } Old.prototype = Object.create(Error.prototype); Old.prototype.name = 'Old';
console.log(new Old().stack.split('\n')[0]);
async function f1() { await null; throw new Error('async'); }
f1().catch((x) => console.log(here(x.stack).split('\n').slice(0, 2).map(l => l.replace(/:\d+:\d+/, ''))));
const r = () => r();
try { r(); } catch (x) { console.log(x instanceof RangeError, x.message, x.stack.split('\n').length > 5); }
let d = []; for (let i = 0; i < 1e5; i++) d = [d];
try { JSON.stringify(d); } catch (x) { console.log(x instanceof RangeError, x.message); }
