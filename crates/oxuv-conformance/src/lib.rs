//! libuv's own tests, run on a library with libuv's interface. README.md says how to use the program.
//!
//! [`source`] finds libuv's source, [`compile`] makes objects of its tests, [`library`] provides the library under test,
//! [`program`] links the two, [`run`] runs each test, [`outcome`] reads what came of it, [`expected`] compares.

#![forbid(unsafe_code)]

use std::process::{Command, Stdio};

pub mod compile;
pub mod expected;
pub mod leaks;
pub mod library;
pub mod options;
pub mod outcome;
pub mod parallel;
pub mod place;
pub mod program;
pub mod report;
pub mod run;
pub mod source;
pub mod stubs;
pub mod symbols;

/// Runs a tool that must succeed, and returns what it prints. Its complaints go where ours go.
pub(crate) fn run_tool(command: &mut Command) -> Result<String, String> {
    run_quietly(command.stderr(Stdio::inherit()))
}

/// The same of one whose complaints say nothing.
pub(crate) fn run_quietly(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} has failed ({})", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Adds to an error what it was about.
pub fn about<E: std::fmt::Display>(what: impl std::fmt::Display) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}
