//! Running the programs of `examples/`.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::DEADLINE;

/// A program that is running. It is ended with this value.
pub(crate) struct Example {
    child: Child,
    lines: Receiver<String>,
    /// What it has printed to standard error, when it has ended.
    errors: Option<JoinHandle<String>>,
}

impl Example {
    /// Starts an example. `cargo test` has built it; `cargo test --test ...` alone does not.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Example {
        Example::spawn(Command::new(program(name)).args(arguments), Stdio::null())
    }

    /// Starts an example that reads from this.
    pub(crate) fn start_on(name: &str, input: impl Into<Stdio>) -> Example {
        Example::spawn(&mut Command::new(program(name)), input.into())
    }

    /// As `start`, with no more than so many descriptors.
    pub(crate) fn start_limited(name: &str, arguments: &[&str], descriptors: u32) -> Example {
        let script = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
        Example::spawn(Command::new("sh").args(["-c", &script]).arg(program(name)).args(arguments), Stdio::null())
    }

    fn spawn(command: &mut Command, input: Stdio) -> Example {
        let mut child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        Example { child, lines, errors: Some(errors) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it prints.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("it prints another line")
    }

    /// Whether it prints nothing for this long, and does not end.
    pub(crate) fn is_silent_for(&self, time: Duration) -> bool {
        self.lines.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
    }

    /// What it still prints, to standard output and error, and how it ends.
    pub(crate) fn end(mut self) -> (Vec<String>, String, ExitStatus) {
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(DEADLINE) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end"),
            }
        }
        let errors = self.errors.take().unwrap().join().unwrap();
        let status = self.child.wait().unwrap();
        (rest, errors, status)
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(name: &str) -> PathBuf {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.extend(["examples", name]);
    assert!(path.exists(), "{} is missing: cargo build --examples makes it", path.display());
    path
}

/// Starts an echo server on a free port, and returns where it listens.
pub(crate) fn echo_server(name: &str) -> (Example, SocketAddr) {
    listening(Example::start(name, &["127.0.0.1:0"]))
}

/// As `echo_server`, with no more than so many descriptors.
pub(crate) fn echo_server_limited(name: &str, descriptors: u32) -> (Example, SocketAddr) {
    listening(Example::start_limited(name, &["127.0.0.1:0"], descriptors))
}

fn listening(server: Example) -> (Example, SocketAddr) {
    let line = server.line();
    let address = line.strip_prefix("echo server on ").and_then(|line| line.split(';').next());
    let address: SocketAddr = address.unwrap_or_else(|| panic!("{line}")).parse().unwrap();
    assert_ne!(address.port(), 0);
    (server, address)
}
