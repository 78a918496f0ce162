// Children whose output is collected.
const { exec, execFile } = require('child_process');
const { promisify } = require('util');

const told = (error, stdout, stderr) => console.log(error && [error.code, error.signal, error.killed, error.cmd], [stdout], [stderr]);
const steps = [
  (next) => exec('echo a; echo b >&2', next),
  (next) => exec('exit 4', next),
  (next) => exec('kill -9 $$', next),
  (next) => exec('sleep 100', { timeout: 50 }, next),
  (next) => exec('echo 123456789', { maxBuffer: 5 }, next),
  (next) => exec('echo 12345', { encoding: 'buffer' }, next),
  (next) => exec('echo ä', { encoding: 'hex' }, next),
  (next) => execFile('/nowhere/at/all', ['x'], next),
  (next) => execFile('sh', ['-c', 'echo $X'], { env: { X: 'x', PATH: process.env.PATH } }, next),
  (next) => execFile('echo', next),
];
function step() {
  const next = steps.shift();
  if (!next) return promises();
  next((...args) => { told(...args); step(); });
}
step();

async function promises() {
  console.log(await promisify(exec)('echo promised'));
  await promisify(execFile)('sh', ['-c', 'echo out; exit 2']).catch((error) => console.log(error.code, error.stdout));
  const controller = new AbortController();
  const waiting = promisify(exec)('sleep 100', { signal: controller.signal });
  console.log(typeof waiting.child.pid);
  controller.abort();
  await waiting.catch((error) => console.log(error.name, error.code));
}
