//! Each program of `examples/` does what it says.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::time::Instant;

use common::example::{Example, echo_server};
use common::{Place, connect, ms, pattern, terminal, wait_until};
use rustix::process::{Pid, Signal, kill_process};

const EXAMPLES: [&str; 21] = [
    "async_commands",
    "async_echo",
    "event_queue",
    "filter",
    "lookup",
    "pass_listener",
    "pipe_echo",
    "poll_echo",
    "prepare",
    "prepare_timer",
    "read_file",
    "run_command",
    "shutdown",
    "tcp_echo",
    "tcp_refused",
    "timer",
    "tty_raw",
    "udp_ping",
    "watch",
    "why_alive",
    "work",
];

#[test]
fn all_examples_are_tested_here_and_fit_on_a_page() {
    let mut found = Vec::new();
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let path = file.unwrap().path();
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines < 80, "{} has {lines} lines", path.display());
        found.push(path.file_stem().unwrap().to_str().unwrap().to_string());
    }
    found.sort();
    assert_eq!(found, EXAMPLES);
}

#[test]
fn the_readme_names_all_examples() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).unwrap();
    let of_c = std::fs::read_dir(format!("{root}/examples/c")).unwrap();
    let of_c = of_c.map(|file| file.unwrap().file_name().into_string().unwrap());
    for name in EXAMPLES.map(String::from).into_iter().chain(of_c) {
        assert!(readme.contains(&format!("\n| `{name}` | ")), "{name}");
    }
}

#[test]
fn timer_waits_fires_and_ends() {
    let start = Instant::now();
    let (lines, errors, status) = Example::start("timer", &[]).end();
    assert!(start.elapsed() >= ms(100));
    assert!(status.success() && errors.is_empty());
    let [waiting, fired, done] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((waiting.as_str(), done.as_str()), ("waiting", "done"));
    let after: u64 = fired.strip_prefix("fired after ").unwrap().strip_suffix(" ms").unwrap().parse().unwrap();
    assert!(after >= 100, "{fired}");
}

#[test]
fn prepare_prints_once_and_then_waits() {
    let example = Example::start("prepare", &[]);
    assert_eq!(example.line(), "about to wait");
    assert!(example.is_silent_for(ms(300)));
}

#[test]
fn prepare_timer_prints_before_each_wait_and_ends() {
    let (lines, errors, status) = Example::start("prepare_timer", &[]).end();
    let expected = ["about to wait", "tick 1", "about to wait", "tick 2", "about to wait", "tick 3"];
    assert_eq!(lines, expected);
    assert!(status.success() && errors.is_empty());
}

#[test]
fn read_file_reads_while_a_timer_ticks() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let size = std::fs::metadata(path).unwrap().len();
    let (lines, errors, status) = Example::start("read_file", &[path]).end();
    assert!(status.success() && errors.is_empty());
    assert_eq!(lines.iter().filter(|&line| *line == format!("{size} bytes")).count(), 1);
    let ticks: Vec<_> = lines.iter().filter(|line| line.starts_with("tick")).collect();
    assert_eq!(ticks, ["tick 1", "tick 2", "tick 3"]);
    assert_eq!(lines.len(), 4);

    let (lines, _, status) = Example::start("read_file", &[]).end();
    let own = include_str!("../examples/read_file.rs").len();
    assert!(status.success() && lines.contains(&format!("{own} bytes")), "{lines:?}");

    let (_, errors, status) = Example::start("read_file", &["/none"]).end();
    assert_eq!((errors.as_str(), status.code()), ("/none: ENOENT: no such file or directory\n", Some(1)));
}

#[test]
fn event_queue_prints_two_numbers_at_once_one_a_second_later_and_ends() {
    let start = Instant::now();
    let example = Example::start("event_queue", &[]);
    assert_eq!((example.line(), example.line()), ("1".into(), "2".into()));
    let before = Instant::now();
    assert_eq!(example.line(), "3");
    assert!(before.elapsed() >= ms(500) && start.elapsed() >= ms(1000));
    let (lines, errors, status) = example.end();
    assert_eq!(lines, ["end"]);
    assert!(status.success() && errors.is_empty());
}

#[test]
fn work_prints_both_sums_while_the_loop_goes_on() {
    let (mut lines, errors, status) = Example::start("work", &[]).end();
    assert!(status.success() && errors.is_empty());
    lines[..2].sort();
    let expected =
        ["the sum up to 1000 is 500500", "the sum up to 2000 is 2001000", "the loop went on meanwhile: true"];
    assert_eq!(lines, expected);
}

