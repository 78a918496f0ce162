'use strict';
const assert = require('assert');
const crypto = require('crypto');
const fs = require('fs');
const { spawn, spawnSync, exec, execFile, execFileSync, fork } = require('child_process');
const { promisify } = require('util');
if (process.argv[2] === 'child') {
  process.on('message', (message) => {
    if (message.end) process.disconnect();
    else process.send({ back: message, kind: message.when instanceof Date });
  });
  return;
}

const { check, rounds, once, collect, digest } = require('./harness');

check('output, codes and signals', async () => {
  const { stdout, stderr } = await promisify(exec)('echo out; echo err >&2');
  assert.deepStrictEqual([stdout, stderr], ['out\n', 'err\n']);
  await assert.rejects(promisify(exec)('exit 3'), { code: 3 });
  await assert.rejects(promisify(execFile)('sleep', ['20'], { timeout: 50 }), { killed: true, signal: 'SIGTERM' });
  await assert.rejects(promisify(exec)('head -c 3000000 /dev/zero'), { code: 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' });
  assert.strictEqual((await once(spawn('/no/such/program'), 'error')).code, 'ENOENT');
  assert.strictEqual((await once(spawn('true', { cwd: '/no/such/folder' }), 'error')).code, 'ENOENT');
  assert.strictEqual((await once(spawn('/etc/passwd'), 'error')).code, 'EACCES');
  const child = spawn('sleep', ['20']);
  assert(child.kill('SIGKILL'));
  assert.deepStrictEqual(await once(child, 'exit'), [null, 'SIGKILL']);
});

check('megabytes through a filter', async () => {
  const data = crypto.randomBytes(rounds(4, 40) * 1048576);
  const child = spawn('cat');
  const back = collect(child.stdout);
  child.stdin.end(data);
  assert.strictEqual(digest(await back), digest(data));
});

check('fifty processes at once', async () => {
  const ends = await Promise.all(Array.from({ length: 50 }, (_, i) => once(spawn('sh', ['-c', `exit ${i}`]), 'exit')));
  assert.deepStrictEqual(ends.map(([code]) => code), Array.from({ length: 50 }, (_, i) => i));
});

check('files, inherited and further descriptors', async () => {
  const file = fs.openSync('said.txt', 'w');
  const child = spawn('sh', ['-c', 'echo to file; echo to four >&4; read line <&3; echo "$line" >&2'], { stdio: ['ignore', file, 'pipe', 'pipe', 'pipe'] });
  fs.closeSync(file);
  const four = collect(child.stdio[4]), two = collect(child.stderr);
  child.stdio[3].end('from three\n');
  assert.strictEqual(String(await four), 'to four\n');
  assert.strictEqual(String(await two), 'from three\n');
  assert.strictEqual(fs.readFileSync('said.txt', 'utf8'), 'to file\n');
});

check('environment, folder, name, user and session', async () => {
  const child = spawn('sh', ['-c', 'echo "$A,$HOME,$(pwd),$0,$(ps -o sid= -p $$ 2>/dev/null || cut -d" " -f6 /proc/$$/stat),$$"'],
    { env: { A: 'b', PATH: process.env.PATH }, cwd: '/tmp', argv0: 'name', detached: true });
  const [a, home, folder, , session, pid] = String(await collect(child.stdout)).trim().split(',');
  assert.deepStrictEqual([a, home, folder], ['b', '', '/tmp']);
  assert.strictEqual(Number(session), Number(pid));
});

check('what waits for a process', async () => {
  const done = spawnSync('cat', { input: 'x'.repeat(300000) });
  assert.deepStrictEqual([done.status, done.stdout.length], [0, 300000]);
  const late = spawnSync('sleep', ['20'], { timeout: 60 });
  assert.deepStrictEqual([late.signal, late.error.code], ['SIGTERM', 'ETIMEDOUT']);
  assert.strictEqual(spawnSync('/no/such/program').error.code, 'ENOENT');
  assert.strictEqual(spawnSync('head', ['-c', '5000', '/dev/zero'], { maxBuffer: 100 }).error.code, 'ENOBUFS');
  assert.strictEqual(String(execFileSync('sh', ['-c', 'cat; echo $0'], { input: 'in ' })), 'in sh\n');
});

for (const serialization of ['json', 'advanced']) {
  check(`messages between processes: ${serialization}`, async () => {
    const child = fork(__filename, ['child'], { serialization });
    const big = { text: 'é'.repeat(rounds(100000, 1000000)), when: new Date(5) };
    for (let i = 0; i < rounds(5, 20); i++) {
      child.send(big);
      const [{ back, kind }] = await once(child, 'message');
      assert.strictEqual(back.text, big.text);
      assert.strictEqual(kind, serialization === 'advanced');
    }
    let count = 0;
    const all = new Promise((resolve) => child.on('message', ({ back }) => {
      assert.strictEqual(back.i, count++);
      if (count === 2000) resolve();
    }));
    for (let i = 0; i < 2000; i++) child.send({ i });
    await all;
    child.send({ end: true });
    assert.deepStrictEqual(await once(child, 'exit'), [0, null]);
    assert.strictEqual(child.connected, false);
  });
}

check('a child that outlives an unref does not keep its parent', async () => {
  const began = Date.now();
  const script = 'const c = require("child_process").spawn("sleep", ["3"], { stdio: "ignore", detached: true }); c.unref(); console.log(c.pid)';
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script]);
  assert(Date.now() - began < 2900);
  process.kill(Number(stdout), 'SIGKILL');
});

check('signals to oneself', async () => {
  for (const signal of ['SIGUSR2', 'SIGHUP', 'SIGINT', 'SIGWINCH']) {
    const came = once(process, signal);
    process.kill(process.pid, signal);
    assert.strictEqual((await came)[0], signal);
  }
  const child = spawn(process.execPath, ['-e', 'process.once("SIGTERM", () => { console.log("first"); }); console.log("up"); setInterval(() => {}, 1000)']);
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
    child.kill('SIGTERM');
  });
  assert.deepStrictEqual(await once(child, 'close'), [null, 'SIGTERM']);
  assert.strictEqual(said, 'up\nfirst\n');
});
