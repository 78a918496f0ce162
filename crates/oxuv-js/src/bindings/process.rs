//! The process: arguments, environment, output, time, the end.

use std::io::Write;

use rquickjs::function::Func;
use rquickjs::{Ctx, Exception, Object, Result};

use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("args", Func::from(args))?;
    object.set("environment", Func::from(environment))?;
    object.set("execPath", Func::from(exec_path))?;
    object.set("workingDirectory", Func::from(working_directory))?;
    object.set("changeDirectory", Func::from(change_directory))?;
    object.set("write", Func::from(write))?;
    object.set("nanoseconds", Func::from(nanoseconds))?;
    object.set("pid", std::process::id())?;
    object.set("end", Func::from(end))?;
    object.set("reallyExit", Func::from(really_exit))?;
    object.set("print", Func::from(|ctx: Ctx<'_>| host(&ctx).options.print))
}

fn args(ctx: Ctx<'_>) -> Vec<String> {
    host(&ctx).options.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

fn environment() -> Vec<Vec<String>> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| vec![text(name), text(value)]).collect()
}

fn exec_path() -> String {
    std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

fn working_directory(ctx: Ctx<'_>) -> Result<String> {
    let path = std::env::current_dir().map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
    Ok(path.to_string_lossy().into_owned())
}

fn change_directory(ctx: Ctx<'_>, path: String) -> Result<()> {
    std::env::set_current_dir(path).map_err(|error| Exception::throw_message(&ctx, &error.to_string()))
}

/// Writes text to standard output (1) or error (2), all of it. What nobody reads any more is dropped.
fn write(number: i32, text: String) {
    let outcome = if number == 2 {
        std::io::stderr().lock().write_all(text.as_bytes())
    } else {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    };
    drop(outcome);
}

/// The monotonic clock, in nanoseconds.
fn nanoseconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nothing of the script is called any more, and the loop ends.
fn end(ctx: Ctx<'_>, code: i32) {
    host(&ctx).end(code);
}

/// Ends the process here and now.
fn really_exit(code: i32) {
    let _ = std::io::stdout().flush();
    std::process::exit(code)
}
