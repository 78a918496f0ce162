//! A thread that sees when a loop is stuck.

use std::fmt;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use oxuv_core::{CallbackKind, Result};
use oxuv_os::symbol::Symbols;
use oxuv_os::{Thread, clock, stack};

/// What a loop lets its watchdog know: a clone is another way to the same.
#[derive(Debug, Clone, Default)]
pub struct Pulse(Arc<Beat>);

#[derive(Debug, Default)]
struct Beat {
    /// When the callback under way began, in nanoseconds of the clock; 0 when there is none.
    begun: AtomicU64,
    /// The thread that it runs on.
    thread: AtomicI32,
    /// What it is.
    what: Mutex<(Option<CallbackKind>, String)>,
}

impl Pulse {
    pub(crate) fn callback_begun(&self, kind: CallbackKind, origin: &str, at: u64) {
        if self.0.thread.load(Relaxed) == 0 {
            self.0.thread.store(stack::this_thread(), Relaxed);
        }
        let mut what = self.0.what.lock().unwrap_or_else(PoisonError::into_inner);
        what.0 = Some(kind);
        what.1.clear();
        what.1.push_str(origin);
        drop(what);
        self.0.begun.store(at.max(1), Relaxed);
    }

    /// The callback that is under way. Any thread may ask.
    pub fn under_way(&self) -> Option<Stuck> {
        let begun = self.0.begun.load(Relaxed);
        if begun == 0 {
            return None;
        }
        let duration = Duration::from_nanos(clock::now().saturating_sub(begun));
        let (kind, origin) = self.0.what.lock().unwrap_or_else(PoisonError::into_inner).clone();
        kind.map(|kind| Stuck { kind, origin, duration, stack: Vec::new() })
    }

    pub(crate) fn callback_ended(&self) {
        self.0.begun.store(0, Relaxed);
    }

    /// Whether a callback is under way on the calling thread.
    pub fn is_of_this_thread(&self) -> bool {
        self.0.begun.load(Relaxed) != 0 && self.0.thread.load(Relaxed) == stack::this_thread()
    }
}

/// A loop that is in a callback, and does not come out.
#[derive(Debug, Clone)]
pub struct Stuck {
    /// What the callback was told of.
    pub kind: CallbackKind,
    /// Where it is from, as for slow callbacks.
    pub origin: String,
    /// How long it has been at it.
    pub duration: Duration,
    /// The functions that the loop's thread is in, the innermost first. Empty if that was not looked for, or could not be found.
    pub stack: Vec<String>,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.duration.as_secs_f64() * 1000.0;
        let kind = self.kind.name();
        let article = if kind.starts_with(['a', 'e', 'i']) { "an" } else { "a" };
        write!(f, "the loop is stuck: in {article} {kind} callback for {milliseconds:.1} ms")?;
        if !self.origin.is_empty() {
            write!(f, ", from {}", self.origin)?;
        }
        for function in &self.stack {
            write!(f, "\n    in {function}")?;
        }
        Ok(())
    }
}

/// A thread that looks at a loop's pulse, until it is dropped.
#[derive(Debug)]
pub struct Watchdog {
    end: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<Thread>,
}

struct Duty {
    pulse: Pulse,
    threshold: Duration,
    end: Arc<(Mutex<bool>, Condvar)>,
    tell: Box<dyn FnMut(Stuck) + Send>,
}

/// What the thread has as its stack, in bytes.
const STACK: usize = 256 * 1024;

impl Watchdog {
    /// Has a thread call `tell` once for each callback that takes so long, while it is still under way: between the threshold
    /// and one and a half times that after it began. A panic in it aborts the process.
    ///
    /// To learn where the loop's thread is, one that computes is interrupted by SIGURG, if the program does nothing about that; one that
    /// waits in the kernel is left to it, and its stack is looked through.
    ///
    /// # Errors
    /// EAGAIN, ENOMEM: no room for a thread.
    pub fn start(pulse: Pulse, threshold: Duration, tell: impl FnMut(Stuck) + Send + 'static) -> Result<Watchdog> {
        let end = Arc::new((Mutex::new(false), Condvar::new()));
        let duty = Duty { pulse, threshold, end: Arc::clone(&end), tell: Box::new(tell) };
        let thread = Thread::start(c"oxuv-watchdog", STACK, |duty: Duty| watch(duty), duty)?;
        Ok(Watchdog { end, thread: Some(thread) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let (is_ending, bell) = &*self.end;
        *is_ending.lock().unwrap_or_else(PoisonError::into_inner) = true;
        bell.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

fn watch(Duty { pulse, threshold, end, mut tell }: Duty) {
    let pause = (threshold / 2).max(Duration::from_millis(1));
    let mut told = 0;
    let mut symbols = Symbols::default();
    let mut is_ending = end.0.lock().unwrap_or_else(PoisonError::into_inner);
    while !*is_ending {
        is_ending = end.1.wait_timeout(is_ending, pause).unwrap_or_else(PoisonError::into_inner).0;
        let begun = pulse.0.begun.load(Relaxed);
        if begun == 0 || begun == told {
            continue;
        }
        if let Some(mut stuck) = pulse.under_way().filter(|stuck| stuck.duration >= threshold) {
            told = begun;
            let addresses = stack::of(pulse.0.thread.load(Relaxed));
            let name = |address| String::from_utf8_lossy(symbols.name_of(address)).into_owned();
            stuck.stack = addresses.into_iter().map(name).collect();
            tell(stuck);
        }
    }
}
