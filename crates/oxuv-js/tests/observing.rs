//! `--trace`, `--warn-slow`, `--why-alive` and `--metrics`.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A script in a file, whose lines are numbered from 1.
fn script(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.js", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxuv"));
    command.stdin(Stdio::null());
    command
}

#[test]
fn a_trace_names_the_line_of_the_script() {
    let script = script(
        "trace",
        "const net = require('net');\n\
         const server = net.createServer((socket) => socket.end('hello'));\n\
         server.listen(0, () => {\n\
           net.connect(server.address().port).resume().on('close', () => server.close());\n\
         });\n",
    );
    let pattern = script.with_extension("%p.json");
    let mut command = program();
    let child = command.arg("--trace").arg(&pattern).arg(&script).spawn().unwrap();
    let path = script.with_extension(format!("{}.json", child.id()));
    assert!(child.wait_with_output().unwrap().status.success());
    let text = std::fs::read_to_string(&path).unwrap();
    let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    std::fs::remove_file(path).unwrap();
    let callback = |name: &str| records.iter().find(|record| record["cat"] == "callback" && record["name"] == name);
    let origin = callback("connection").unwrap()["args"]["origin"].as_str().unwrap().to_owned();
    assert!(origin.starts_with(&format!("{}:3:", script.display())), "{origin}");
    assert!(callback("read").is_some() && callback("close").is_some());
}

/// Runs a script with a trace, and returns the script's path and the records.
fn traced(name: &str, text: &str) -> (PathBuf, Vec<serde_json::Value>) {
    let script = script(name, text);
    let path = script.with_extension("json");
    let output = program().arg("--trace").arg(&path).arg(&script).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    (script, serde_json::from_str(&text).unwrap())
}

#[test]
fn every_kind_of_callback_is_from_a_line_of_the_script() {
    let (script, records) = traced(
        "kinds",
        "const fs = require('fs'); const { spawn } = require('child_process');\n\
         setTimeout(() => {}, 1);\n\
         setTimeout(() => {}, 1);\n\
         setImmediate(() => {});\n\
         setImmediate(() => {});\n\
         fs.stat('/', () => {});\n\
         spawn('true').on('exit', () => {});\n\
         const udp = require('dgram').createSocket('udp4');\n\
         udp.bind(0, '127.0.0.1', () => udp.send('x', udp.address().port, '127.0.0.1'));\n\
         udp.on('message', () => udp.close());\n\
         const watcher = fs.watch('/', () => {}); setTimeout(() => watcher.close(), 2);\n\
         require('dns').lookup('localhost', () => {});\n\
         process.once('SIGUSR2', () => {});\n\
         process.kill(process.pid, 'SIGUSR2');\n",
    );
    let lines_of = |name: &str| -> Vec<String> {
        let is = |record: &&serde_json::Value| record["cat"] == "callback" && record["name"] == name;
        let origin = |record: &serde_json::Value| {
            let origin = record["args"]["origin"].as_str().unwrap_or_default();
            let line = origin.strip_prefix(&format!("{}:", script.display()));
            line.map_or_else(|| origin.to_owned(), |place| place.split(':').next().unwrap().to_owned())
        };
        records.iter().filter(is).map(origin).collect()
    };
    let has = |name: &str, lines: &[&str]| {
        let found = lines_of(name);
        assert!(lines.iter().all(|line| found.iter().any(|found| found == line)), "{name}: {found:?}");
    };
    // Of those that the loop calls together each is told of.
    has("timer", &["2", "3", "11"]);
    has("immediate", &["4", "5"]);
    has("job", &["6", "12"]);
    has("exit", &["7"]);
    has("receive", &["8"]);
    has("signal", &["13"]);
    assert_eq!(lines_of("script"), [script.display().to_string()]);
}

#[test]
fn a_handle_that_the_library_makes_later_is_from_the_line_that_asked_for_it() {
    let (script, records) = traced(
        "later",
        "const net = require('net');\n\
         const server = net.createServer((socket) => socket.end());\n\
         server.listen(0, '127.0.0.1', () => {\n\
           net.connect(server.address().port, 'localhost').resume().on('close', () => server.close());\n\
         });\n",
    );
    let origin = |name: &str| {
        let record = records.iter().find(|record| record["cat"] == "callback" && record["name"] == name);
        record.unwrap()["args"]["origin"].as_str().unwrap_or_default().to_owned()
    };
    assert!(origin("connection").starts_with(&format!("{}:3:", script.display())), "{}", origin("connection"));
    assert!(origin("connect").starts_with(&format!("{}:4:", script.display())), "{}", origin("connect"));
}

