//! The programs in `examples/c` do what they say.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use crate::build::{self, Link};

fn example(name: &str, link: Link) -> std::path::PathBuf {
    build::program(&format!("../../examples/c/{name}.c"), link)
}

#[test]
fn a_timer_fires_once() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&example("timer", link)), "a tenth of a second later\n");
    }
}

#[test]
fn prepare_runs_before_each_wait() {
    let prepare = "prepare: the loop is about to wait\n";
    let printed = build::run(&example("prepare_timer", Link::Shared));
    // A wait may end a moment before the timer's millisecond, and there is one more turn then.
    let mut lines: Vec<&str> = printed.split_inclusive('\n').collect();
    lines.dedup();
    assert_eq!(lines.concat(), format!("{prepare}timer: 1\n{prepare}timer: 2\n{prepare}timer: 3\n"));
}

#[test]
fn a_file_is_read_while_a_timer_ticks() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let size = std::fs::metadata(path).unwrap().len();
    let program = example("read_file", Link::Shared);
    let run = |path: &str| Command::new(&program).arg(path).output().unwrap();
    let read = build::succeed(run(path));
    let mut lines: Vec<&str> = read.lines().collect();
    lines.sort();
    assert_eq!(lines, [format!("{size} bytes").as_str(), "tick 1", "tick 2", "tick 3"]);
    let refused = run("/none");
    assert_eq!(String::from_utf8_lossy(&refused.stderr), "open: no such file or directory\n");
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn the_echo_server_gives_everything_back() {
    let mut server =
        Command::new(example("tcp_echo", Link::Shared)).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let port: u16 = line.trim().strip_prefix("nc 127.0.0.1 ").unwrap().parse().unwrap();

    // More than the sockets hold: the server must stop reading, and go on.
    let message: Vec<u8> = (0..8 << 20).map(|nth: u32| (nth * 7 / 5) as u8).collect();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
                let mut back = stream.try_clone().unwrap();
                let message = &message;
                scope.spawn(move || {
                    stream.write_all(message).unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                });
                let mut answer = Vec::new();
                back.read_to_end(&mut answer).unwrap();
                assert!(answer == *message, "{} bytes came back, or others", answer.len());
            });
        }
    });
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_command_is_run_and_what_it_prints_collected() {
    let example = example("run_command", Link::Shared);
    let printed = |arguments: &[&str]| {
        let output = Command::new(&example).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + std::str::from_utf8(&output.stderr).unwrap()
    };
    assert_eq!(printed(&["sh", "-c", "echo hello; exit 3"]), "exit code 3\n6 bytes: hello\n");
    assert_eq!(printed(&["sh", "-c", "kill -9 $$"]), "ended by signal 9\n0 bytes: ");
    assert_eq!(printed(&["/none"]), "/none: no such file or directory\n");
}

#[test]
fn text_goes_through_a_filter() {
    let output = Command::new(example("filter", Link::Static)).args(["there and back", "tr", "a-z", "A-Z"]).output();
    assert_eq!(build::succeed(output.unwrap()), "THERE AND BACK\n");
}
