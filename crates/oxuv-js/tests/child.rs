//! Child processes: scripts of `tests/scripts/child` print what Node prints of them. And that nothing is left of a thousand
//! children, and that the channel is Node's.

#[path = "runner/compare.rs"]
mod compare;
mod runner;

use std::process::Command;

use compare::compare;
use runner::{program, run};

#[test]
fn scripts_print_what_they_print_in_node() {
    compare("child", 5);
}

/// What is left of so many children: descriptors more than before, and zombies.
const LEAKS: &str = "
    const { spawn, spawnSync, fork } = require('child_process'); const fs = require('fs');
    const open = () => fs.readdirSync('/proc/self/fd').length;
    const zombies = () => fs.readdirSync('/proc').filter((name) => {
      try { const [, rest] = fs.readFileSync(`/proc/${name}/stat`, 'utf8').split(') '); const [state, parent] = rest.split(' ');
        return state === 'Z' && +parent === process.pid; } catch { return false; }
    }).length;
    const one = (make) => new Promise((resolve) => make().on('error', () => {}).on('close', resolve));
    const many = async (count, make) => { for (let i = 0; i < count; i += 10) await Promise.all(Array.from({ length: 10 }, () => one(make))); };
    (async () => {
      await one(() => spawn('true')); spawnSync('true');
      const before = open();
      await many(700, () => spawn('true'));
      await many(100, () => spawn('true', { stdio: ['pipe', 'ignore', 'pipe', 'ipc', 'pipe'] }));
      await many(100, () => spawn('/nowhere/at/all'));
      for (let i = 0; i < 20; i++) {
        const child = fork('/nowhere/at/all', { silent: true });
        child.disconnect();
        await new Promise((resolve) => child.on('exit', resolve));
      }
      for (let i = 0; i < 100; i++) { spawnSync('cat', { input: 'x' }); spawnSync('/nowhere/at/all'); }
      spawn('true', { stdio: 'ignore' }).unref();
      await new Promise((resolve) => setTimeout(resolve, 50));
      console.log(open() - before, zombies());
    })();";

#[test]
fn nothing_is_left_of_a_thousand_children() {
    let ran = run(program().args(["-e", LEAKS]), None);
    assert_eq!(ran.text(), "0 0\n--- exit 0\n", "{}", ran.err);
}

#[test]
fn a_channel_may_be_any_descriptor_and_bytes_of_no_message_are_an_error() {
    let script = "
        const { spawn } = require('child_process');
        const child = spawn(process.execPath, ['-e', 'process.on(\"message\", (m) => { process.send(m); process.disconnect(); })'],
          { stdio: ['ipc', 'inherit', 'inherit'] });
        child.on('message', (m) => console.log(m)).send(1);
        child.on('close', () => {
          const other = spawn('sh', ['-c', 'echo \"{nothing\" >&3'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
          other.on('error', (error) => console.log(error.name)).on('close', (code) => console.log(code));
        });";
    let ran = run(program().args(["-e", script]), None);
    assert_eq!(ran.text(), "1\nSyntaxError\n0\n--- exit 0\n", "{}", ran.err);
}

/// The same, with Node as the child or as the parent, where there is one.
#[test]
fn the_other_side_may_be_node() {
    if !Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return;
    }
    let child = "process.on('message', (m) => { process.send(m); if (m === 'bye') process.disconnect(); });";
    let script = format!(
        "const {{ spawn }} = require('child_process');
        const talk = (serialization) => {{
          const child = spawn(process.argv[1], ['-e', {child:?}], {{ stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization }});
          child.on('message', (m) => console.log(m)).on('close', (code) => {{ console.log(code); if (serialization === 'json') talk('advanced'); }});
          child.send({{ a: [1, -0, 2.5, 'ä €'], b: serialization === 'json' ? null : new Map([[1n, new Uint8Array([1, 2])]]) }});
          child.send('bye');
        }};
        talk('json');"
    );
    let expected = "{ a: [ 1, 0, 2.5, 'ä €' ], b: null }\nbye\n0\n{\n  a: [ 1, -0, 2.5, 'ä €' ],\n  b: Map(1) { 1n => Uint8Array(2) [ 1, 2 ] }\n}\nbye\n0\n--- exit 0\n";
    for (mut parent, other) in [(program(), "node"), (Command::new("node"), env!("CARGO_BIN_EXE_oxuv"))] {
        let ran = run(parent.args(["-e", &script, other]), None);
        assert_eq!(ran.text(), expected, "{other} as the child\n{}", ran.err);
    }
}
