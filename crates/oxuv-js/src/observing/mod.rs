//! Seeing what the loops of a script and of its workers do: `--trace`, `--warn-slow`, `--why-alive` and `--metrics`.

mod numbers;
mod position;
mod why_alive;

use std::cell::OnceCell;
use std::fmt::{self, Display};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use oxuv::observe::{Numbers, Pulse, Settings, SlowCallback, Stuck, Trace, Watchdog};
use oxuv::{Async, Errno, LoopRef};
use oxuv_js_engine::Interrupts;
use rquickjs::Ctx;

use crate::host::Host;
use crate::program::Error;
use numbers::Metrics;
use position::Position;
pub(crate) use why_alive::Asked;
use why_alive::{Answer, Inquiries};

/// What is to be seen of a script's loop, and of those of its workers.
#[derive(Debug, Default, Clone)]
pub struct Observing {
    /// Where a trace is written to.
    pub trace: Option<PathBuf>,
    /// Callbacks that take so long are printed.
    pub slow: Option<Duration>,
    /// When it is printed what keeps the loops alive.
    pub why_alive: Option<WhyAlive>,
    /// Where the numbers are written to at the end, as Prometheus reads them; `-` is the standard error.
    pub metrics: Option<PathBuf>,
}

/// When it is printed what keeps the loops alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyAlive {
    /// When SIGINT or SIGTERM ends the program, or `process.exit()`.
    AtEnd,
    /// Whenever this signal comes; the program goes on.
    At(i32),
}

/// Says something on the standard error.
fn say(what: impl Display) {
    // There is nobody to tell if standard error is gone.
    let _ = writeln!(std::io::stderr(), "oxuv: {what}");
}

/// A loop of the process, by the number of its worker; that of the script itself has 0.
#[derive(Debug, Clone, Copy)]
struct Who(u32);

impl Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.write_str("the loop") } else { write!(f, "worker {}", self.0) }
    }
}

impl Who {
    /// What a line about it begins with.
    fn head(self) -> String {
        if self.0 == 0 { String::new() } else { format!("{self}: ") }
    }
}

/// What sees all loops of the process.
#[derive(Clone)]
pub(crate) struct Observers {
    trace: Option<Trace>,
    slow: Option<Duration>,
    inquiries: Option<Inquiries>,
    metrics: Option<Metrics>,
}

impl Observers {
    /// Begins with what is wanted; `None` if that is nothing.
    ///
    /// # Errors
    /// Those of making the files; no thread.
    pub(crate) fn begin(wanted: &Observing) -> Result<Option<Observers>, Error> {
        let observers = Observers {
            trace: wanted.trace.as_deref().map(create).transpose()?.flatten(),
            slow: wanted.slow,
            inquiries: wanted.why_alive.map(Inquiries::begin).transpose()?,
            metrics: wanted.metrics.as_deref().map(Metrics::to).transpose()?,
        };
        let Observers { trace, slow, inquiries, metrics } = &observers;
        let is_wanted = trace.is_some() || slow.is_some() || inquiries.is_some() || metrics.is_some();
        Ok(is_wanted.then_some(observers))
    }

    /// Has a new loop observed; a worker's by its number, the script's own by 0.
    ///
    /// # Errors
    /// No thread, no memory.
    pub(crate) fn observe(&self, lp: &LoopRef, worker: u32) -> oxuv::Result<Observed> {
        let who = Who(worker);
        let (pulse, position) = (Pulse::default(), Position::default());
        let numbers = self.metrics.as_ref().map(|_| Numbers::new());
        let mut settings = Settings {
            name: (worker != 0).then(|| who.to_string()),
            trace: self.trace.clone(),
            numbers: numbers.clone(),
            ..Settings::default()
        };
        if self.slow.is_some() || self.inquiries.is_some() {
            settings.pulse = Some(pulse.clone());
        }
        if let Some(threshold) = self.slow {
            settings.slow =
                Some((threshold, Box::new(move |slow: SlowCallback| say(format_args!("{}{slow}", who.head())))));
            let position = position.clone();
            let tell = move |stuck| say(format_args!("{}{}", who.head(), located(stuck, &position, threshold / 2)));
            settings.watchdog = Some(Watchdog::start(pulse.clone(), threshold, tell)?);
        }
        lp.observe(settings)?;
        if let (Some(metrics), Some(numbers)) = (&self.metrics, numbers) {
            metrics.add(if worker == 0 { "main".to_owned() } else { who.to_string() }, numbers);
        }
        Ok(Observed { observers: self.clone(), who, pulse, position, answer: OnceCell::new() })
    }

