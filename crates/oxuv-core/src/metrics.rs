//! What a loop counts of itself.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use oxuv_os::{Result, Shared, clock};

use crate::kernel::Kernel;
use crate::poll::Care;
use crate::{Buffers, Core};

/// Counts since the loop was made.
#[doc(alias = "uv_metrics_t")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Metrics {
    /// Turns that have begun.
    pub turns: u64,
    /// Events of the kernel that concerned a handle.
    pub events: u64,
    /// Those of them that were there already when the loop began to wait. Counted only while the idle time is measured.
    pub events_waiting: u64,
}

/// How long a loop has waited for events, a wait under way included. Any thread may look.
#[derive(Debug, Default)]
pub struct IdleTime(
    /// The sum in nanoseconds; during a wait, [`WAITING`] and the time at which it would have begun had it been the only
    /// one. In one number, so that whoever looks needs no lock.
    AtomicU64,
);

const WAITING: u64 = 1 << 63;

/// How long a loop on Linux has waited for events, for any thread to read. It stays what it was when the loop is gone.
#[derive(Clone)]
pub struct IdleClock(Shared<IdleTime>);

impl IdleClock {
    /// How long it has waited so far, a wait under way included.
    pub fn idle_time(&self) -> Duration {
        Duration::from_nanos(self.0.at(clock::now()))
    }
}

impl fmt::Debug for IdleClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IdleClock").field(&self.idle_time()).finish()
    }
}

impl IdleTime {
    /// The nanoseconds that the loop has waited so far. `now` is the time of its kernel's clock.
    pub fn at(&self, now: u64) -> u64 {
        match self.0.load(Relaxed) {
            since if since & WAITING != 0 => now.saturating_sub(since & !WAITING),
            sum => sum,
        }
    }

    /// A wait begins, or goes on.
    fn begin(&self, now: u64) {
        self.0.store(now.saturating_sub(self.at(now)) | WAITING, Relaxed);
    }

    fn end(&self, now: u64) {
        self.0.store(self.at(now), Relaxed);
    }
}

/// The counts that poll keeps.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The time of waits is added up.
    pub(crate) measures_idle: bool,
    /// Before a wait the loop looks for what is there already.
    pub(crate) looks_before: bool,
    /// At an address of its own, where other threads find it while the core is in use.
    idle: Shared<IdleTime>,
    /// Events of the batches before the one under way.
    events: u64,
    events_waiting: u64,
    /// The events of the batch under way were there when the poll phase began.
    pub(crate) were_waiting: bool,
}

impl Counts {
    pub(crate) fn new() -> Result<Counts> {
        let idle = Shared::new(IdleTime::default())?;
        Ok(Counts {
            measures_idle: false,
            looks_before: false,
            idle,
            events: 0,
            events_waiting: 0,
            were_waiting: false,
        })
    }

    /// A batch of so many events is over.
    #[inline]
    pub(crate) fn add(&mut self, events: usize) {
        self.events += events as u64;
        if self.were_waiting {
            self.events_waiting += events as u64;
            self.were_waiting = false;
        }
    }

    /// What there is to tell after so many turns.
    pub(crate) fn metrics(&self, turns: u64) -> Metrics {
        Metrics { turns, events: self.events, events_waiting: self.events_waiting }
    }

    pub(crate) fn begin_idle(&self, now: u64) {
        self.idle.begin(now);
    }

    pub(crate) fn end_idle(&self, now: u64) {
        self.idle.end(now);
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// What the loop has counted so far. In the poll phase, events are counted when the batch that the kernel gave them
    /// in is worked off.
    #[doc(alias = "uv_metrics_info")]
    pub fn metrics(&self) -> Metrics {
        self.counts.metrics(self.turn.count)
    }

    /// Measures the time that the loop waits, from now on. This costs a second system call in turns that wait: one to
    /// see what is there, one to wait; and one for each operation that a ring does, which begins at once, so that it can be
    /// there before the loop waits.
    #[doc(alias = "UV_METRICS_IDLE_TIME")]
    pub fn measure_idle_time(&mut self) {
        self.counts.looks_before = true;
        self.start_idle_clock();
    }

    /// Measures the same without that system call, and without counting [`Metrics::events_waiting`]. A wait that ends at once is idle
    /// for the time that it takes.
    pub fn start_idle_clock(&mut self) {
        self.counts.measures_idle = true;
        self.poll.care = Care::Look;
    }

    /// The nanoseconds that the loop has waited for events since [`Core::measure_idle_time`] or [`Core::start_idle_clock`], or while
    /// it was observed; 0 without all of these. An observer is told of the same times.
    #[doc(alias = "uv_metrics_idle_time")]
    pub fn idle_time(&self) -> u64 {
        self.idle_clock().at(self.now)
    }

    /// The same for other threads. It stays where it is as long as the core lives.
    #[doc(alias = "uv_metrics_idle_time")]
    pub fn idle_clock(&self) -> &IdleTime {
        &self.counts.idle
    }

    /// The same for who may outlive the core.
    pub fn shared_idle_clock(&self) -> IdleClock {
        IdleClock(self.counts.idle.clone())
    }
}
