//! `--trace`, `--warn-slow` and `--why-alive`.

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

#[test]
fn a_trace_that_cannot_be_written_is_an_error() {
    let output = program().args(["--trace", "/proc/nothing/trace", "-e", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("oxuv: "));
}

#[test]
fn slow_callbacks_are_printed() {
    let script = script("slow", "setTimeout(() => { const end = Date.now() + 1500; while (Date.now() < end); }, 1);\n");
    let output = program().args(["--warn-slow", "100"]).arg(script).output().unwrap();
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("oxuv: the loop is stuck: in a timer callback for "), "{errors}");
    assert!(errors.contains("\noxuv: slow callback: timer took "), "{errors}");
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
    assert!(errors.starts_with("oxuv: the loop is alive because of 1 handles and requests\n"), "{errors}");
}
