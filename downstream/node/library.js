'use strict';
const assert = require('assert');
const { spawn } = require('child_process');
const { check, library, once, collect } = require('./harness');

check('the library is in node', async () => {
  assert.strictEqual(library(process.pid), process.env.OXUV_LIBRARY);
});

check('and in a child without environment', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log("up")'], { env: {}, stdio: 'pipe' });
  const said = collect(child.stdout);
  await once(child.stdout, 'readable');
  assert.strictEqual(library(child.pid), process.env.OXUV_LIBRARY);
  child.stdin.end();
  assert.deepStrictEqual(await once(child, 'close'), [0, null]);
  assert.strictEqual(String(await said), 'up\n');
});
