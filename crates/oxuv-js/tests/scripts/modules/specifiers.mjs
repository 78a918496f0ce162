// Specifiers that lead nowhere, and attributes of imports in the words of Node 18.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'fs';
import { createRequire } from 'module';
import { tmpdir } from 'os';

const folder = mkdtempSync(`${tmpdir()}/oxuv-specifiers-`);
mkdirSync(`${folder}/node_modules/pk/sub`, { recursive: true });
writeFileSync(`${folder}/node_modules/pk/package.json`, '{"name":"pk","exports":{"./*":"./*.js","./sub/*":"./sub/*"}}');
writeFileSync(`${folder}/data.json`, '{"a":1}');
writeFileSync(`${folder}/attribute.mjs`, 'const text = `\nimport a from "./x" assert {b}`;\nexport const c = text;\n  import d from \'./data.json\' assert { type: \'json\' };\n' +
  'import "./data.json" assert {type:"json"}; export { default as e } from "./data.json" assert {type:"json"};\nexport { d };\n');
writeFileSync(`${folder}/statement.mjs`, 'let assert = 1\nimport "./attribute.mjs"\nassert\n{ assert++ }\nexport { assert };\n');
writeFileSync(`${folder}/ask.mjs`, 'export default (name) => import(name);\n');

const { default: ask } = await import(`${folder}/ask.mjs`);
const say = (name, error) => console.log(JSON.stringify(name), error.code, error.message.replaceAll(folder, '.'));
for (const name of ['%2f', '%41', 'pk/sub/../x', 'pk/%2fx', './a%2fb', './%5c', 'pk%2fx', '.pk', '@a', '@a/', 'pk\\x', 'pk/node_modules/x']) {
  await ask(name).catch((error) => say(name, error));
}
const require = createRequire(`${folder}/x.js`);
for (const name of ['pk/sub/../x', 'pk/node_modules/x']) {
  try { require(name); } catch (error) { say(name, error); }
}
const { c, d, e } = await import(`${folder}/attribute.mjs`);
console.log(JSON.stringify(c), d, e, (await import(`${folder}/statement.mjs`)).assert);
rmSync(folder, { recursive: true });
