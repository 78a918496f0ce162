const here = (text) => text.replaceAll(`file://${__dirname}`, '.').replaceAll(__dirname, '.');
const show = (name) => import(name).then(
  (all) => console.log(name, Object.keys(all).length, all.default ?? all.value),
  (error) => console.log(name, error.name, error.code, here(error.message).split('\n')[0]),
);
(async () => {
  await show('./fixtures/esm/plain.mjs');
  await show('./fixtures/esm/awaits.mjs');
  await show('./fixtures/esm/throws.mjs');
  await show('./fixtures/esm/throws.mjs');
  await show('./fixtures/esm/nothing.mjs');
  await show('./fixtures/esm');
  await show('./fixtures/folder');
  await show('nothing-of-that-name');
  await show('node:nothing');
  await show('http://localhost/x.js');
  await show('./fixtures/loud.shout');
  await show('data:text/javascript,export default 5');
  await show('data:text/javascript;base64,ZXhwb3J0IGRlZmF1bHQgJ8Okw7bDvCc7');
  await show('data:text/plain,hello');
  await show('./fixtures/data.json');
  await show('#own');
  console.log((await import('./fixtures/data.json', { with: { type: 'json' } })).default.list);
  console.log((await import('data:application/json,{"a":1}', { with: { type: 'json' } })).default);
  console.log((await import('./fixtures/esm/plain.mjs?other')).value, (await import('./fixtures/esm/plain.mjs')) === (await import('./fixtures/esm/plain.mjs?other')));
  console.log((await import(`file://${__dirname}/fixtures/esm/plain.mjs`)) === (await import('./fixtures/esm/plain.mjs')));
  console.log((await import('./fixtures/both.js')).default, (await import('./fixtures/esm/unmarked.js')).value);
  for (const name of ['exporting', 'exporting/conditions', 'exporting/features/one', 'text_exports', 'main_field', 'simple', '@scope/thing', 'exporting/private', 'simple/sub/deep', 'simple/sub/deep.js', '#by-condition', '#simple', 'packages']) {
    const { load } = await import('./fixtures/packages/load.mjs');
    await load(name).then((all) => console.log(name, all.default), (error) => console.log(name, error.code));
  }
})();
