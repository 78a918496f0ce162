// Children that the script waits for.
const { spawnSync, execSync, execFileSync } = require('child_process');

const told = ({ status, signal, stdout, stderr, error }) => console.log(status, signal, stdout, stderr, error?.code, error?.syscall);
told(spawnSync('/bin/sh', ['-c', 'cat; echo err >&2; exit 3'], { input: 'fed\n', encoding: 'utf8' }));
told(spawnSync('sleep', ['100'], { timeout: 50, encoding: 'utf8' }));
told(spawnSync('sleep', ['100'], { timeout: 50, killSignal: 'SIGKILL', encoding: 'utf8' }));
told(spawnSync('/nowhere/at/all'));
told(spawnSync('pwd', { cwd: '/', encoding: 'utf8' }));
told(spawnSync('pwd', { cwd: '/nowhere/at/all', encoding: 'utf8' }));
told(spawnSync('echo $0 $A "$B"', { shell: true, env: { A: 'a', B: '=b c' }, encoding: 'utf8' }));
told(spawnSync('sh', ['-c', 'echo $0'], { argv0: 'other', encoding: 'utf8' }));
told(spawnSync('sh', ['-c', 'cat; echo four >&4'], { stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'], encoding: 'utf8' }));
const { output, error } = spawnSync('sh', ['-c', 'echo out; echo four >&4'], { stdio: ['pipe', 'ignore', 'pipe', 'ignore', 'pipe'] });
console.log(output, error);
const much = spawnSync('yes', { maxBuffer: 10 });
console.log(much.error.code, much.signal, much.stdout.length >= 10);
console.log(execSync('printf %s "$0"').toString(), execFileSync('printf', ['%s', 'a b']).length);
for (const make of [() => execSync('echo why >&2; exit 2', { stdio: 'pipe' }), () => execFileSync('false'), () => execFileSync('/nowhere/at/all')]) {
  try {
    make();
  } catch (error) {
    console.log(JSON.stringify(error.message), error.status, error.code, error.pid > 0);
  }
}
for (const [file, args, options] of [[''], ['a\0b'], ['ls', 'text'], ['ls', [], 5], ['ls', [], { cwd: 5 }], ['ls', [], { timeout: -1 }],
  ['ls', [], { killSignal: 'SIGNONE' }], ['ls', [], { stdio: ['ipc'] }], ['ls', [], { uid: 2 ** 40 }], ['ls', [], { input: 5 }]]) {
  try {
    spawnSync(file, args, options);
    console.log('well');
  } catch (error) {
    console.log(error.code);
  }
}
// More than a pipe holds goes both ways.
const long = 'x'.repeat(1 << 20);
console.log(spawnSync('cat', { input: long, maxBuffer: Infinity }).stdout.toString() === long);
