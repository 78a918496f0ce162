const here = (path) => path.replace(__dirname, '.');

console.log(require('./fixtures/cycle/a'), require('./fixtures/cycle/b'));
console.log(require('./fixtures/counter'), require('./fixtures/counter.js'), require('./fixtures/../fixtures/counter'));
delete require.cache[require.resolve('./fixtures/counter')];
console.log(require('./fixtures/counter'));

for (let i = 0; i < 3; i++) {
  try {
    console.log(require('./fixtures/throws').tries);
  } catch (error) {
    console.log(error.message, require.resolve('./fixtures/throws') in require.cache);
  }
}

console.log(require('./fixtures/folder'), '|', require('./fixtures/folder/'), '|', require('./fixtures/with_main'));
console.log(require('./fixtures/bad_main'), '|', require('./fixtures/same'), '|', require('./fixtures/same/'), '|', require('./fixtures/both'));
console.log(require('./fixtures/data.json').list, require('./fixtures/data') === require('./fixtures/data.json'));
console.log(require('./fixtures/bom'), require('./fixtures/bom.json'), require('./fixtures/shebang'));
console.log(require('./fixtures/no_extension'), require('./fixtures/name.with.dots'));
console.log(require('./fixtures/shortcut'), require('./fixtures/plain.cjs'));

try {
  require('./fixtures/bad.json');
} catch (error) {
  console.log(error.name, here(error.message).slice(0, 20));
}

const part = require('./fixtures/parent');
console.log(part.parent === module, part.children().map((child) => here(child.id)), part.child.kind);
console.log(here(part.id), here(part.path), part.loadedThen, part.loaded(), part.main === module, here(part.paths[0]));
console.log(module.id, here(module.filename), module.loaded, module.exports === exports, this === exports, require.main === module);
console.log(module.children.length, module.children.every((child) => child.constructor === module.constructor));

console.log(here(require.resolve('./fixtures/folder')), require.resolve('events'), require.resolve('node:util'));
console.log(here(require.resolve('simple', { paths: [`${__dirname}/fixtures/packages`] })));
console.log(require.resolve.paths('./x').map(here), require.resolve.paths('events'), here(require.resolve.paths('x')[0]));
console.log(Object.keys(require.extensions));

for (const bad of ['', undefined, 5, {}]) {
  try {
    require(bad);
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
try {
  require('./fixtures/nothing');
} catch (error) {
  console.log(error.code, here(error.message), error.requireStack.map(here));
}

require.extensions['.shout'] = (module, filename) => { module.exports = here(filename).toUpperCase(); };
require.extensions['.test.js'] = (module) => { module.exports = 'a test'; };
console.log(require('./fixtures/loud'), require('./fixtures/some.test.js'));
delete require.extensions['.test.js'];

// What stands in the cache is what is given.
require.cache[require.resolve('./fixtures/plain.cjs')] = { exports: 'put there' };
console.log(require('./fixtures/plain.cjs'));
