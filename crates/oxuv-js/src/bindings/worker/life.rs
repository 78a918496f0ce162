//! What a worker's thread and the one that started it know of each other.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use oxuv::{IdleClock, Sender};
use oxuv_js_engine::End;

/// What a worker could not tell of by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It has used up its memory.
    Memory,
    /// It could not be started, or its thread panicked.
    Start,
}

/// The course of a worker.
#[derive(Default)]
pub(crate) struct Life {
    /// The main thread has 0.
    pub(crate) id: u32,
    /// Where in the script of who started it that was, if anybody wants to know.
    pub(crate) made_at: String,
    is_stopping: AtomicBool,
    /// Of its engine.
    pub(crate) end: End,
    /// When its loop began, in nanoseconds of the monotonic clock, and how long it has waited.
    clock: OnceLock<(u64, IdleClock)>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Wakes the worker's loop.
    worker: Option<Sender>,
    /// Wakes the loop of the one who started it.
    starter: Option<Sender>,
    problem: Option<Problem>,
    /// Set when it is over.
    code: Option<i32>,
}

impl Life {
    pub(super) fn new(starter: Sender, made_at: String) -> Life {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let inner = Inner { starter: Some(starter), ..Inner::default() };
        Life { id: LAST.fetch_add(1, Ordering::Relaxed) + 1, made_at, inner: Mutex::new(inner), ..Life::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing that may panic is done while it is locked.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the worker's script wherever it is, and its loop: another thread does so.
    pub(crate) fn terminate(&self) {
        self.stop();
        // Else it has not begun, and finds that it is not to.
        let inner = self.inner();
        if inner.worker.is_some() {
            self.end.want();
        }
    }

    /// Whether the worker's script is to end, which its engine asks.
    pub(crate) fn must_stop(&self) -> bool {
        self.end.is_wanted() || self.is_stopping()
    }

    /// Ends the worker's script soon, and its loop.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        if let Some(worker) = &self.inner().worker {
            // Its loop may be gone already.
            let _ = worker.send();
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// From now on the worker's loop can be woken. It begins now.
    pub(crate) fn begin(&self, worker: Sender, now: u64, idle: IdleClock) {
        self.inner().worker = Some(worker);
        let _ = self.clock.set((now, idle));
    }

    /// Its script is over: it is not to be ended any more.
    pub(crate) fn forget_loop(&self) {
        self.inner().worker = None;
        self.end.forget();
    }

    /// When the loop began, and for how long it has waited since: nanoseconds.
    pub(super) fn loop_times(&self) -> (f64, f64) {
        match self.clock.get() {
            Some((start, idle)) => (*start as f64, idle.idle_time().as_nanos() as f64),
            None => (-1.0, 0.0),
        }
    }

    pub(crate) fn set_problem(&self, problem: Problem) {
        // Whoever ends it does not want to hear of what that has led to.
        if self.is_stopping() {
            return;
        }
        self.inner().problem.get_or_insert(problem);
    }

    /// The worker is over.
    pub(super) fn finish(&self, code: i32) {
        let mut inner = self.inner();
        inner.worker = None;
        inner.code.get_or_insert(code);
        if let Some(starter) = inner.starter.take() {
            // Who started it may be gone.
            let _ = starter.send();
        }
    }

    /// The exit code and what went wrong, once it is over.
    pub(super) fn outcome(&self) -> Option<(i32, Option<Problem>)> {
        let inner = self.inner();
        inner.code.map(|code| (code, inner.problem))
    }
}
