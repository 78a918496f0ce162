const Module = require('module');
const here = (path) => path.replace(__dirname, '.');

console.log(Module === Module.Module, module instanceof Module, Module.isBuiltin('events'), Module.isBuiltin('node:events'), Module.isBuiltin('x'));
console.log(Module.builtinModules.includes('events'), Module.wrap('x'));
const own = Module.createRequire(`${__dirname}/fixtures/packages/app/x.js`);
console.log(own('simple'), own('#own'), own.resolve('./own').endsWith('app/own.js'), typeof own.cache, own.main === require.main);
console.log(Module.createRequire(`file://${__dirname}/fixtures/packages/`)('simple'), Module.createRequire(new (class { href = `file://${__dirname}/fixtures/`; })().href)('./both'));
for (const bad of ['relative', 5, undefined]) {
  try {
    Module.createRequire(bad);
  } catch (error) {
    console.log(error.name, error.code);
  }
}
const made = new Module('made');
made.filename = `${__dirname}/made.js`;
made.paths = Module._nodeModulePaths(__dirname);
made._compile('module.exports = [typeof require, __filename, require("./fixtures/both")]; exports.x = 1;', made.filename);
console.log(made.exports[0], here(made.exports[1]), made.exports[2], made.loaded);
console.log(Module._nodeModulePaths('/a/node_modules/b'));
console.log(here(Module._resolveFilename('./fixtures/both', module)), here(Module._findPath('./fixtures/both', [__dirname])));

// What some tools do: another way to load.
const load = Module._load;
Module._load = function (request, ...rest) {
  return request === 'made-up' ? 'made up' : Reflect.apply(load, this, [request, ...rest]);
};
console.log(require('made-up'), require('./fixtures/both'));
Module._load = load;

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  return Reflect.apply(resolve, this, [request === 'elsewhere' ? './fixtures/both' : request, ...rest]);
};
console.log(require('elsewhere'));
Module._resolveFilename = resolve;

const wrapped = Module.prototype.require;
Module.prototype.require = function (id) { return id === 'counted' ? 'by the prototype' : wrapped.call(this, id); };
console.log(require('counted'));
