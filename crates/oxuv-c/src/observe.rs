//! Seeing what the loops of a program do that knows nothing of it: by the environment.
//!
//! | variable | what it does |
//! | --- | --- |
//! | `OXUV_TRACE=FILE` | writes a trace of all loops to this file, `%p` in it being the process's id |
//! | `OXUV_WARN_SLOW_MS=N` | prints callbacks that take so many milliseconds, and says so while one is under way |
//! | `OXUV_WHY_ALIVE=1` | prints what keeps the loops alive when SIGINT or SIGTERM ends the process, or a callback by `exit`; and what keeps a loop open that cannot be closed |
//! | `OXUV_WHY_ALIVE=SIGNAL` | prints it each time this signal comes, a name as `USR2` or a number, and for a loop that cannot be closed |
//! | `OXUV_ORIGIN=backtrace` | has it tell also in which functions each handle was made, with file and line where the program has them |
//! | `OXUV_METRICS=FILE` | writes what the loops have counted when the process exits, or SIGINT or SIGTERM ends it, as Prometheus reads it; `%p` as above, `-` is standard error |
//! | `OXUV_METRICS_SIGNAL=SIGNAL` | writes it each time this signal comes, too |
//!
//! They are read when the process makes its first loop; a file's name that is relative is so to the directory that the process is in then.
//! An empty variable is as none. A signal for numbers is taken also without `OXUV_METRICS`, and does nothing. Prints go to standard error. A callback is named by its symbol,
//! or by where it is in which file, as `addr2line` takes it.

mod callbacks;
mod keepers;
mod numbers;
mod signals;

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;
use std::time::Duration;

use oxuv_core::{Errno, Result};
use oxuv_observe::{Pulse, Settings, SlowCallback, Trace, Watchdog, observer, path_for_process};

use crate::loop_::Loop;
use callbacks::Callbacks;
use signals::Duty;

/// What the environment says.
#[derive(Default)]
struct Wishes {
    trace: Option<Trace>,
    slow: Option<Duration>,
    /// Somebody may ask why a loop is alive.
    has_inquiries: bool,
    /// And wants to know in which functions its handles were made.
    has_backtraces: bool,
    /// The process that makes the wishes: its children have loops of their own.
    process: u32,
    /// What is done when it exits.
    tells_at_exit: bool,
}

static WISHES: OnceLock<Wishes> = OnceLock::new();

/// Has a new loop observed, if the environment says so. What cannot be done is said, and the program goes on.
///
/// # Safety
/// It is the core of a loop, at the place where it stays, and nobody else knows of it yet.
pub(crate) unsafe fn begin(core: *mut Loop) {
    let wishes = WISHES.get_or_init(read_environment);
    // SAFETY: says the caller.
    unsafe {
        let settings = wishes.settings(core);
        // A program that wishes nothing needs no memory for it: its allocator may have none.
        if settings.is_empty() {
            return;
        }
        let callbacks = Callbacks::new(wishes.has_inquiries, wishes.has_backtraces);
        if let Some(observer) = observer(settings, Box::new(callbacks)) {
            (*core).observe(Some(observer));
        }
    }
}

fn read_environment() -> Wishes {
    // SAFETY: asks for a number. Whoever runs a program with others' rights is not to have it write files.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return Wishes::default();
    }
    let mut wishes = Wishes { process: std::process::id(), ..Wishes::default() };
    wishes.slow = wish("OXUV_WARN_SLOW_MS", "a number of milliseconds, at least 1", |text| {
        milliseconds(text).ok_or(Errno::EINVAL)
    });
    wishes.trace = wish("OXUV_TRACE", A_FILE, |path| Trace::create(&path_for_process(path)));
    if let Some(trace) = &wishes.trace {
        trace.on_end(say);
    }
    let why_alive = wish("OXUV_WHY_ALIVE", "1, or a signal that can be caught, such as USR2", |text| {
        signals::begin(text, Duty::ASK)
    });
    wishes.has_inquiries = why_alive.is_some();
    let origin = wish("OXUV_ORIGIN", "backtrace", |text| (text == "backtrace").then_some(()).ok_or(Errno::EINVAL));
    wishes.has_backtraces = origin.is_some();
    let metrics = wish("OXUV_METRICS", A_FILE, |path| {
        numbers::begin(path).and_then(|()| signals::begin(OsStr::new("1"), Duty::WRITE))
    });
    // The signal is taken without a file, too: whoever sends it does not mean to end the program.
    let signal = wish("OXUV_METRICS_SIGNAL", "a signal that can be caught, such as USR1", |text| {
        signals::begin(text, Duty::WRITE)
    });
    if signal.is_some() && value_of("OXUV_METRICS").is_none() {
        say("OXUV_METRICS_SIGNAL: without OXUV_METRICS nothing is written when it comes");
    }
    wishes.tells_at_exit = std::env::var_os("OXUV_WHY_ALIVE").is_some_and(|text| text == "1");
    if wishes.tells_at_exit || metrics.is_some() {
        // SAFETY: the function is there as long as this library, which has it called before it is unloaded.
        unsafe { libc::atexit(at_exit) };
    }
    wishes
}

/// What a variable must be that names a file.
const A_FILE: &str = "a file that can be written";

/// Does what this variable wishes, if it is there. An error is said, with the variable's value; of EINVAL what the value must be.
fn wish<T>(name: &str, valid: &str, grant: impl FnOnce(&OsStr) -> Result<T>) -> Option<T> {
    let value = value_of(name)?;
    let granted = grant(&value);
    match &granted {
        Err(Errno::EINVAL) => say(format_args!("{name}={}: must be {valid}", value.display())),
        Err(error) => say(format_args!("{name}={}: {error}", value.display())),
        Ok(_) => {}
    }
    granted.ok()
}

/// The value of a variable. An empty one is as if it were not there.
fn value_of(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn milliseconds(text: &OsStr) -> Option<Duration> {
    let number = text.to_str()?.parse().ok().filter(|&number| number > 0)?;
    Some(Duration::from_millis(number))
}

extern "C" fn at_exit() {
    let Some(wishes) = WISHES.get().filter(|wishes| wishes.process == std::process::id()) else { return };
    if wishes.tells_at_exit {
        keepers::tell_of_this_thread();
    }
    numbers::write();
}

impl Wishes {
    /// # Safety
    /// As for [`begin`].
    unsafe fn settings(&self, core: *mut Loop) -> Settings {
        let (trace, numbers) = (self.trace.clone(), numbers::add_loop());
        let mut settings = Settings { trace, numbers, ..Settings::default() };
        if self.slow.is_none() && !self.has_inquiries {
            return settings;
        }
        let pulse = Pulse::default();
        settings.pulse = Some(pulse.clone());
        if let Some(threshold) = self.slow {
            settings.slow = Some((threshold, Box::new(|slow: SlowCallback| say(slow))));
            settings.watchdog = Watchdog::start(pulse.clone(), threshold, say).ok();
        }
        if self.has_inquiries {
            // SAFETY: says the caller.
            settings.inquiry = unsafe { keepers::add_loop(core, pulse) };
        }
        settings
    }
}

/// Prints a line. Nothing is to be done if there is nobody to read it.
fn say(what: impl Display) {
    let _ = writeln!(std::io::stderr(), "oxuv: {what}");
}
