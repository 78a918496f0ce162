//! What a loop counts of itself.

use crate::kernel::Kernel;
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

/// The counts that poll keeps.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) measures_idle: bool,
    /// Nanoseconds spent waiting.
    pub(crate) idle: u64,
    /// Events of the polls before the one under way.
    pub(crate) events: u64,
    pub(crate) events_waiting: u64,
    /// The first events of the poll under way were there when it began.
    pub(crate) were_waiting: bool,
}

impl Counts {
    /// A poll of so many events is over.
    #[inline]
    pub(crate) fn add(&mut self, events: usize) {
        self.events += events as u64;
        if self.were_waiting {
            self.events_waiting += events as u64;
            self.were_waiting = false;
        }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// What the loop has counted so far.
    #[doc(alias = "uv_metrics_info")]
    pub fn metrics(&self) -> Metrics {
        let now = self.poll.events as u64;
        let Counts { events, events_waiting, were_waiting, .. } = self.counts;
        let waiting_now = if were_waiting { now } else { 0 };
        Metrics { turns: self.turn.count, events: events + now, events_waiting: events_waiting + waiting_now }
    }

    /// Measures the time that the loop waits, from now on. This costs a second system call in turns that wait: one to
    /// see what is there, one to wait.
    #[doc(alias = "UV_METRICS_IDLE_TIME")]
    pub fn measure_idle_time(&mut self) {
        self.counts.measures_idle = true;
    }

    /// The nanoseconds that the loop has waited for events since [`Core::measure_idle_time`]; 0 without it.
    #[doc(alias = "uv_metrics_idle_time")]
    pub fn idle_time(&self) -> u64 {
        self.counts.idle
    }
}
