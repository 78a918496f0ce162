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
    traced_program(what, program())
}

fn traced_program(what: &str, program: PathBuf) -> (Output, Vec<Value>) {
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
    for (what, signal) in [("kill", 9), ("crash", 11)] {
        let (output, records) = traced(what);
        assert_eq!(output.status.signal(), Some(signal));
        assert_eq!(timers(&records).last().unwrap()["dur"].as_f64(), Some(0.0));
    }
}

#[test]
fn two_loops_on_two_threads_have_tracks_of_their_own() {
    let (output, records) = traced("two");
    assert!(output.status.success(), "{output:?}");
    let mut tracks: Vec<_> =
        timers(&records).iter().map(|timer| (timer["args"]["origin"].as_str(), timer["tid"].as_u64())).collect();
    tracks.sort();
    let [(Some("on_other_timer"), Some(one)), (Some("on_timer"), Some(other))] = tracks[..] else {
        panic!("{tracks:?}")
    };
    assert_ne!(one, other);
}

#[test]
fn a_child_of_a_fork_leaves_its_parents_trace_alone() {
    let (output, records) = traced("fork");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(timers(&records).len(), 1);
    assert!(timers(&records)[0]["dur"].as_f64() > Some(0.0));
}

#[test]
fn a_program_that_another_runs_does_not_write_to_its_trace() {
    let program = program();
    let path = program.with_file_name("both.json");
    let output = observed("run", &program, "OXUV_TRACE", path.to_str().unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, format!("oxuv: OXUV_TRACE={}: EBUSY: resource busy or locked\n", path.display()));
    let records: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(timers(&records).len(), 1);
}

#[test]
fn a_long_trace_takes_no_more_memory_than_a_short_one() {
    let memory = |output: Output| {
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().last().unwrap().parse::<i64>().unwrap()
    };
    let program = program();
    let without = memory(Command::new(&program).arg("long").output().unwrap());
    let path = program.with_file_name("long.json");
    let with = memory(observed("long", &program, "OXUV_TRACE", path.to_str().unwrap()).output().unwrap());
    assert!(std::fs::metadata(path).unwrap().len() > 15_000_000);
    // Kilobytes: the window of the file, and what the observer keeps.
    assert!(with - without < 6000, "{without} {with}");
}

#[test]
fn names_of_cplusplus_are_as_in_the_source() {
    if !build::has_cplusplus() {
        return;
    }
    let (output, records) = traced_program("", build::program("observed_names.cc", Link::Shared));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(timers(&records)[0]["args"]["origin"], "void Server::tick<int>(uv_timer_s*)");
}

#[test]
fn a_trace_that_cannot_be_written_is_said_and_the_program_goes_on() {
    let output = observed("", &program(), "OXUV_TRACE", "/proc/nothing/trace").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("oxuv: OXUV_TRACE=/proc/nothing/trace: ENOENT: "), "{errors}");
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
    for what in ["stuck", "busy"] {
        let output = observed(what, &program(), "OXUV_WARN_SLOW_MS", "400").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<_> = errors.lines().collect();
        let after = lines[0].strip_prefix("oxuv: the loop is stuck: in a timer callback for ").unwrap();
        let (milliseconds, from) = after.split_once(" ms, from ").unwrap();
        // Found within twice the threshold.
        let milliseconds: f64 = milliseconds.parse().unwrap();
        assert!((400.0..800.0).contains(&milliseconds) && from == "on_timer", "{errors}");
        // Where it stands: the callback is called by what the program has called.
        assert!(lines.contains(&"    in on_timer") && lines.contains(&"    in main"), "{errors}");
        let last = lines.last().unwrap();
        assert!(last.starts_with("oxuv: slow callback: timer took ") && last.ends_with(", from on_timer"), "{errors}");
    }
}

/// A program that does not end by itself, when it has begun.
fn leaking(why: &str) -> Child {
    begun(&mut observed("leak", &program(), "OXUV_WHY_ALIVE", why))
}