#[test]
fn lookup_prints_addresses_and_a_name() {
    let (lines, errors, status) = Example::start("lookup", &["127.0.0.1", "4711"]).end();
    assert!(status.success() && errors.is_empty());
    let [address, name] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(address, "127.0.0.1:4711");
    assert!(name.starts_with("the first is 4711 at "), "{name}");
}

#[test]
fn lookup_told_something_that_is_no_name_says_so_and_fails() {
    let (lines, errors, status) = Example::start("lookup", &[&"x".repeat(256)]).end();
    assert!(lines.is_empty() && errors.contains("EINVAL"), "{errors}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn lookup_told_a_name_that_nobody_has_says_so_and_fails() {
    let (lines, errors, status) = Example::start("lookup", &["nosuch.invalid", "80"]).end();
    // What is said depends on whether there is somebody to be asked.
    assert!(lines.is_empty() && errors.starts_with("nosuch.invalid 80: EAI_"), "{errors}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn without_what_they_need_programs_say_how_they_are_used() {
    for (name, usage) in [
        ("run_command", "usage: run_command PROGRAM [ARGUMENT ...]\n"),
        ("filter", "usage: filter TEXT PROGRAM [ARGUMENT ...]\n"),
    ] {
        let (lines, errors, status) = Example::start(name, &[]).end();
        assert!(lines.is_empty());
        assert_eq!((errors.as_str(), status.code()), (usage, Some(1)));
    }
}

#[test]
fn the_echo_servers_send_back_what_they_get_and_then_the_end() {
    for name in ["async_echo", "poll_echo", "tcp_echo"] {
        let (_server, address) = echo_server(name);
        let mut peer = connect(address);
        for len in [1, 1000, 100_000] {
            let bytes = pattern(len);
            let mut back = vec![0; len];
            peer.write_all(&bytes).unwrap();
            peer.read_exact(&mut back).unwrap();
            assert!(back == bytes, "{name}");
        }
        peer.write_all(b"bye").unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        let mut rest = Vec::new();
        peer.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"bye", "{name}");
    }
}

#[test]
fn poll_echo_sends_back_more_than_the_kernel_takes_at_once() {
    const MANY: usize = 16 << 20;
    let (_server, address) = echo_server("poll_echo");
    let mut peer = connect(address);
    let mut writer = peer.try_clone().unwrap();
    let thread = std::thread::spawn(move || {
        writer.write_all(&pattern(MANY)).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    peer.read_to_end(&mut back).unwrap();
    thread.join().unwrap();
    assert!(back == pattern(MANY));
}

#[test]
fn tcp_refused_tells_of_the_refusal_and_then_of_its_write() {
    let (lines, errors, status) = Example::start("tcp_refused", &[]).end();
    let expected =
        ["connecting", "not connected: ECONNREFUSED: connection refused", "not written: ECANCELED: operation canceled"];
    assert_eq!(lines, expected);
    assert!(status.success() && errors.is_empty());
}

#[test]
fn tty_raw_shows_keys_until_q_and_leaves_the_terminal_as_it_was() {
    let (mut master, slave) = terminal::pair();
    terminal::resize(&master, 80, 25);
    let before = terminal::local_modes(&slave);
    let example = Example::start_on("tty_raw", slave.try_clone().unwrap());
    assert_eq!(example.line(), "a window of 80 by 25; type, and end with q");
    wait_until(|| terminal::local_modes(&slave) != before);
    master.write_all(b"a\r").unwrap();
    assert_eq!((example.line(), example.line()), (" 97 a".into(), " 13 \\r".into()));
    master.write_all(b"q").unwrap();
    let (lines, errors, status) = example.end();
    assert_eq!(lines, ["113 q", "done"]);
    assert!(status.success() && errors.is_empty());
    assert_eq!(terminal::local_modes(&slave), before);
}

#[test]
fn tty_raw_without_a_terminal_says_so_and_ends() {
    let (lines, errors, status) = Example::start("tty_raw", &[]).end();
    assert_eq!(lines, ["standard input is no terminal: there are no keys to show"]);
    assert!(status.success() && errors.is_empty());
}

#[test]
fn tcp_echo_told_something_that_is_no_address_says_so_and_fails() {
    let (lines, errors, status) = Example::start("tcp_echo", &["nowhere"]).end();
    assert!(lines.is_empty());
    assert!(errors.contains("nowhere") && errors.contains("no address"), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn tcp_echo_told_an_address_in_use_says_so_and_fails() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (lines, errors, status) = Example::start("tcp_echo", &[&address]).end();
    assert!(lines.is_empty());
    assert!(errors.contains(&address) && errors.contains("EADDRINUSE"), "{errors}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn pass_listener_is_greeted_by_the_other_process() {
    let (lines, errors, status) = Example::start("pass_listener", &[]).end();
    assert!(status.success() && errors.is_empty(), "{errors}");
    assert_eq!(lines, ["hello from the other process"]);
}

#[test]
fn pipe_echo_sends_back_what_it_gets_and_removes_its_file() {
    let place = Place::new("pipe-echo");
    let path = place.path("socket");
    let server = Example::start("pipe_echo", &[path.to_str().unwrap()]);
    assert!(server.line().starts_with("echo server on "));
    let mut peer = UnixStream::connect(&path).unwrap();
    for word in ["one", "two"] {
        let mut back = [0; 3];
        peer.write_all(word.as_bytes()).unwrap();
        peer.read_exact(&mut back).unwrap();
        assert_eq!(back, word.as_bytes());
    }
    end_by(&server, Signal::TERM);
    let (_, errors, status) = server.end();
    assert!(status.success() && errors.is_empty(), "{errors}");
    assert!(!path.exists());
}

fn end_by(example: &Example, signal: Signal) {
    kill_process(Pid::from_raw(example.id() as i32).unwrap(), signal).unwrap();
}

#[test]
fn shutdown_serves_to_the_end_those_whom_it_has() {
    let server = Example::start("shutdown", &["127.0.0.1:0"]);
    let address: SocketAddr = server.line().strip_prefix("serving ").unwrap().parse().unwrap();
    let mut peer = TcpStream::connect(address).unwrap();
    let mut back = [0; 5];
    peer.write_all(b"hello").unwrap();
    peer.read_exact(&mut back).unwrap();
    end_by(&server, Signal::TERM);
    assert_eq!(server.line(), "signal 15: no more connections");
    assert!(TcpStream::connect(address).is_err());
    peer.write_all(b"still").unwrap();
    peer.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"still");
    drop(peer);
    let (lines, errors, status) = server.end();
    assert!(status.success() && errors.is_empty());
    assert_eq!(lines, ["all done"]);

    let server = Example::start("shutdown", &["127.0.0.1:0"]);
    let address: SocketAddr = server.line().strip_prefix("serving ").unwrap().parse().unwrap();
    let _peer = TcpStream::connect(address).unwrap();
    // SIGINT's action may be none here: shells have it ignored by what they run in the background.
    end_by(&server, Signal::TERM);
    server.line();
    end_by(&server, Signal::TERM);
    assert_eq!(server.end().2.signal(), Some(15));
}

#[test]
fn pipe_echo_sends_everything_back_to_one_who_reads_late_and_has_ended_by_then() {
    let place = Place::new("pipe-echo-late");
    let path = place.path("socket");
    let server = Example::start("pipe_echo", &[path.to_str().unwrap()]);
    server.line();
    let mut peer = UnixStream::connect(&path).unwrap();
    let sent: Vec<u8> = (0..4 << 20).map(|nth: u32| (nth % 251) as u8).collect();
    let mut writer = peer.try_clone().unwrap();
    let bytes = sent.clone();
    let writing = std::thread::spawn(move || {
        writer.write_all(&bytes).unwrap();
        writer.shutdown(std::net::Shutdown::Write).unwrap();
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    let mut got = Vec::new();
    peer.read_to_end(&mut got).unwrap();
    writing.join().unwrap();
    assert_eq!(got.len(), sent.len());
    assert!(got == sent);
}

#[test]
fn pipe_echo_removes_the_file_of_one_that_was_killed_but_not_of_one_that_serves() {
    let place = Place::new("pipe-echo-killed");
    let path = place.path("socket");
    let start = || Example::start("pipe_echo", &[path.to_str().unwrap()]);
    let killed = start();
    killed.line();
    let (lines, errors, status) = start().end();
    assert!(lines.is_empty() && errors.contains("EADDRINUSE"), "{errors}");
    assert_eq!(status.code(), Some(1));
    drop(killed);
    assert!(path.exists());
    let again = start();
    assert!(again.line().starts_with("echo server on "));
    end_by(&again, Signal::INT);
    assert!(again.end().2.success() && !path.exists());
}

#[test]
fn pipe_echo_told_a_path_in_use_says_so_and_fails() {
    let place = Place::new("pipe-echo-taken");
    let path = place.path("socket");
    std::fs::write(&path, "").unwrap();
    let (lines, errors, status) = Example::start("pipe_echo", &[path.to_str().unwrap()]).end();
    assert!(lines.is_empty());
    assert!(errors.contains("socket") && errors.contains("EADDRINUSE"), "{errors}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn watch_tells_what_happens_in_a_directory_and_beneath() {
    let place = Place::new("watch-example");
    let example = Example::start("watch", &[place.path("").to_str().unwrap()]);
    assert!(example.line().starts_with("watching "));
    std::fs::create_dir(place.path("new")).unwrap();
    assert_eq!(example.line(), "new is there");
    std::fs::rename(place.path("new"), place.path("old")).unwrap();
    assert_eq!([example.line(), example.line()], ["new is gone", "old is there"]);
    std::fs::create_dir(place.path("quit")).unwrap();
    let (lines, errors, status) = example.end();
    assert_eq!(lines, ["quit is there"]);
    assert!(status.success() && errors.is_empty(), "{errors}");

    let (lines, errors, status) = Example::start("watch", &["/none"]).end();
    assert!(lines.is_empty());
    assert!(errors.contains("/none") && errors.contains("ENOENT"), "{errors}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn udp_ping_answers_itself_and_ends() {
    let (lines, errors, status) = Example::start("udp_ping", &[]).end();
    assert!(status.success() && errors.is_empty(), "{errors}");
    assert_eq!(lines.len(), 3);
    for (nth, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("answer {} after ", nth + 1)), "{line}");
    }
}

#[test]
fn udp_ping_tells_of_pings_that_nobody_answers() {
    let gone = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (lines, errors, status) = Example::start("udp_ping", &[&gone.to_string()]).end();
    assert!(lines.iter().all(|line| line == "no answer: ECONNREFUSED: connection refused"), "{lines:?}");
    assert!(errors.contains("3 of 3 pings got no answer"), "{errors}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn run_command_collects_what_is_printed() {
    let (lines, errors, status) = Example::start("run_command", &["sh", "-c", "echo one; echo two; exit 4"]).end();
    assert!(status.success() && errors.is_empty(), "{errors}");
    assert!(
        lines.contains(&"exit status: 4".to_owned()) && lines.contains(&"8 bytes, 2 lines".to_owned()),
        "{lines:?}"
    );
    let (lines, errors, status) = Example::start("run_command", &["/no/such/program"]).end();
    assert!(!status.success() && lines.is_empty() && errors.contains("/no/such/program: ENOENT"), "{errors}");
}

#[test]
fn filter_gives_the_text_changed() {
    let (lines, errors, status) = Example::start("filter", &["there and back", "tr", "a-z", "A-Z"]).end();
    assert!(status.success() && errors.is_empty(), "{errors}");
    assert_eq!(lines, ["THERE AND BACK"]);
    let (_, errors, status) = Example::start("filter", &["text", "false"]).end();
    assert!(status.success() && errors.contains("the filter has failed"), "{errors}");
}

#[test]
fn why_alive_names_the_listener_and_its_line() {
    let (lines, errors, status) = Example::start("why_alive", &[]).end();
    assert!(status.success() && errors.is_empty(), "{errors}");
    let [listener, end] = &lines[..] else { panic!("{lines:?}") };
    assert!(listener.starts_with("tcp ") && listener.contains(": listening, descriptor "), "{listener}");
    assert!(listener.ends_with("examples/why_alive.rs:14"), "{listener}");
    assert_eq!(end, "nothing keeps it any more");
}

#[test]
fn async_commands_gives_each_its_time() {
    let commands = ["echo one", "sleep 60", "echo two; exit 1"];
    let (mut lines, _, status) = Example::start("async_commands", &commands).end();
    assert!(status.success());
    lines.sort();
    assert_eq!(lines, ["echo one: one", "echo two; exit 1: two", "sleep 60: the time is over"]);
}