#[test]
fn workers_have_tracks_of_their_own() {
    let (script, records) = traced(
        "workers",
        "const { Worker, isMainThread } = require('worker_threads');\n\
         if (isMainThread) new Worker(__filename);\n\
         else setTimeout(() => {}, 5);\n",
    );
    let track = |name: &str| {
        let record = records.iter().find(|record| record["ph"] == "M" && record["args"]["name"] == name);
        record.unwrap_or_else(|| panic!("no track {name}"))["tid"].clone()
    };
    let (own, other) = (track("loop 1: callbacks"), track("worker 1: callbacks"));
    assert_ne!(own, other);
    let timer = records.iter().find(|record| {
        let is_part = record["args"]["origin"].as_str().is_some_and(|origin| origin.starts_with('/'));
        record["name"] == "timer" && record["cat"] == "callback" && is_part
    });
    let timer = timer.unwrap();
    assert_eq!(timer["tid"], other);
    assert!(timer["args"]["origin"].as_str().unwrap().starts_with(&format!("{}:3:", script.display())), "{timer}");
}

#[test]
fn a_child_with_the_same_options_leaves_the_trace_alone() {
    let (_, records) = traced(
        "forks",
        "if (process.send) process.send(1, () => process.disconnect());\n\
         else require('child_process').fork(__filename).on('exit', (code) => {\n\
           for (let i = 0; i < 100; i++) setTimeout(() => { process.exitCode = code; }, 1);\n\
         });\n",
    );
    assert!(records.iter().all(|record| record["pid"] == records[0]["pid"]));
    let timers = records.iter().filter(|record| record["name"] == "timer" && record["args"]["part"] == 1);
    assert_eq!(timers.count(), 100);
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error() {
    let output = program().args(["--trace", "/proc/nothing/trace", "-e", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("oxuv: "));
}

/// The position at which a script was found stuck, after how many milliseconds, and all that was printed.
fn stuck(name: &str, threshold: &str, text: &str) -> (PathBuf, f64, String) {
    let script = script(name, text);
    let output = program().args(["--warn-slow", threshold]).arg(&script).output().unwrap();
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    let after = errors.split(" callback for ").nth(1).and_then(|rest| rest.split(' ').next());
    let after = after.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{errors}"));
    (script, after, errors)
}

#[test]
fn a_stuck_script_is_found_where_it_is_within_twice_the_threshold() {
    let (script, after, errors) = stuck(
        "slow",
        "400",
        "function work() {\n\
           const end = Date.now() + 2500;\n\
           while (Date.now() < end);\n\
         }\n\
         setTimeout(function later() {\n\
           work();\n\
         }, 1);\n",
    );
    let place = |line: u32| format!("{}:{line}:", script.display());
    let lines: Vec<_> = errors.lines().collect();
    let [head, inner, outer, slow] = lines[..] else { panic!("{errors}") };
    assert!(head.starts_with("oxuv: the loop is stuck: in a timer callback for "), "{errors}");
    assert!(head.contains(&format!(", from {}", place(5))), "{errors}");
    assert!((400.0..800.0).contains(&after), "{errors}");
    assert!(inner.starts_with(&format!("    in work ({}", place(3))), "{errors}");
    assert!(outer.starts_with(&format!("    in later ({}", place(6))), "{errors}");
    assert!(slow.starts_with("oxuv: slow callback: timer took ") && slow.contains(&place(5)), "{errors}");
}

#[test]
fn the_main_part_of_a_script_and_workers_may_be_stuck_too() {
    let text = "const { Worker, isMainThread } = require('worker_threads');\n\
                if (isMainThread) new Worker(__filename);\n\
                const end = Date.now() + 2000;\n\
                if (!isMainThread) while (Date.now() < end);\n";
    let (script, _, errors) = stuck("worker", "400", text);
    let heads: Vec<_> = errors.lines().filter(|line| line.contains("is stuck")).collect();
    assert!(heads[0].starts_with("oxuv: worker 1: the loop is stuck: in a script callback for "), "{errors}");
    assert!(heads[0].contains(&format!(", from {}:2:", script.display())), "{errors}");
    assert!(errors.contains(&format!("\n    in Object.<anonymous> ({}:4:", script.display())), "{errors}");
}

#[test]
fn numbers_of_all_loops_are_written_at_the_end() {
    let script = script(
        "numbers",
        "const { Worker, isMainThread } = require('worker_threads');\n\
         for (let i = 0; i < (isMainThread ? 5 : 2); i++) setTimeout(() => {}, 1);\n\
         if (isMainThread) new Worker(__filename).on('exit', () => process.exit(7));\n",
    );
    let path = script.with_extension("prom");
    let output = program().arg("--metrics").arg(&path).arg(&script).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("\noxuv_callbacks_total{loop=\"main\",kind=\"timer\"} 5\n"), "{text}");
    assert!(text.contains("\noxuv_callbacks_total{loop=\"worker 1\",kind=\"timer\"} 2\n"), "{text}");
    assert_eq!(text.matches("# TYPE oxuv_callbacks_total counter\n").count(), 1);
    let output = program().args(["--metrics", "-", "-e", "1"]).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("# HELP oxuv_turns_total "));
}

