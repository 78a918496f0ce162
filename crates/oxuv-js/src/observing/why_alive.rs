//! What keeps the loops alive, when a signal comes.
//!
//! The signals are watched by a thread of its own, so that a script that does not come back to its loop does not keep them. It asks
//! each loop, which answers on its own thread when it has next waited; of one that is in a callback it says which. Before a listener of
//! the script's for the signal the script's own loop answers without being asked: the listener may be its end.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use oxuv::observe::{Pulse, group_alike, how_many_keepers};
use oxuv::{Kind, Loop, Mode, Sender, Signal};
use oxuv_os::process::kill;
use rquickjs::Ctx;

use super::position::Position;
use super::{Who, WhyAlive, located, say};
use crate::host::Host;

/// So long the loops have to begin with their answers.
const PATIENCE: Duration = Duration::from_secs(2);

/// And those that are in a callback.
const PATIENCE_WITH_CALLBACK: Duration = Duration::from_millis(500);

/// And a script that is in a callback for saying where.
const PATIENCE_OF_SCRIPT: Duration = Duration::from_millis(100);

/// Asks the loops of the process.
#[derive(Clone)]
pub(super) struct Inquiries(Arc<Shared>);

struct Shared {
    when: WhyAlive,
    loops: Mutex<Vec<Entry>>,
    last: AtomicU64,
    /// The signals that the script does something about itself.
    listened: Mutex<BTreeSet<i32>>,
}

/// A loop that is asked.
struct Entry {
    number: u64,
    who: Who,
    wake: Option<Sender>,
    answer: Answer,
    pulse: Pulse,
    position: Position,
}

/// Has a loop asked, until it is dropped.
pub(crate) struct Asked {
    inquiries: Inquiries,
    number: u64,
    answer: Answer,
}

/// Whether a loop has answered.
#[derive(Clone, Default)]
pub(super) struct Answer(Arc<(Mutex<Course>, Condvar)>);

/// The course of a question.
#[derive(Default)]
struct Course {
    is_asked: bool,
    /// Until the one who asks knows of it.
    is_answered: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Answer {
    /// The loop tells what keeps it alive if it is asked, or, before a listener's callback, in any case; once. Whoever waits for the answer
    /// waits for all of it.
    pub(super) fn give(&self, who: Who, is_before_listener: bool, lines: impl FnOnce() -> Vec<String>) {
        let (course, bell) = &*self.0;
        let mut course = lock(course);
        let is_told = if is_before_listener { course.is_answered } else { !course.is_asked };
        if is_told {
            return;
        }
        tell(&who.to_string(), &lines());
        *course = Course { is_asked: false, is_answered: true };
        bell.notify_all();
    }

    /// Asks, unless there is an answer already.
    fn ask(&self, wake: Option<&Sender>) {
        let mut course = lock(&self.0.0);
        if let Some(wake) = wake
            && !course.is_answered
        {
            course.is_asked = true;
            // Its loop may be at its end.
            let _ = wake.send();
        }
    }

    /// Whether there is an answer within this time.
    fn wait(&self, patience: Duration) -> bool {
        let (course, bell) = &*self.0;
        let waited = bell.wait_timeout_while(lock(course), patience, |course| !course.is_answered);
        let mut course = waited.unwrap_or_else(PoisonError::into_inner).0;
        std::mem::take(&mut *course).is_answered
    }
}

impl Asked {
    pub(super) fn answer(&self) -> Answer {
        self.answer.clone()
    }

