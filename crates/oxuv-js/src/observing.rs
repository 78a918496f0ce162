//! Seeing what the loop of a script does: `--trace`, `--warn-slow` and `--why-alive`.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::time::Duration;

use oxuv::observe::{Pulse, Settings, SlowCallback, Trace, Watchdog};
use oxuv::{LoopRef, Signal};
use oxuv_os::process::kill;

use crate::host::Host;

/// What is to be seen of a script's loop.
#[derive(Debug, Default, Clone)]
pub struct Observing {
    /// Where a trace is written to.
    pub trace: Option<PathBuf>,
    /// Callbacks that take so long are printed.
    pub slow: Option<Duration>,
    /// Prints what keeps the loop alive when a signal ends the program.
    pub why_alive: bool,
}

impl Observing {
    /// Whether anybody wants to know where in the script handles come from.
    pub(crate) fn keeps_places(&self) -> bool {
        self.trace.is_some() || self.slow.is_some() || self.why_alive
    }
}

fn say(what: impl Display) {
    // There is nobody to tell if standard error is gone.
    let _ = writeln!(std::io::stderr(), "oxuv: {what}");
}

/// Has a new loop observed.
///
/// # Errors
/// Those of making the trace's file; no thread.
pub(crate) fn begin(lp: &LoopRef, observing: &Observing) -> oxuv::Result<()> {
    let mut settings = Settings::default();
    if let Some(path) = &observing.trace {
        settings.trace = Some(Trace::create(path)?);
    }
    if let Some(threshold) = observing.slow {
        let pulse = Pulse::default();
        settings.slow = Some((threshold, Box::new(|slow: SlowCallback| say(slow))));
        settings.watchdog = Some(Watchdog::start(pulse.clone(), threshold, say)?);
        settings.pulse = Some(pulse);
    }
    if settings.is_empty() { Ok(()) } else { lp.observe(settings) }
}

/// When SIGINT or SIGTERM comes, prints what keeps the loop alive. Unless the script does something about the signal itself, it
/// then ends the process, as it would have.
///
/// # Errors
/// ENOMEM.
pub(crate) fn answer_signals(host: &Rc<Host>) -> oxuv::Result<()> {
    for (number, name) in [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM")] {
        let host_ref = Rc::downgrade(host);
        let signal = Signal::new(&host.lp)?;
        signal.unref()?;
        signal.start(number, move |signal, number| answer(&host_ref, signal, number, name))?;
    }
    Ok(())
}

fn answer(host: &Weak<Host>, signal: &Signal, number: i32, name: &str) {
    let Some(host) = host.upgrade() else { return };
    let (timers, listens) = host.context.with(|ctx| {
        let timers = host.hooks().why_alive.clone().restore(&ctx).and_then(|timers| timers.call::<_, Vec<String>>(()));
        let listens = host.hooks().listens.clone().restore(&ctx).and_then(|listens| listens.call((name,)));
        (timers.unwrap_or_default(), listens.unwrap_or(false))
    });
    let alive = host.lp.why_alive();
    // All timers of the script are one to the loop.
    let handles = alive.iter().filter(|alive| alive.keeper.kind != oxuv::Kind::Timer).map(ToString::to_string);
    let lines: Vec<String> = timers.into_iter().chain(handles).collect();
    say(format_args!("the loop is alive because of {} handles and requests", lines.len()));
    lines.iter().for_each(|line| say(format_args!("  {line}")));
    if !listens && signal.close().is_ok() {
        // Its default action is there again.
        let _ = kill(std::process::id() as i32, number);
    }
}