/// What a script prints that is ended by a signal.
fn ended(name: &str, text: &str) -> (PathBuf, std::process::ExitStatus, String) {
    let script = script(name, text);
    let mut command = program();
    command.arg("--why-alive").arg(&script).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    (script, child.wait().unwrap(), errors)
}

#[test]
fn what_keeps_a_script_alive_is_named_by_its_line() {
    let (script, status, errors) = ended(
        "leak",
        "const server = require('net').createServer();\n\
         setInterval(() => {}, 100000);\n\
         setTimeout(() => {}, 100000).unref();\n\
         server.listen(0, '127.0.0.1');\n\
         const other = require('net').createServer().listen(0, () => console.log('ready'));\n",
    );
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(status.signal(), Some(15), "{errors}");
    let lines: Vec<_> = errors.lines().collect();
    let [head, interval, other, server] = lines[..] else { panic!("{errors}") };
    assert_eq!(head, "oxuv: the loop is alive because of 3 handles and requests");
    assert!(interval.starts_with("oxuv:   interval: due in ") && interval.contains(" ms, every 100000 ms"), "{errors}");
    assert!(interval.contains(&format!(", from {}:2:", script.display())), "{errors}");
    assert!(other.contains(&format!(", from {}:5:", script.display())), "{errors}");
    // It was made when its name had been looked up.
    assert!(server.contains(": listening, descriptor ") && server.contains(", 127.0.0.1:"), "{errors}");
    assert!(server.contains(&format!(", from {}:4:", script.display())), "{errors}");
}

#[test]
fn a_script_that_listens_to_the_signal_goes_on() {
    let (_, status, errors) = ended(
        "listens",
        "process.on('SIGTERM', () => { clearTimeout(timer); process.exitCode = 7; });\n\
         const timer = setTimeout(() => {}, 100000);\n\
         setImmediate(() => console.log('ready'));\n",
    );
    assert_eq!(status.code(), Some(7), "{errors}");
    assert!(errors.starts_with("oxuv: the loop is alive because of 1 handle or request\n"), "{errors}");
}

#[test]
fn what_an_exit_leaves_behind_is_named() {
    let script = script(
        "exit",
        "// Nothing else.\n\
         setImmediate(() => {});\n\
         process.exit(3);\n",
    );
    let output = program().arg("--why-alive").arg(&script).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let errors = String::from_utf8(output.stderr).unwrap();
    let begin = format!(
        "oxuv: process.exit() while the loop is alive because of 1 handle or request\n\
         oxuv:   immediate: due now, from {}:2:",
        script.display()
    );
    assert!(errors.starts_with(&begin), "{errors}");
    let output = program().args(["--why-alive", "-e", "process.exit(0)"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn a_signal_of_choice_asks_and_the_script_goes_on() {
    let script = script(
        "choice",
        "const timer = setInterval(() => {}, 100000);\n\
         process.kill(process.pid, 'SIGUSR2');\n\
         setTimeout(() => clearInterval(timer), 1500);\n",
    );
    let output = program().arg("--why-alive=USR2").arg(&script).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("oxuv: the loop is alive because of 2 handles and requests\n"), "{errors}");
    assert!(errors.contains(&format!("from {}:1:", script.display())), "{errors}");
    let output = program().args(["--why-alive=NONE", "-e", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(9));
}

#[test]
fn a_file_that_cannot_be_made_is_said_with_its_option() {
    for option in ["--trace", "--metrics"] {
        let output = program().args([option, "/proc/nothing/x", "-e", "1"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with(&format!("oxuv: {option} /proc/nothing/x: ENOENT: ")), "{errors}");
    }
}

#[test]
fn workers_are_asked_too() {
    let (script, _, errors) = ended(
        "asked",
        "const { Worker, isMainThread } = require('worker_threads');\n\
         if (isMainThread) new Worker(__filename).on('message', () => console.log('ready'));\n\
         else require('worker_threads').parentPort.postMessage(1);\n\
         setTimeout(() => {}, 100000);\n",
    );
    let worker = errors.find("oxuv: worker 1 is alive because of 1 handle or request\n").unwrap_or_else(|| {
        panic!("{errors}");
    });
    assert!(errors[worker..].contains(&format!("from {}:4:", script.display())), "{errors}");
}

#[test]
fn a_script_that_does_not_come_back_says_where_it_is_and_is_ended() {
    let (script, status, errors) = ended(
        "busy",
        "setTimeout(() => {\n\
           require('fs').writeSync(1, 'ready\\n');\n\
           for (;;) Math.abs(1);\n\
         }, 1);\n",
    );
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(status.signal(), Some(15), "{errors}");
    assert!(errors.starts_with("oxuv: the loop is stuck: in a timer callback for "), "{errors}");
    assert!(errors.contains(&format!("\n    in {}:3:", script.display())), "{errors}");
}
