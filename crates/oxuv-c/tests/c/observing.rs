//! What the environment has a program's loops observed by.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::build::{self, Link};

fn program() -> PathBuf {
    build::program("observed.c", Link::Shared)
}

fn observed(what: &str, program: &Path, variable: &str, value: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(what).env(variable, value).stdin(Stdio::null());
    command
}

/// What a program traces that does this.
fn traced(what: &str) -> (Output, Vec<Value>) {
    let program = program();
    let pattern = program.with_file_name("%p.json");
    let child = observed(what, &program, "OXUV_TRACE", pattern.to_str().unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let path = program.with_file_name(format!("{}.json", child.id()));
    let output = child.wait_with_output().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    (output, serde_json::from_str(&text).unwrap())
}

fn timers(records: &[Value]) -> Vec<&Value> {
    records.iter().filter(|record| record["cat"] == "callback" && record["name"] == "timer").collect()
}

#[test]
fn a_trace_is_written_of_a_program_that_knows_nothing_of_it() {
    let (output, records) = traced("");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let timers = timers(&records);
    assert_eq!(timers.len(), 1);
    let origin = timers[0]["args"]["origin"].as_str().unwrap();
    assert_eq!(origin, "on_timer");
    for (category, name) in
        [("callback", "job"), ("phase", "timers"), ("turn", "turn"), ("wait", "wait"), ("pool", "runs")]
    {
        let is_there = records.iter().any(|record| record["cat"] == category && record["name"] == name);
        assert!(is_there, "{category} {name}");
    }
}

#[test]
fn a_trace_is_complete_whatever_ends_the_program() {
    let (output, records) = traced("exit");
    assert_eq!(output.status.code(), Some(3));
    // It is the last that was begun.
    assert_eq!(timers(&records).last().unwrap()["dur"].as_f64(), Some(0.0));
    let (output, records) = traced("kill");
    assert_eq!(output.status.signal(), Some(9));
    assert_eq!(timers(&records).last().unwrap()["dur"].as_f64(), Some(0.0));
}

#[test]
fn a_trace_that_cannot_be_written_is_said_and_the_program_goes_on() {
    let output = observed("", &program(), "OXUV_TRACE", "/proc/nothing/trace").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("oxuv: no trace in /proc/nothing/trace: "), "{errors}");
}

/// Has a program run with the rights of another group.
fn give(program: &Path) -> std::io::Result<()> {
    chown(program, None, Some(65534))?;
    std::fs::set_permissions(program, Permissions::from_mode(0o2755))
}

/// Whoever runs a program that has another's rights is not to have it write files with these.
#[test]
fn a_program_with_the_rights_of_another_user_heeds_none_of_it() {
    let program = build::program("observed.c", Link::Static);
    let trace = program.with_file_name("trace.json");
    let run = || observed("", &program, "OXUV_TRACE", trace.to_str().unwrap()).output().unwrap();
    assert!(run().status.success() && trace.exists());
    std::fs::remove_file(&trace).unwrap();
    // Another group is enough, and everything can be written still.
    let id = program.with_file_name("id");
    let given = std::fs::copy("/usr/bin/id", &id).and_then(|_| give(&id)).and_then(|()| give(&program));
    if given.is_err() || Command::new(&id).arg("-g").output().unwrap().stdout != b"65534\n" {
        println!("left out: no program with others' rights can be made here");
        return;
    }
    let output = run();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(!trace.exists());
}

#[test]
fn slow_callbacks_are_said_while_they_last_and_after() {
    let output = observed("stuck", &program(), "OXUV_WARN_SLOW_MS", "100").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = errors.lines().collect();
    assert!(lines[0].starts_with("oxuv: the loop is stuck: in a timer callback for "), "{errors}");
    assert!(lines[0].contains(" ms, from on_timer"), "{errors}");
    // Where it stands: the function that the callback is in calls the one that waits.
    assert!(lines.contains(&"    in on_timer") && lines.contains(&"    in main"), "{errors}");
    let last = lines.last().unwrap();
    assert!(last.starts_with("oxuv: slow callback: timer took ") && last.ends_with(", from on_timer"), "{errors}");
}

/// A program that does not end by itself, when it has begun.
fn leaking(why: &str) -> Child {
    let mut child = observed("leak", &program(), "OXUV_WHY_ALIVE", why)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

fn send(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_program_that_is_ended_says_what_kept_it_alive() {
    let child = leaking("1");
    // The first timer has come and gone before: else it would be told of, too.
    std::thread::sleep(std::time::Duration::from_millis(300));
    send(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15));
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = errors.lines().collect();
    assert_eq!(lines[0], "oxuv: the loop is alive because of 2 handles and requests", "{errors}");
    assert!(lines[1].contains("timer ") && lines[1].contains("active, due in "), "{errors}");
    assert!(lines[1].ends_with(", from on_later"), "{errors}");
    assert!(lines[2].contains(": listening, descriptor ") && lines[2].contains(", 127.0.0.1:"), "{errors}");
    assert!(lines[2].ends_with(", from on_connection"), "{errors}");
}

#[test]
fn a_signal_of_choice_asks_and_the_program_goes_on() {
    let mut child = leaking("USR2");
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    for _ in 0..2 {
        send(&child, "-USR2");
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert!(line.starts_with("oxuv: the loop is alive because of "), "{line}");
        let count: usize = line.split(' ').find_map(|word| word.parse().ok()).unwrap();
        for _ in 0..count {
            errors.read_line(&mut line).unwrap();
        }
        assert!(line.contains("from on_later"), "{line}");
    }
    send(&child, "-KILL");
    errors.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[test]
fn what_is_no_signal_is_said() {
    let output = observed("", &program(), "OXUV_WHY_ALIVE", "NONSENSE").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("oxuv: OXUV_WHY_ALIVE: "));
}
