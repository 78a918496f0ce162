//! Each script of the folder `examples/js` prints what it promises.

mod runner;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use runner::{program, run, wait};

const EXAMPLES: &[&str] = &[
    "child_pipe",
    "event_system",
    "http_hello",
    "http_proxy",
    "late_timer",
    "phases",
    "shutdown",
    "tcp_echo",
    "timeout_or_immediate",
    "udp_ping",
    "unref",
    "watch_directory",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/js")
}

/// The lines that it prints.
fn lines(name: &str) -> Vec<String> {
    let ran = run(program().arg(folder().join(name).with_extension("js")), None);
    assert!(ran.status.success() && ran.err.is_empty(), "{name}: {}{}", ran.text(), ran.err);
    ran.out.lines().map(str::to_owned).collect()
}

#[test]
fn all_examples_are_tested_here_and_fit_on_a_page() {
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder()).unwrap() {
        let path = file.unwrap().path();
        let count = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(count < 80, "{} has {count} lines", path.display());
        found.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    found.sort();
    assert_eq!(found, EXAMPLES);
}

#[test]
fn the_phases_come_in_order() {
    let expected = "\
script      from the first line to the last
  tick      after the script
  microtask after the script
timers      a timer that is due
  tick      after the timer
  microtask after the timer
check       an immediate, which begins to read a file
  tick      after the immediate
  microtask after the immediate
poll        the file has been read: more than 1000 bytes
  tick      after the file
  microtask after the file
check       an immediate made in poll
timers      a timer made in poll
beforeExit  nothing is left to do; so here is something
timers      a timer made in beforeExit
beforeExit  nothing is left to do, and it stays so
exit        the end, with code 0";
    assert_eq!(lines("phases").join("\n"), expected);
}

#[test]
fn the_immediate_comes_first_from_a_file() {
    let lines = lines("timeout_or_immediate");
    let [script, file] = &lines[..] else { panic!("{lines:?}") };
    let either = ["timeout", "immediate"].map(|name| format!("from the script: the {name} comes first"));
    assert!(either.contains(script), "{script}");
    assert_eq!(file, "from the callback of a file: the immediate comes first");
}

#[test]
fn a_timer_waits_for_the_callback_that_runs() {
    // On a loaded machine reading may take longer than the timer, which is then called first.
    let in_time = (0..20).any(|_| {
        let lines = lines("late_timer");
        let [file, timer] = &lines[..] else { panic!("{lines:?}") };
        let after: Option<u64> = timer
            .strip_prefix("the timer of 100 ms is called after ")
            .and_then(|rest| rest.strip_suffix(" ms"))
            .and_then(|number| number.parse().ok());
        file.starts_with("the file is read after 9") && after.is_some_and(|after| after >= 105)
    });
    assert!(in_time);
}

#[test]
fn what_is_not_referenced_does_not_keep_it_running() {
    let lines = lines("unref");
    let [hour, beat, beats @ .., last, end] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(hour, "does the hour keep the program running? false");
    assert_eq!(beat, "does the beat? false");
    assert!(beats.iter().all(|line| line == "beat, as long as the program runs"), "{beats:?}");
    assert_eq!([last.as_str(), end], ["the last one that counts", "the end"]);
}

#[test]
fn events_are_made_by_hand() {
    let expected = [
        "before emit",
        "hello, Ada",
        "the first greeting",
        "after emit",
        "after post",
        "hello, Grace",
        "bye, Grace",
        "listeners to greetings: 0",
    ];
    assert_eq!(lines("event_system"), expected);
}

#[test]
fn a_signal_shuts_down_cleanly() {
    let mut child = program().arg(folder().join("shutdown.js")).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let listening = out.next().unwrap();
    let port: u16 = listening.strip_prefix("listening on port ").unwrap().parse().unwrap();
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut greeting = [0; 6];
    client.read_exact(&mut greeting).unwrap();
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let mut rest = String::new();
    client.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "bye\n");
    drop(client);
    let lines: Vec<_> = out.collect();
    assert_eq!(lines, ["SIGTERM: 1 connection(s) to end", "server closed", "exit with 3"]);
    assert_eq!(wait(&mut child).unwrap().code(), Some(3));
}

#[test]
fn what_happens_in_a_directory_is_told() {
    let expected = [
        "rename note.txt is there",
        "change note.txt has changed",
        "rename old is there",
        "rename note.txt is gone",
        "rename old/note.txt is there",
        "rename old/note.txt is gone",
        "nobody watches any more",
    ];
    assert_eq!(lines("watch_directory"), expected);
}

#[test]
fn an_echo_comes_back_whole() {
    let mut lines = lines("tcp_echo");
    // Which side hears of the end first, the kernel decides.
    lines[1..].sort();
    let expected =
        ["the server has a connection", "the client has got 10000005 bytes back", "the server has closed it"];
    assert_eq!(lines, expected);
}

#[test]
fn datagrams_are_answered() {
    let expected =
        ["pong 1: 6 bytes", "pong 2: 6 bytes", "pong 3: 6 bytes", "3 of 4 datagrams were answered", "the end"];
    assert_eq!(lines("udp_ping"), expected);
}

#[test]
fn a_server_greets_on_one_connection() {
    let expected = [
        "/: 200 Hello, World!",
        "/?name=Ada: 200 Hello, Ada!, on the same connection",
        "/elsewhere: 404 there is nothing here, on the same connection",
        "closed",
    ];
    assert_eq!(lines("http_hello"), expected);
}

#[test]
fn a_proxy_hands_on_piece_by_piece() {
    assert_eq!(lines("http_proxy"), ["sent 33554432 bytes, got 33554432 back", "in little memory"]);
}

#[test]
fn text_goes_through_a_child_and_comes_back_sorted() {
    let expected = ["the child runs", "it has exited with code 0", "sorted:", "quince", "pear", "cherry", "apple"];
    assert_eq!(lines("child_pipe"), expected);
}
