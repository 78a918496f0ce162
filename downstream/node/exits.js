'use strict';
const assert = require('assert');
const { execFile } = require('child_process');
const { check } = require('./harness');

// An end of the process in each phase: with this code, after these lines.
const cases = {
  'at once': ['process.exit(3)', 3, 'exit 3\n'],
  'in a tick': ['process.nextTick(() => process.exit(3))', 3, 'exit 3\n'],
  'in a promise': ['Promise.resolve().then(() => process.exit(3))', 3, 'exit 3\n'],
  'in a timer': ['setTimeout(() => process.exit(3), 1); setInterval(() => {}, 1)', 3, 'exit 3\n'],
  'in an immediate': ['setImmediate(() => process.exit(3)); setImmediate(() => console.log("no"))', 3, 'exit 3\n'],
  'in a file\'s callback': ['require("fs").readFile("/etc/passwd", () => process.exit(3))', 3, 'exit 3\n'],
  'with work on threads': ['for (let i = 0; i < 20; i++) require("crypto").pbkdf2("a", "b", 3000, 64, "sha512", () => process.exit(3))', 3, 'exit 3\n'],
  'in a connection\'s callback': ['const n = require("net"); const s = n.createServer(() => process.exit(3)).listen(0, "127.0.0.1", () => n.connect(s.address().port))', 3, 'exit 3\n'],
  'in a close callback': ['const s = require("net").createServer().listen(0, "127.0.0.1", () => s.close(() => process.exit(3)))', 3, 'exit 3\n'],
  'in a datagram\'s callback': ['const s = require("dgram").createSocket("udp4"); s.on("message", () => process.exit(3)); s.bind(0, "127.0.0.1", () => s.send("x", s.address().port))', 3, 'exit 3\n'],
  'at the end of a child': ['require("child_process").exec("true", () => process.exit(3))', 3, 'exit 3\n'],
  'on a signal': ['process.on("SIGUSR2", () => process.exit(3)); process.kill(process.pid, "SIGUSR2"); setInterval(() => {}, 1000)', 3, 'exit 3\n'],
  'in a watcher': ['const fs = require("fs"); fs.watch(".", () => process.exit(3)); setInterval(() => fs.writeFileSync("exits-touch", "x"), 20)', 3, 'exit 3\n'],
  'before exit': ['process.on("beforeExit", () => process.exit(3))', 3, 'exit 3\n'],
  'while threads run': ['const w = new (require("worker_threads").Worker)("setInterval(() => {}, 1)", { eval: true }); w.on("online", () => process.exit(3))', 3, 'exit 3\n'],
  'by itself': ['process.once("beforeExit", () => setTimeout(() => console.log("once more"), 1))', 0, 'once more\nexit 0\n'],
  'by an exception': ['setTimeout(() => { throw new Error("on purpose") }, 1)', 1, 'exit 1\n'],
  'by a rejection': ['Promise.reject(new Error("on purpose"))', 1, 'exit 1\n'],
  'by an abort': ['process.abort()', 'SIGABRT', ''],
  'by a signal': ['process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)', 'SIGTERM', ''],
};

for (const [name, [script, end, said]] of Object.entries(cases)) {
  check(`an exit ${name}`, async () => {
    const before = 'process.on("exit", (code) => console.log("exit", code));';
    const got = await new Promise((resolve) => {
      execFile(process.execPath, ['-e', before + script], { timeout: 10000 }, (error, stdout) => {
        resolve([error ? error.signal || error.code : 0, stdout]);
      });
    });
    assert.deepStrictEqual(got, [end, said]);
  });
}

check('all that was printed comes through before an end by itself', async () => {
  const got = await new Promise((resolve) => {
    execFile(process.execPath, ['-e', 'process.stdout.write("x".repeat(1e6))'], { maxBuffer: 1e7 }, (_, stdout) => resolve(stdout.length));
  });
  assert.strictEqual(got, 1e6);
});
