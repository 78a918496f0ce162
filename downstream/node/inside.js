// What Node tells of its loop and of the machine.
'use strict';
const assert = require('assert');
const { spawn, execFile } = require('child_process');
const fs = require('fs');
const http = require('http');
const net = require('net');
const os = require('os');
const { check, once, collect } = require('./harness');

check('a report lists the handles', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const timer = setInterval(() => {}, 1000);
  const { libuv } = process.report.getReport();
  clearInterval(timer);
  const kinds = libuv.map(({ type }) => type);
  for (const kind of ['async', 'timer', 'check', 'idle', 'prepare', 'tcp', 'loop']) assert(kinds.includes(kind), `${kind} in ${kinds}`);
  const tcp = libuv.find((handle) => handle.type === 'tcp');
  assert.deepStrictEqual([tcp.is_active, tcp.is_referenced, tcp.localEndpoint.port], [true, true, server.address().port]);
  assert(libuv.find(({ type }) => type === 'loop').is_active);
  server.close();
});

check('the resources that keep the process', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  assert(process.getActiveResourcesInfo().includes('TCPServerWrap'));
  server.close();
});

check('the machine and the process', async () => {
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  const meminfo = fs.readFileSync('/proc/meminfo', 'utf8');
  assert.strictEqual(os.totalmem(), 1024 * Number(meminfo.match(/MemTotal: +(\d+)/)[1]));
  assert(Math.abs(os.freemem() - 1024 * Number(meminfo.match(/MemAvailable: +(\d+)/)[1])) < 500e6);
  assert.strictEqual(os.cpus().length, fs.readFileSync('/proc/cpuinfo', 'utf8').match(/^processor/gm).length);
  assert(os.cpus().every((cpu) => cpu.model && cpu.times.user > 0));
  assert(Math.abs(os.uptime() - parseFloat(fs.readFileSync('/proc/uptime', 'utf8'))) < 2);
  assert(Math.abs(os.loadavg()[0] - parseFloat(fs.readFileSync('/proc/loadavg', 'utf8'))) < 1);
  assert.strictEqual(os.hostname(), fs.readFileSync('/proc/sys/kernel/hostname', 'utf8').trim());
  assert.strictEqual(os.userInfo().uid, process.getuid());
  assert.deepStrictEqual(os.networkInterfaces().lo[0], { address: '127.0.0.1', netmask: '255.0.0.0', family: 'IPv4', mac: '00:00:00:00:00:00', internal: true, cidr: '127.0.0.1/8' });
  assert(Math.abs(process.memoryUsage().rss / 1024 - Number(status.match(/VmRSS:\s+(\d+)/)[1])) < 50000);
  assert(process.resourceUsage().userCPUTime > 0 && process.cpuUsage().user > 0);
  assert.strictEqual(os.getPriority(), 0);
  os.setPriority(3);
  assert.strictEqual(os.getPriority(), 3);
  assert.strictEqual(process.cwd(), fs.realpathSync('.'));
  process.title = 'named';
  assert.strictEqual(fs.readFileSync('/proc/self/cmdline', 'utf8').split('\0')[0], 'named');
  assert.throws(() => process.kill(process.pid, 'SIGNONE'), { code: 'ERR_UNKNOWN_SIGNAL' });
  assert.throws(() => process.kill(99999999, 0), { code: 'ESRCH' });
});

check('errors have libuv\'s names and messages', async () => {
  const { getSystemErrorMap, getSystemErrorName } = require('util');
  assert.strictEqual(getSystemErrorName(-13), 'EACCES');
  assert.deepStrictEqual(getSystemErrorMap().get(-4095), ['EOF', 'end of file']);
  assert(getSystemErrorMap().size > 75);
});

check('the inspector listens on a loop of its own', async () => {
  const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', '-e', 'setInterval(() => {}, 1000)']);
  let said = '';
  child.stderr.on('data', (chunk) => said += chunk);
  while (!/ws:\S+/.test(said)) await once(child.stderr, 'data');
  const { host, pathname } = new URL(said.match(/ws:\S+/)[0]);
  const [name, port] = host.split(':');
  const response = await once(http.get({ host: name, port, path: '/json/list', agent: false }), 'response');
  assert.strictEqual(JSON.parse(await collect(response))[0].id, pathname.slice(1));
  child.kill();
  await once(child, 'exit');
});

check('a prompt answers', async () => {
  const child = spawn(process.execPath, ['-i'], { env: { ...process.env, NODE_REPL_HISTORY: '' } });
  child.stdin.end('const a = 6\na * 7\nawait new Promise((r) => setTimeout(r, 5, "late"))\n');
  const said = String(await collect(child.stdout));
  assert.match(said, /42\n/);
  assert.match(said, /'late'\n/);
});

check('a trace is written', async () => {
  await new Promise((resolve, reject) => {
    execFile(process.execPath, ['--trace-event-categories', 'node.async_hooks', '--trace-event-file-pattern', 'trace.json', '-e',
      'setTimeout(() => {}, 5)'], (error) => (error ? reject(error) : resolve()));
  });
  const { traceEvents } = JSON.parse(fs.readFileSync('trace.json', 'utf8'));
  assert(traceEvents.some(({ name }) => name === 'Timeout'));
});

check('heavy work on threads, and a limit of them', async () => {
  const script = 'const c = require("crypto"); let n = 0; for (let i = 0; i < 16; i++) c.scrypt("a", "b", 32, (e, k) => { if (!e && k.length === 32) n++; if (n === 16) console.log(require("fs").readdirSync("/proc/self/task").length) })';
  const count = async (threads) => {
    const child = spawn(process.execPath, ['-e', script], { env: { ...process.env, UV_THREADPOOL_SIZE: String(threads) } });
    return Number(await collect(child.stdout));
  };
  const [one, nine] = [await count(1), await count(9)];
  assert.strictEqual(nine - one, 8);
});
