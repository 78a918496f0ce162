// The events of children, and what they have as descriptors.
const { spawn, ChildProcess } = require('child_process');
const fs = require('fs');

const run = (name, make) => new Promise((resolve) => {
  const lines = [];
  const child = make((line) => lines.push(line));
  for (const event of ['spawn', 'error', 'exit', 'close']) {
    child.on(event, (...args) => lines.push(`${event} ${args.map((arg) => (arg instanceof Error ? `${arg.code} ${arg.syscall} ${arg.path}` : arg))}`));
  }
  child.on(child.pid === undefined ? 'error' : 'close', () => setImmediate(() => {
    console.log(name, lines, child.exitCode, child.signalCode, child.killed, child.spawnfile, child.spawnargs);
    resolve();
  }));
});

(async () => {
  await run('well', () => spawn('true'));
  await run('not there', () => spawn('/nowhere/at/all', ['x'], { stdio: 'ignore' }));
  await run('no directory', () => spawn('true', { cwd: '/nowhere/at/all', stdio: 'ignore' }));
  await run('killed', () => { const child = spawn('sleep', ['100'], { stdio: 'ignore' }); child.on('spawn', () => child.kill('SIGINT')); return child; });
  await run('in time', () => spawn('sleep', ['100'], { stdio: 'ignore', timeout: 30, killSignal: 'SIGKILL' }));
  await run('shell', () => spawn('exit 3', { shell: '/bin/sh', stdio: 'ignore' }));
  await run('slots', (say) => {
    const child = spawn('sh', ['-c', 'cat <&3; echo five >&5; sleep 0.1; cat /dev/fd/4'], { stdio: ['ignore', 'pipe', 'inherit', 'pipe', fs.openSync(__filename), 'pipe'] });
    child.stdio[3].end('three ');
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => { text += chunk; }).on('end', () => say(JSON.stringify(text.slice(0, 20))));
    child.stdio[5].setEncoding('utf8').on('data', (chunk) => { text += chunk; });
    child.stdio[5].on('end', () => {});
    return child;
  }).catch(console.log);
  await run('aborted', () => {
    const controller = new AbortController();
    const child = spawn('sleep', ['100'], { stdio: 'ignore', signal: controller.signal });
    child.on('spawn', () => controller.abort());
    return child;
  });
  const big = spawn('cat');
  let count = 0;
  big.stdout.on('data', (chunk) => { count += chunk.length; });
  big.stdin.end('x'.repeat(3_000_000));
  await new Promise((resolve) => big.on('close', resolve));
  console.log(count, big.stdin.destroyed, big.kill(), ChildProcess.name);
})();
