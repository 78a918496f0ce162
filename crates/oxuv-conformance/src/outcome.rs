//! What came of a test, read from what libuv's runner prints.

use std::fmt;
use std::str::FromStr;

/// The word at the start of the line that a stub prints (see [`crate::stubs`]).
pub const MISSING: &str = "missing: ";

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It passed.
    Pass,
    /// It says that it cannot run here, and why.
    Skip(String),
    /// An assertion failed, or it ended with an error.
    Fail,
    /// It called a function that the library does not have.
    Missing(String),
    /// A signal ended it; the signal's name.
    Crash(String),
    /// It did not end in time.
    Timeout,
}

/// How the process of libuv's runner ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It was killed because the time was up.
    TimeLimit,
}

impl Outcome {
    /// Reads the runner's report on one test: a line `ok`, `ok # SKIP` or `not ok`, then remarks and the output of the
    /// test and its helpers, each line behind a `#`.
    pub fn read(output: &str, end: End) -> Outcome {
        if end == End::TimeLimit {
            return Outcome::Timeout;
        }
        for line in output.lines() {
            if line.starts_with("ok ") {
                return match line.split_once(" # SKIP") {
                    Some((_, reason)) => Outcome::Skip(reason.trim().to_owned()),
                    None => Outcome::Pass,
                };
            }
            if line.starts_with("not ok ") {
                break;
            }
        }
        let remarks = || output.lines().map(remark);
        if let Some(name) = remarks().find_map(|line| line.strip_prefix(MISSING)) {
            return Outcome::Missing(name.trim().to_owned());
        }
        if remarks().any(|line| line == "timeout") {
            return Outcome::Timeout;
        }
        if remarks().any(is_complaint) {
            return Outcome::Fail;
        }
        let status = remarks().find_map(|line| line.strip_prefix("exit code ")).and_then(|code| code.parse().ok());
        match (status, end) {
            (Some(status), _) => signal_in_status(status).map_or(Outcome::Fail, Outcome::Crash),
            (None, End::Signal(signal)) => Outcome::Crash(signal_name(signal)),
            (None, _) => Outcome::Fail,
        }
    }

    /// How good it is: more is better. Ways to fail are equally bad.
    pub fn rank(&self) -> u8 {
        match self {
            Outcome::Pass => 2,
            Outcome::Skip(_) => 1,
            Outcome::Fail | Outcome::Missing(_) | Outcome::Crash(_) | Outcome::Timeout => 0,
        }
    }

    /// The outcome without its reason.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Skip(_) => "skip",
            Outcome::Fail => "fail",
            Outcome::Missing(_) => "missing",
            Outcome::Crash(_) => "crash",
            Outcome::Timeout => "timeout",
        }
    }
}

/// The line of an output that says most about why a test failed.
pub fn complaint(output: &str) -> Option<&str> {
    let remarks = || output.lines().map(remark);
    let panic = remarks().position(|line| line.contains("panicked at"));
    remarks()
        .find(|line| is_complaint(line))
        .or_else(|| remarks().nth(panic? + 1))
        .or_else(|| remarks().find(|line| line.starts_with("exit code ")))
}

fn is_complaint(line: &str) -> bool {
    line.starts_with("Assertion failed in ") || line.starts_with("Fatal error in ")
}

fn remark(line: &str) -> &str {
    line.strip_prefix("# ").unwrap_or(line)
}

/// The runner prints the exit code, or the raw status of a process that a signal ended: its number, and 128 more if
/// there is a core file.
fn signal_in_status(status: i32) -> Option<String> {
    let known = [4, 5, 6, 7, 8, 9, 11, 13, 14, 15];
    let signal = if status > 128 { status - 128 } else { status };
    known.contains(&signal).then(|| signal_name(signal))
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return format!("signal-{signal}"),
    };
    name.to_owned()
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Outcome::Skip(reason) | Outcome::Missing(reason) | Outcome::Crash(reason) if !reason.is_empty() => {
                write!(f, " {reason}")
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Outcome, String> {
        let (word, reason) = text.split_once(' ').unwrap_or((text, ""));
        let reason = reason.to_owned();
        match word {
            "pass" => Ok(Outcome::Pass),
            "skip" => Ok(Outcome::Skip(reason)),
            "fail" => Ok(Outcome::Fail),
            "missing" => Ok(Outcome::Missing(reason)),
            "crash" => Ok(Outcome::Crash(reason)),
            "timeout" => Ok(Outcome::Timeout),
            _ => Err(format!("{text:?} is no result of a test")),
        }
    }
}
