//! Ticks at equal distances.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;

use super::{Clock, Instant, Sleep};
use crate::LoopRef;
use crate::task::here;

/// What becomes of ticks that were missed, because their time went by while nobody waited for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// They come at once, one after the other, until they are caught up with.
    #[default]
    Burst,
    /// One comes at once, and the next a whole period after that.
    Delay,
    /// One comes at once, and the next at the first time that would have been one's without the delay.
    Skip,
}

/// Ticks at equal distances: made by [`interval`]. It is a [`Stream`] of what [`tick`](Interval::tick) returns, without an end.
#[derive(Debug)]
pub struct Interval {
    sleep: Sleep,
    period: Duration,
    behavior: MissedTickBehavior,
}

/// Ticks now, and then once in each period, as [`Interval::tick`] says.
///
/// ```
/// use oxuv::{Loop, time};
/// use std::time::Duration;
///
/// let lp = Loop::new()?;
/// lp.block_on(async {
///     let mut interval = time::interval(Duration::from_millis(1));
///     let first = interval.tick().await;
///     let third = { interval.tick().await; interval.tick().await };
///     assert_eq!(third - first, Duration::from_millis(2));
/// });
/// # Ok::<(), oxuv::Errno>(())
/// ```
///
/// # Panics
/// For a period of zero, and when no loop runs on this thread.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    let owner = here::current();
    let start = Instant::of(&owner);
    Interval::new(owner, Clock::Monotonic, start, period)
}

/// As [`interval`], with the first tick then.
///
/// # Panics
/// As [`interval`].
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval::new(here::current(), Clock::Monotonic, start, period)
}

/// As [`interval`], by this clock: ticks, and what [`Interval::tick`] returns, are of its time.
///
/// # Panics
/// As [`interval`].
#[track_caller]
pub fn interval_on(clock: Clock, period: Duration) -> Interval {
    let owner = here::current();
    let start = clock.read(&owner);
    Interval::new(owner, clock, start, period)
}

impl Interval {
    #[track_caller]
    fn new(owner: LoopRef, clock: Clock, start: Instant, period: Duration) -> Interval {
        assert!(!period.is_zero(), "an interval of no length would tick for ever");
        Interval { sleep: Sleep::new(owner, clock, start), period, behavior: MissedTickBehavior::default() }
    }

    /// Waits for the next tick, and returns the time at which it was due.
    ///
    /// Cancel safety: if this is dropped, no tick is lost.
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|context| self.poll_tick(context)).await
    }

    /// As [`Interval::tick`], for those who write futures by hand.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<Instant> {
        ready!(Pin::new(&mut self.sleep).poll(context));
        let due = self.sleep.deadline();
        let now = self.sleep.read_clock();
        self.sleep.reset(self.next(due, now));
        Poll::Ready(due)
    }

    /// When the tick after the one that was due at `due` is due.
    fn next(&self, due: Instant, now: Instant) -> Instant {
        let next = due + self.period;
        if next > now {
            return next;
        }
        match self.behavior {
            MissedTickBehavior::Burst => next,
            MissedTickBehavior::Delay => now + self.period,
            MissedTickBehavior::Skip => {
                let behind = (now - due).as_nanos() % self.period.as_nanos();
                // What is left of a period is less than it.
                now + (self.period - Duration::from_nanos_u128(behind))
            }
        }
    }

    /// The next tick comes a whole period from now.
    pub fn reset(&mut self) {
        let next = self.sleep.read_clock() + self.period;
        self.sleep.reset(next);
    }

    /// What becomes of ticks that were missed; [`MissedTickBehavior::Burst`] if nothing is said.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.behavior = behavior;
    }

    /// What becomes of ticks that were missed.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.behavior
    }

    /// The distance of the ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}

impl Stream for Interval {
    type Item = Instant;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Instant>> {
        self.poll_tick(context).map(Some)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
