//! Workers: scripts of `tests/scripts/workers` print what Node prints of them. And that one that goes wrong does not take the
//! program with it, and nothing is left of two hundred.

#[path = "runner/compare.rs"]
mod compare;
mod runner;

use compare::compare;
use runner::{program, run};

#[test]
fn scripts_print_what_they_print_in_node() {
    compare("workers", 2);
}

/// Descriptors and threads more than before.
const LEAKS: &str = "
    const { Worker } = require('worker_threads'); const fs = require('fs');
    const count = () => [fs.readdirSync('/proc/self/fd').length, fs.readdirSync('/proc/self/task').length];
    const codes = ['1', 'throw 1', 'process.exit(2)', 'for (;;) ;', 'require(\"net\").createServer().listen(0, \"127.0.0.1\")'];
    const one = (code) => new Promise((resolve) => {
      const worker = new Worker(code, { eval: true, workerData: new Uint8Array(10000) });
      worker.on('error', () => {}).on('exit', resolve);
      if (code.length > 8) worker.on('online', () => setTimeout(() => worker.terminate(), 5));
    });
    (async () => {
      await one('require(\"fs\").readFileSync(\"/dev/null\")');
      const before = count();
      for (let i = 0; i < 40; i++) await Promise.all(codes.map(one));
      const after = count();
      console.log(after[0] - before[0], after[1] - before[1]);
    })();";

#[test]
fn nothing_is_left_of_two_hundred_workers() {
    let ran = run(program().args(["-e", LEAKS]), None);
    assert_eq!(ran.text(), "0 0\n--- exit 0\n", "{}", ran.err);
}

#[test]
fn a_worker_without_memory_ends_alone() {
    let script = "
        const { Worker } = require('worker_threads');
        for (const code of ['const all = []; for (;;) all.push(new Array(100).fill(1))', 'Promise.resolve().then(() => { const all = []; for (;;) all.push(\"x\".repeat(10000)); })',
          'const all = []; setInterval(() => { for (let i = 0; i < 9999; i++) all.push({}); }, 0)']) {
          new Worker(code, { eval: true }).on('error', (error) => console.log(error.code)).on('exit', (code) => console.log(code));
        }
        setTimeout(() => console.log('well'), 10);";
    let ran = run(program().args(["--max-memory", "16", "-e", script]), None);
    let mut lines: Vec<_> = ran.out.lines().collect();
    lines.sort_unstable();
    let short = "ERR_WORKER_OUT_OF_MEMORY";
    assert_eq!(lines, ["1", "1", "1", short, short, short, "well"], "{}", ran.err);
    assert!(ran.status.success());
}

#[test]
fn the_program_ends_with_its_workers_running() {
    for end in ["", "process.exit(0)", "setTimeout(() => process.exit(0), 20)"] {
        let script = format!(
            "const {{ Worker }} = require('worker_threads');
            for (const code of ['for (;;) ;', 'setInterval(() => {{}}, 1)']) new Worker(code, {{ eval: true }}).unref(); {end}"
        );
        assert_eq!(run(program().args(["-e", &script]), None).text(), "--- exit 0\n", "{end}");
    }
}

/// The engine asks seldom whether to end a script whose steps take long.
#[test]
fn slow_steps_are_ended_soon() {
    let script = "
        const { Worker } = require('worker_threads');
        const begin = Date.now();
        const text = 'const text = `[${\"1,\".repeat(3e5)}1]`; ';
        for (const code of ['for (;;) JSON.parse(text)', 'for (;;) try { JSON.parse(text) } catch {}', 'for (;;) text.split(\",\")']) {
          const worker = new Worker(text + code, { eval: true });
          worker.on('error', console.log).on('exit', (code) => console.log(code, Date.now() - begin < 20000));
          setTimeout(() => worker.terminate(), 100);
        }";
    let ran = run(program().args(["-e", script]), None);
    assert_eq!(ran.text(), "1 true\n1 true\n1 true\n--- exit 0\n", "{}", ran.err);
}

#[test]
fn much_goes_between_threads_and_none_is_lost() {
    let script = "
        const { Worker } = require('worker_threads');
        const worker = new Worker('const { parentPort } = require(\"worker_threads\"); parentPort.on(\"message\", (m) => parentPort.postMessage(m, [m.bytes.buffer]))', { eval: true });
        let next = 0, sum = 0;
        worker.on('message', ({ number, bytes }) => {
          if (number !== next++ || bytes.length !== number || (number > 0 && bytes[number - 1] !== number % 256)) throw new Error(`${number}`);
          sum += bytes.length;
          if (next === 3000) worker.terminate().then(() => console.log(sum));
        });
        for (let number = 0; number < 3000; number++) {
          const bytes = new Uint8Array(number).fill(number);
          worker.postMessage({ number, bytes }, [bytes.buffer]);
          if (bytes.length !== 0) throw new Error('still here');
        }";
    let ran = run(program().args(["-e", script]), None);
    assert_eq!(ran.text(), "4498500\n--- exit 0\n", "{}", ran.err);
}
