//! Datagrams and names: scripts of `tests/scripts/dgram` print what Node prints of them. And what a script cannot see.

#[path = "runner/compare.rs"]
mod compare;
mod runner;

use compare::compare;
use runner::{program, run};

#[test]
fn scripts_print_what_they_print_in_node() {
    compare("dgram", 5);
}

#[test]
fn a_flood_is_sent_in_bounded_memory_and_no_descriptor_stays() {
    let script = "const dgram = require('dgram'), fs = require('fs');
        const before = fs.readdirSync('/proc/self/fd').length;
        const bytes = Buffer.alloc(1000);
        let told = 0;
        const one = () => {
          const socket = dgram.createSocket('udp4');
          socket.bind(0, '127.0.0.1', () => {
            const { port } = socket.address();
            for (let n = 0; n < 1000; n++) socket.send(bytes, port, '127.0.0.1', (error) => {
              if (error) throw error;
              if (++told % 1000 === 0) socket.close(told < 20000 ? one : end);
            });
          });
        };
        const end = () => console.log(fs.readdirSync('/proc/self/fd').length - before);
        one();";
    let ran = run(program().args(["--max-memory", "64", "-e", script]), None);
    // The ring, or the threads that read the folder, have theirs.
    assert_eq!(ran.status.code(), Some(0), "{}", ran.err);
    let more: i32 = ran.out.trim().parse().unwrap();
    assert!(more <= 2, "{more} more descriptors");
}