    /// Writes what is written at the end of the process.
    pub(crate) fn finish(&self) {
        if let Some(metrics) = &self.metrics {
            metrics.write();
        }
    }
}

/// A new trace. A script that has started this one, with the same options, may have the file: then there is none.
fn create(path: &Path) -> Result<Option<Trace>, Error> {
    match Trace::create(path) {
        Err(Errno::EBUSY) => {
            say(format_args!("no trace: {} is another program's, unless there is a %p in its name", path.display()));
            Ok(None)
        }
        Err(errno) => Err(Error::of_option("--trace", path, errno)),
        Ok(trace) => {
            trace.on_end(say);
            Ok(Some(trace))
        }
    }
}

/// A loop that is observed.
pub(crate) struct Observed {
    observers: Observers,
    who: Who,
    pulse: Pulse,
    position: Position,
    answer: OnceCell<Answer>,
}

impl Observed {
    pub(crate) fn observers(&self) -> &Observers {
        &self.observers
    }

    /// What the script's side is to do for it.
    pub(crate) fn flags(&self) -> &'static [&'static str] {
        match (self.keeps_places(), self.tells_at_exit()) {
            (false, _) => &["--observed"],
            (true, false) => &["--observed=places"],
            (true, true) => &["--observed=places", "--tell-at-exit"],
        }
    }

    fn tells_at_exit(&self) -> bool {
        self.observers.inquiries.as_ref().is_some_and(Inquiries::are_at_end)
    }

    /// Whether anybody wants to know where in the script handles come from.
    pub(crate) fn keeps_places(&self) -> bool {
        let Observers { trace, slow, inquiries, .. } = &self.observers;
        trace.is_some() || slow.is_some() || inquiries.is_some()
    }

    /// Has the script say where it is while it runs. Whether it is to end is asked then, too.
    pub(crate) fn watch_script(&self, host: &Host, must_stop: impl Fn() -> bool + 'static) -> Interrupts {
        let position = self.position.clone();
        Interrupts::new(&host.context, move |ctx| {
            position.answer(ctx);
            must_stop()
        })
    }

    /// Has the loop answer when somebody asks why it is alive. What is returned is to be kept as long as it lives.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn answer_inquiries(&self, host: &Rc<Host>) -> oxuv::Result<Option<Asked>> {
        let Some(inquiries) = &self.observers.inquiries else { return Ok(None) };
        let weak = Rc::downgrade(host);
        let ask = inquiries.add(self.who, self.pulse.clone(), self.position.clone());
        let (answer, who) = (ask.answer(), self.who);
        let _ = self.answer.set(ask.answer());
        let wake = Async::new(&host.lp, move |_| {
            if let Some(host) = weak.upgrade() {
                answer.give(who, false, || host.context.with(|ctx| why_alive::lines(&ctx, &host)));
            }
        })?;
        wake.unref()?;
        ask.wake_by(wake.sender()?);
        Ok(Some(ask))
    }

    /// The script ends the process, or its worker, itself: what would have kept the loop alive.
    pub(crate) fn tell_at_exit(&self, ctx: &Ctx<'_>, host: &Host) {
        let lines = why_alive::lines(ctx, host);
        if !lines.is_empty() {
            why_alive::tell(&format!("process.exit() while {}", self.who), &lines);
        }
    }

    /// A listener of the script's for this signal is about to be called.
    pub(crate) fn answer_before_listener(&self, host: &Host, signal: i32) {
        if let (Some(inquiries), Some(answer)) = (&self.observers.inquiries, self.answer.get())
            && inquiries.are_asked_by(signal)
        {
            answer.give(self.who, true, || host.context.with(|ctx| why_alive::lines(&ctx, host)));
        }
    }

    /// The script begins or ceases to do something about a signal itself.
    pub(crate) fn set_listened(&self, signal: i32, is_listened: bool) {
        if let Some(inquiries) = &self.observers.inquiries {
            inquiries.set_listened(signal, is_listened);
        }
    }
}

/// Where in the script a loop is stuck, in place of which functions of the program that is. A script that is outside of itself, in a
/// function of the library that takes long, is not asked for longer than this.
fn located(mut stuck: Stuck, position: &Position, patience: Duration) -> Stuck {
    let frames = position.ask(patience);
    if !frames.is_empty() {
        stuck.stack = frames;
    }
    stuck
}
