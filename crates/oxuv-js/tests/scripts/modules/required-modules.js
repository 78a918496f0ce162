const typed = require('./fixtures/typed');
console.log(typed.kind, typed.default, Object.keys(typed));
console.log(require('./fixtures/typed/old.cjs'), require('./fixtures/esm/plain.mjs').value);
console.log(require('./fixtures/esm/plain.mjs') === require('./fixtures/esm/plain.mjs'));
try {
  require('./fixtures/esm/awaits.mjs');
} catch (error) {
  console.log(error.name, error.code);
}
try {
  require('./fixtures/esm/throws.mjs');
} catch (error) {
  console.log(error.message);
}
console.log(require('./fixtures/esm/unmarked').value);
import('./fixtures/esm/plain.mjs').then((all) => console.log(all.value, all === require('./fixtures/esm/plain.mjs')));
