//! The clocks that can be waited by.

use oxuv_core::linux::boot_time;

use super::Instant;
use crate::LoopRef;

/// What time is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// The loop's, which stands still while the machine is suspended.
    #[default]
    Monotonic,
    /// The time since the machine was started, suspended or not: the machine's also for a loop [for tests](crate::Builder::test_clock).
    ///
    /// Each that waits by it needs a descriptor. Where none can be had it goes by the loop's clock from then on, and is late by the time
    /// that the machine is suspended.
    Boot,
}

impl Clock {
    /// The time of this clock, read now, for the loop as well.
    pub(super) fn read(self, owner: &LoopRef) -> Instant {
        match self {
            Clock::Monotonic => Instant::of(owner),
            Clock::Boot => self.now(owner),
        }
    }

    /// The time of this clock, as the loop knows its own.
    #[inline]
    pub(super) fn now(self, owner: &LoopRef) -> Instant {
        match self {
            Clock::Monotonic => Instant(owner.0.with(|core| Ok(core.time())).unwrap_or(0)),
            Clock::Boot => Instant(boot_time()),
        }
    }
}