fn begun(command: &mut Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
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
    assert!(lines[1].contains(" ms, since ") && lines[1].ends_with(" ms, from on_later"), "{errors}");
    assert!(lines[2].contains(": listening, descriptor ") && lines[2].contains(", 127.0.0.1:"), "{errors}");
    assert!(lines[2].ends_with(", from on_connection"), "{errors}");
}

#[test]
fn of_a_crowd_of_timers_a_few_are_told_and_how_many_more() {
    let child = begun(&mut observed("crowd", &program(), "OXUV_WHY_ALIVE", "1"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    send(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15));
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = errors.lines().collect();
    assert_eq!(lines[0], "oxuv: the loop is alive because of 20000 handles and requests", "{errors}");
    assert!(lines.len() == 12 && lines[11] == "oxuv:   and 19990 more like this", "{errors}");
}

/// The line of the program's source that says this.
fn line_of(text: &str) -> usize {
    let source = std::fs::read_to_string(build::source_of("observed.c")).unwrap();
    source.lines().position(|line| line.contains(text)).unwrap() + 1
}

#[test]
fn a_program_that_exits_in_a_callback_says_what_was_alive_and_where_it_was_made() {
    let mut command = observed("leave", &program(), "OXUV_WHY_ALIVE", "1");
    let output = command.env("OXUV_ORIGIN", "backtrace").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = errors.lines().collect();
    assert_eq!(lines[0], "oxuv: the loop is alive because of 2 handles and requests", "{errors}");
    let timer = lines.iter().position(|line| line.ends_with(", from on_later")).unwrap();
    let place = line_of("uv_timer_init(uv_default_loop(), later);");
    let made = lines[timer + 1];
    assert!(
        made.starts_with("oxuv:     made in leak at ") && made.contains(&format!("observed.c:{place}")),
        "{errors}"
    );
    assert!(
        lines[timer + 2].starts_with("oxuv:     made in main at ") && lines[timer + 3].contains(" tcp "),
        "{errors}"
    );
}

#[test]
fn a_loop_that_cannot_be_closed_says_which_handle_is_open() {
    let output = observed("open", &program(), "OXUV_WHY_ALIVE", "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = errors.lines().collect();
    assert_eq!(lines[0], "oxuv: the loop cannot be closed because of 1 handle or request", "{errors}");
    assert!(
        lines[1].starts_with("oxuv:   timer ") && lines[1].contains(": open, since ") && lines.len() == 2,
        "{errors}"
    );
}

/// The value of one of the numbers that were written.
fn number(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name} in {text}"));
    line.trim().parse().unwrap()
}

#[test]
fn numbers_are_written_when_a_program_exits() {
    let program = program();
    let path = program.with_file_name("two.prom");
    let output = observed("two", &program, "OXUV_METRICS", path.to_str().unwrap()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = std::fs::read_to_string(path).unwrap();
    for nth in [1, 2] {
        assert_eq!(number(&text, &format!("oxuv_callbacks_total{{loop=\"{nth}\",kind=\"timer\"}}")), 1.0);
        assert!(number(&text, &format!("oxuv_turns_total{{loop=\"{nth}\"}}")) >= 1.0);
    }
    let output = observed("", &program, "OXUV_METRICS", "-").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(number(&text, "oxuv_jobs_total{loop=\"1\",lane=\"work\"}"), 1.0);
    let output = observed("", &program, "OXUV_METRICS", "/proc/nothing/numbers").output().unwrap();
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("oxuv: OXUV_METRICS=/proc/nothing/numbers: ENOENT: "), "{errors}");
}

#[test]
fn numbers_are_written_at_a_signal_of_choice_and_before_the_one_that_ends_the_program() {
    let program = program();
    let path = program.with_file_name("leak.prom");
    let mut command = observed("leak", &program, "OXUV_METRICS", path.to_str().unwrap());
    let child = begun(command.env("OXUV_METRICS_SIGNAL", "USR1"));
    let written = || {
        let is_written =
            |_: &u32| std::fs::read_to_string(&path).is_ok_and(|text| text.contains("oxuv_delay_seconds_count"));
        let pause = std::time::Duration::from_millis(20);
        (0..500).inspect(|_| std::thread::sleep(pause)).find(is_written).expect("numbers");
    };
    send(&child, "-USR1");
    written();
    std::fs::write(&path, "").unwrap();
    send(&child, "-TERM");
    assert_eq!(child.wait_with_output().unwrap().status.signal(), Some(15));
    written();
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
fn of_a_wrong_value_it_is_said_which_are_right() {
    let program = program();
    let milliseconds = "must be a number of milliseconds, at least 1";
    let signal = "must be 1, or a signal that can be caught, such as USR2";
    for (variable, value, valid) in [
        ("OXUV_WARN_SLOW_MS", "abc", milliseconds),
        ("OXUV_WARN_SLOW_MS", "0", milliseconds),
        ("OXUV_WHY_ALIVE", "NONSENSE", signal),
        ("OXUV_WHY_ALIVE", "KILL", signal),
        ("OXUV_WHY_ALIVE", "0", signal),
        ("OXUV_ORIGIN", "1", "must be backtrace"),
        ("OXUV_METRICS_SIGNAL", "x", "must be a signal that can be caught, such as USR1"),
    ] {
        let output = observed("", &program, variable, value).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(errors, format!("oxuv: {variable}={value}: {valid}\n"));
    }
}

#[test]
fn an_empty_variable_is_as_none() {
    let mut command = observed("", &program(), "OXUV_TRACE", "");
    for variable in ["OXUV_WARN_SLOW_MS", "OXUV_WHY_ALIVE", "OXUV_ORIGIN", "OXUV_METRICS", "OXUV_METRICS_SIGNAL"] {
        command.env(variable, "");
    }
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// Whoever sends the signal does not mean to end the program.
#[test]
fn a_signal_for_numbers_that_go_nowhere_is_taken_and_it_is_said() {
    let child = begun(&mut observed("leak", &program(), "OXUV_METRICS_SIGNAL", "USR1"));
    send(&child, "-USR1");
    send(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15));
    let expected = "oxuv: OXUV_METRICS_SIGNAL: without OXUV_METRICS nothing is written when it comes\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

/// A program whose files may have so many blocks, of 512 bytes or of 1024.
fn limited(blocks: u32, what: &str, program: &Path, variable: &str, value: &Path) -> Output {
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$1\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(program).arg(what).env(variable, value).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_limit_of_the_size_of_files_does_not_end_the_program() {
    let program = program();
    let trace = program.with_file_name("limited.json");
    for (variable, file) in [("OXUV_TRACE", "little.json"), ("OXUV_METRICS", "little.prom")] {
        let path = program.with_file_name(file);
        let output = limited(1, "", &program, variable, &path);
        assert!(output.status.success(), "{output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with(&format!("oxuv: {variable}={}: EFBIG: ", path.display())), "{errors}");
    }
    let error = program.with_file_name("little.error");
    let status = Command::new("sh")
        .args(["-c", "ulimit -f 1; exec \"$0\" 2>\"$1\""])
        .args([&program, &error])
        .env("OXUV_METRICS", "-")
        .stdin(Stdio::null())
        // What these tests print may go to a file as well.
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let errors = std::fs::read_to_string(&error).unwrap();
    assert!(errors.starts_with("oxuv: OXUV_METRICS=-: EFBIG: ") && errors.lines().count() == 1, "{errors}");
    // It is reached on the way.
    let output = limited(4000, "long", &program, "OXUV_TRACE", &trace);
    assert!(output.status.success(), "{output:?}");
    let expected = format!("oxuv: trace {}: no space left; what follows is not in it\n", trace.display());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    let records: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(trace).unwrap()).unwrap();
    assert!(records.len() > 1000);
}

#[test]
fn a_full_disk_for_numbers_is_said_with_its_name() {
    let output = observed("", &program(), "OXUV_METRICS", "/dev/full").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("oxuv: OXUV_METRICS=/dev/full: ENOSPC: "), "{errors}");
}
