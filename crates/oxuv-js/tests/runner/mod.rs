//! Runs scripts on the program, each within a time, and keeps what they print.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Longer than any script takes on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

/// What became of a script.
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) status: ExitStatus,
}

impl Ran {
    /// Standard output with the exit code behind it, as in the files of what is expected.
    pub(crate) fn text(&self) -> String {
        let code = self.status.code().map_or_else(|| self.status.to_string(), |code| code.to_string());
        format!("{}--- exit {code}\n", self.out)
    }
}

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_oxuv"))
}

/// A path for a file of the test, of which there is one only.
pub(crate) fn scratch(name: &str) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}-{name}", std::process::id()))
}

/// Runs it with this on its standard input.
///
/// # Panics
/// When it does not end, or cannot be run.
pub(crate) fn run(command: &mut Command, input: Option<&[u8]>) -> Ran {
    let (out, err) = (scratch("out"), scratch("err"));
    let mut child = command
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .spawn()
        .unwrap();
    if let Some(input) = input {
        // A program that does not read it is not the test's failure.
        let _ = child.stdin.take().unwrap().write_all(input);
    }
    let status = wait(&mut child);
    let read = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (out, err) = (read(&out), read(&err));
    let status = status.unwrap_or_else(|| panic!("{command:?} does not end\n{out}{err}"));
    Ran { out, err, status }
}

/// Waits for the end; when that takes too long, nothing.
pub(crate) fn wait(child: &mut Child) -> Option<ExitStatus> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