    /// The loop is woken by this.
    pub(super) fn wake_by(&self, wake: Sender) {
        let mut loops = lock(&self.inquiries.0.loops);
        if let Some(entry) = loops.iter_mut().find(|entry| entry.number == self.number) {
            entry.wake = Some(wake);
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        lock(&self.inquiries.0.loops).retain(|entry| entry.number != self.number);
    }
}

impl Inquiries {
    /// Has a thread watch the signals.
    ///
    /// # Errors
    /// Those of making a loop and a thread; EINVAL for a signal that nobody can watch.
    pub(super) fn begin(when: WhyAlive) -> oxuv::Result<Inquiries> {
        let shared = Shared { when, loops: Mutex::default(), last: AtomicU64::new(0), listened: Mutex::default() };
        let inquiries = Inquiries(Arc::new(shared));
        let asks = inquiries.clone();
        let (tell, told) = mpsc::channel();
        std::thread::Builder::new().name("oxuv-why-alive".to_owned()).spawn(move || {
            let watched = asks.watch();
            let is_watching = watched.as_ref().map(|_| ()).map_err(|errno| *errno);
            // Whoever begins this waits for it.
            let _ = tell.send(is_watching);
            watched.and_then(|lp| lp.run(Mode::Default))
        })?;
        told.recv().unwrap_or(Err(oxuv::Errno::EAGAIN))?;
        Ok(inquiries)
    }

    /// A loop that waits for the signals.
    fn watch(&self) -> oxuv::Result<Loop> {
        let lp = Loop::new()?;
        for number in (1..=oxuv_os::signal::LAST).filter(|number| self.are_asked_by(*number)) {
            let asks = self.clone();
            Signal::new(&lp)?.start(number, move |signal, number| {
                asks.ask_all();
                if asks.are_at_end() && !lock(&asks.0.listened).contains(&number) && signal.close().is_ok() {
                    // Its default action is there again.
                    let _ = kill(std::process::id() as i32, number);
                }
            })?;
        }
        Ok(lp)
    }

    pub(super) fn are_asked_by(&self, signal: i32) -> bool {
        match self.0.when {
            WhyAlive::AtEnd => [Signal::INT, Signal::TERM].contains(&signal),
            WhyAlive::At(number) => signal == number,
        }
    }

    pub(super) fn are_at_end(&self) -> bool {
        self.0.when == WhyAlive::AtEnd
    }

    pub(super) fn set_listened(&self, signal: i32, is_listened: bool) {
        let mut listened = lock(&self.0.listened);
        if is_listened {
            listened.insert(signal);
        } else {
            listened.remove(&signal);
        }
    }

    pub(super) fn add(&self, who: Who, pulse: Pulse, position: Position) -> Asked {
        let number = self.0.last.fetch_add(1, Relaxed);
        let answer = Answer::default();
        let entry = Entry { number, who, wake: None, answer: answer.clone(), pulse, position };
        lock(&self.0.loops).push(entry);
        Asked { inquiries: self.clone(), number, answer }
    }

    fn ask_all(&self) {
        let loops = lock(&self.0.loops);
        for Entry { wake, answer, .. } in &*loops {
            answer.ask(wake.as_ref());
        }
        let asked = Instant::now();
        for Entry { who, answer, pulse, position, .. } in &*loops {
            let is_answered_in = |patience: Duration| answer.wait(patience.saturating_sub(asked.elapsed()));
            if is_answered_in(PATIENCE_WITH_CALLBACK) || (pulse.under_way().is_none() && is_answered_in(PATIENCE)) {
                continue;
            }
            match pulse.under_way() {
                Some(stuck) => say(format_args!("{}{}", who.head(), located(stuck, position, PATIENCE_OF_SCRIPT))),
                None => say(format_args!("{who} has not answered in {} ms", PATIENCE.as_millis())),
            }
        }
    }
}

/// Prints what keeps a loop alive.
pub(super) fn tell(who: &str, lines: &[String]) {
    say(format_args!("{who} is alive because of {}", how_many_keepers(lines.len())));
    group_alike(lines).iter().for_each(|line| say(format_args!("  {line}")));
}

/// A line for each handle and request that keeps the loop alive, the script's timers and immediates first.
pub(super) fn lines(ctx: &Ctx<'_>, host: &Host) -> Vec<String> {
    let mut lines: Vec<String> = host.observing(ctx, "keepers").unwrap_or_default();
    // All timers of the script are one to the loop, and so are all immediates.
    let alive = host.lp.why_alive();
    let handles = alive.iter().filter(|alive| !matches!(alive.keeper.kind, Kind::Timer | Kind::Idle));
    lines.extend(handles.map(ToString::to_string));
    lines
}
