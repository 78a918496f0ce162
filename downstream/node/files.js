'use strict';
const assert = require('assert');
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const { pipeline } = require('stream/promises');
const { check, rounds, once, collect, digest } = require('./harness');

const base = fs.mkdtempSync('./files-');
const at = (...parts) => path.join(base, ...parts);
const until = async (holds) => {
  for (let i = 0; i < 500 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert(holds(), String(holds));
};

check('streams copy megabytes, in full and in part', async () => {
  const data = crypto.randomBytes(rounds(8, 64) * 1048576);
  fs.writeFileSync(at('from'), data);
  await pipeline(fs.createReadStream(at('from')), fs.createWriteStream(at('to')));
  assert.strictEqual(digest(fs.readFileSync(at('to'))), digest(data));
  const part = await collect(fs.createReadStream(at('from'), { start: 1000, end: 70000 }));
  assert(part.equals(data.subarray(1000, 70001)));
  const over = fs.createWriteStream(at('to'), { flags: 'r+', start: 500 });
  over.cork();
  for (let i = 0; i < 50; i++) over.write(`piece ${i};`);
  over.end();
  await once(over, 'close');
  assert.strictEqual(fs.readFileSync(at('to')).subarray(500, 516).toString(), 'piece 0;piece 1;');
});

check('five hundred files at once', async () => {
  await Promise.all(Array.from({ length: 500 }, async (_, i) => {
    const name = at(`many-${i}`);
    await fs.promises.writeFile(name, `text ${i}`);
    await fs.promises.appendFile(name, '!');
    assert.strictEqual(await fs.promises.readFile(name, 'utf8'), `text ${i}!`);
    assert.strictEqual((await fs.promises.stat(name)).size, `text ${i}!`.length);
    await fs.promises.rename(name, `${name}.x`);
    await fs.promises.unlink(`${name}.x`);
  }));
  assert.strictEqual(fs.readdirSync(base).filter((name) => name.startsWith('many')).length, 0);
});

check('one file through all the calls', async () => {
  const file = await fs.promises.open(at('one'), 'w+', 0o640);
  assert.strictEqual((await file.writev([Buffer.from('abc'), Buffer.from('defg')])).bytesWritten, 7);
  const two = [Buffer.alloc(2), Buffer.alloc(10)];
  assert.strictEqual((await file.readv(two, 1)).bytesRead, 6);
  assert.deepStrictEqual([two[0].toString(), two[1].toString('utf8', 0, 4)], ['bc', 'defg']);
  await file.truncate(3);
  await file.sync();
  await file.datasync();
  await file.chmod(0o600);
  await file.utimes(1234567890.123, 987654321.5);
  const stat = await file.stat({ bigint: true });
  assert.deepStrictEqual([stat.size, Number(stat.mode) & 0o777, stat.mtimeNs], [3n, 0o600, 987654321500000000n]);
  // No number of this kind is exactly that time.
  assert(Math.abs(Number(stat.atimeNs - 1234567890123000000n)) <= 1000, String(stat.atimeNs));
  await file.close();
  await assert.rejects(file.read(Buffer.alloc(1)), { code: 'EBADF' });
});

check('folders, links, times, space', async () => {
  await fs.promises.mkdir(at('a/b/c'), { recursive: true });
  await fs.promises.writeFile(at('a/b/c/file'), 'x');
  await fs.promises.symlink('b/c/file', at('a/link'));
  await fs.promises.link(at('a/b/c/file'), at('a/hard'));
  assert.strictEqual(await fs.promises.readlink(at('a/link')), 'b/c/file');
  assert.strictEqual(await fs.promises.realpath(at('a/link')), path.resolve(at('a/b/c/file')));
  assert.strictEqual((await fs.promises.stat(at('a/hard'))).nlink, 2);
  assert((await fs.promises.lstat(at('a/link'))).isSymbolicLink());
  await fs.promises.lutimes(at('a/link'), 5, 6);
  assert.strictEqual((await fs.promises.lstat(at('a/link'))).mtimeMs, 6000);
  const kinds = (await fs.promises.readdir(at('a'), { withFileTypes: true })).map((e) => [e.name, e.isDirectory(), e.isFile(), e.isSymbolicLink()]);
  assert.deepStrictEqual(kinds.sort(), [['b', true, false, false], ['hard', false, true, false], ['link', false, false, true]]);
  const names = [];
  for await (const entry of await fs.promises.opendir(at('a'), { bufferSize: 1 })) names.push(entry.name);
  assert.deepStrictEqual(names.sort(), ['b', 'hard', 'link']);
  await fs.promises.cp(at('a'), at('copy'), { recursive: true });
  assert.strictEqual(fs.readFileSync(at('copy/b/c/file'), 'utf8'), 'x');
  await fs.promises.copyFile(at('a/hard'), at('copied'), fs.constants.COPYFILE_EXCL);
  await assert.rejects(fs.promises.copyFile(at('a/hard'), at('copied'), fs.constants.COPYFILE_EXCL), { code: 'EEXIST', syscall: 'copyfile' });
  await fs.promises.rm(at('copy'), { recursive: true });
  assert(!fs.existsSync(at('copy')));
});

check('errors by name, number, call and path', async () => {
  const list = [
    [() => fs.promises.open('/no/such', 'r'), 'ENOENT', 'open'],
    [() => fs.promises.readFile(base), 'EISDIR', 'read'],
    [() => fs.promises.rmdir(at('a')), 'ENOTEMPTY', 'rmdir'],
    [() => fs.promises.readdir(at('one')), 'ENOTDIR', 'scandir'],
    [() => fs.promises.mkdir(at('a')), 'EEXIST', 'mkdir'],
    [() => fs.promises.readlink(at('one')), 'EINVAL', 'readlink'],
    [() => fs.promises.access('/no/such'), 'ENOENT', 'access'],
    [() => fs.promises.symlink('x', at('one')), 'EEXIST', 'symlink'],
    [() => fs.promises.stat(`/${'x'.repeat(5000)}`), 'ENAMETOOLONG', 'stat'],
  ];
  for (const [run, code, syscall] of list) await assert.rejects(run(), { code, syscall });
  const error = await fs.promises.rename('/no/such', at('x')).catch((error) => error);
  assert.deepStrictEqual([error.errno, error.path, error.message.slice(0, 33)], [-2, '/no/such', 'ENOENT: no such file or directory']);
});

check('what needs no callback', async () => {
  fs.mkdirSync(at('sync'));
  fs.writeFileSync(at('sync/f'), 'abc');
  fs.copyFileSync(at('sync/f'), at('sync/g'));
  fs.truncateSync(at('sync/g'), 1);
  assert.deepStrictEqual(fs.readdirSync(at('sync')).map((n) => fs.readFileSync(at('sync', n), 'utf8')), ['abc', 'a']);
  assert.throws(() => fs.openSync(at('sync/none')), { code: 'ENOENT' });
  fs.rmSync(at('sync'), { recursive: true });
  const copied = fs.readFileSync('/proc/self/status', 'utf8');
  assert.match(copied, new RegExp(`Pid:\t${process.pid}\n`));
});

check('watching a folder', async () => {
  const seen = [];
  fs.mkdirSync(at('watched'));
  const watcher = fs.watch(at('watched'), (event, name) => seen.push(`${event} ${name}`));
  fs.writeFileSync(at('watched/new'), 'x');
  await until(() => seen.includes('rename new') && seen.includes('change new'));
  fs.renameSync(at('watched/new'), at('watched/old'));
  await until(() => seen.includes('rename old'));
  fs.unlinkSync(at('watched/old'));
  await until(() => seen.filter((s) => s === 'rename old').length === 2);
  watcher.close();
  await once(watcher, 'close');
  const count = seen.length;
  fs.writeFileSync(at('watched/later'), 'x');
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.strictEqual(seen.length, count);
  assert.throws(() => fs.watch('/no/such'), { code: 'ENOENT', syscall: 'watch' });
});

check('watching a file, by events and by looking', async () => {
  fs.writeFileSync(at('file'), '1');
  const abort = new AbortController();
  const changes = [];
  const loop = (async () => {
    for await (const change of fs.promises.watch(at('file'), { signal: abort.signal })) changes.push(change.eventType);
  })().catch((error) => assert.strictEqual(error.name, 'AbortError'));
  const looks = [];
  fs.watchFile(at('file'), { interval: 20 }, (now, before) => looks.push([before.size, now.size]));
  await new Promise((resolve) => setTimeout(resolve, 60));
  fs.appendFileSync(at('file'), '23');
  await until(() => changes.includes('change') && looks.length > 0);
  assert.deepStrictEqual(looks[0], [1, 3]);
  fs.unlinkSync(at('file'));
  await until(() => looks.length > 1);
  assert.deepStrictEqual(looks[looks.length - 1], [3, 0]);
  fs.unwatchFile(at('file'));
  abort.abort();
  await loop;
  fs.rmSync(base, { recursive: true });
});
