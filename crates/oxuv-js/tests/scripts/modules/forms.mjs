import standard, * as forms from './fixtures/esm/forms.mjs';
import { count, increment, shown, renamed, 'a text' as text } from './fixtures/esm/forms.mjs';
import { result } from './fixtures/esm/cycle_a.mjs';
import { early } from './fixtures/esm/cycle_b.mjs';
import './fixtures/esm/plain.mjs';

console.log(Object.keys(forms), standard.name, shown, renamed, text);
increment();
increment();
console.log(count, forms.count, forms.all.third, forms.standard);
for (const change of [() => { forms.count = 5; }, () => { forms.other = 5; }, () => { delete forms.count; }]) {
  try {
    change();
  } catch (error) {
    console.log(error.name);
  }
}
console.log(forms[Symbol.toStringTag], Object.isSealed(forms), Object.getPrototypeOf(forms), 'count' in forms);
console.log(result, early);
console.log(typeof this, typeof require, typeof module, typeof exports, typeof __filename);

const here = (url) => url.slice(url.lastIndexOf('/') + 1);
console.log(here(import.meta.url), import.meta.url.startsWith('file:///'), here(import.meta.filename), import.meta.dirname.endsWith('/modules'));
console.log(here(import.meta.resolve('./forms.mjs')), import.meta.resolve('events'), import.meta.resolve('node:events'), here(import.meta.resolve('./forms.mjs?q#h')));
console.log(Object.keys(import.meta), Object.getPrototypeOf(import.meta));
