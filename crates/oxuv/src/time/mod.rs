//! Time for tasks: [`sleep`], [`interval`], [`timeout`].
//!
//! All of it is the loop's time, exact to the nanosecond (on a loop with a [grain](crate::Loop::with_grain), to that), and never
//! early. It counts from the call: the clock is read anew for it, unlike for a [`Timer`](crate::Timer). What is due runs in the
//! next prepare phase after the timers.
//!
//! The loop's time stands still while the machine is suspended. What shall count that, too, goes by another [`Clock`]: [`sleep_on`],
//! [`interval_on`], [`timeout_on`].
//!
//! ```
//! use oxuv::{Loop, time};
//! use std::time::Duration;
//!
//! let lp = Loop::new()?;
//! lp.block_on(async {
//!     let begin = time::Instant::now();
//!     time::sleep(Duration::from_micros(300)).await;
//!     assert!(begin.elapsed() >= Duration::from_micros(300));
//! });
//! # Ok::<(), oxuv::Errno>(())
//! ```

mod alarm;
mod clock;
#[cfg(feature = "hyper")]
mod hyper;
mod interval;
mod timeout;

use std::fmt;
use std::future::Future;
use std::ops::{Add, AddAssign, Sub};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

pub(crate) use alarm::Alarms;
pub use clock::Clock;
#[cfg(feature = "hyper")]
pub use hyper::HyperTimer;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at, interval_on};
pub use timeout::{Elapsed, timeout, timeout_at, timeout_on};

use crate::LoopRef;
use crate::handle::nanoseconds;
use crate::loop_::Core;
use crate::task::here;
use alarm::Alarm;

/// A point in a loop's time, or that of another [`Clock`]. Those of different clocks have nothing to do with each other, and a loop
/// [for tests](crate::Builder::test_clock) has one of its own. The default is the point that they count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The time of the loop that runs on this thread: the clock is read, for the loop as well.
    ///
    /// # Panics
    /// When no loop runs here.
    #[track_caller]
    pub fn now() -> Instant {
        Instant::of(&here::current())
    }

    /// The time of this loop: the clock is read, for the loop as well.
    pub fn of(lp: &LoopRef) -> Instant {
        let read = |core: &mut Core| {
            core.update_time();
            Ok(core.time())
        };
        Instant(lp.0.with(read).unwrap_or(0))
    }

    /// The time since this point, on the loop that runs on this thread; zero if it is still to come.
    ///
    /// # Panics
    /// When no loop runs here.
    #[track_caller]
    pub fn elapsed(self) -> Duration {
        Instant::now().duration_since(self)
    }

    /// The time from an earlier point to this; zero if that is later.
    pub fn duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// As [`LoopRef::now`] counts.
    pub fn since_start(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

/// The far future where the sum is too large.
impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, time: Duration) -> Instant {
        Instant(self.0.saturating_add(nanoseconds(time)))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

/// Waits that long, from the call on.
///
/// Cancel safety: nothing is left of one that is dropped.
///
/// # Panics
/// When no loop runs on this thread; see [`LoopRef::sleep`].
#[track_caller]
pub fn sleep(time: Duration) -> Sleep {
    let owner = here::current();
    let deadline = Instant::of(&owner) + time;
    Sleep::new(owner, Clock::Monotonic, deadline)
}

/// Waits until then; not at all if that is past.
///
/// # Panics
/// When no loop runs on this thread.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::new(here::current(), Clock::Monotonic, deadline)
}

/// As [`sleep`], by this clock.
///
/// Cancel safety: as that.
///
/// # Panics
/// As that.
#[track_caller]
pub fn sleep_on(clock: Clock, time: Duration) -> Sleep {
    let owner = here::current();
    let deadline = clock.read(&owner) + time;
    Sleep::new(owner, clock, deadline)
}

impl LoopRef {
    /// Waits that long, from the call on. The future may be polled by any executor on this thread. If the loop is gone, or has no
    /// memory for a timer, it is ready at once.
    pub fn sleep(&self, time: Duration) -> Sleep {
        Sleep::new(self.clone(), Clock::Monotonic, Instant::of(self) + time)
    }
}

/// Waits until a point in time: made by [`sleep`].
pub struct Sleep {
    owner: LoopRef,
    clock: Clock,
    deadline: Instant,
    /// There is one while this waits.
    alarm: Option<Alarm>,
}

impl Sleep {
    fn new(owner: LoopRef, clock: Clock, deadline: Instant) -> Sleep {
        Sleep { owner, clock, deadline, alarm: None }
    }

    /// When it ends, by its clock.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// True once it has ended.
    pub fn is_elapsed(&self) -> bool {
        self.deadline <= self.clock.now(&self.owner)
    }

    /// Ends at another time; it may have ended before.
    pub fn reset(&mut self, deadline: Instant) {
        self.deadline = deadline;
        if let Some(alarm) = &self.alarm {
            alarm.set(&self.owner, self.clock, deadline);
        }
    }

    fn read_clock(&self) -> Instant {
        self.clock.read(&self.owner)
    }

    fn stop(&mut self) {
        if let Some(alarm) = self.alarm.take() {
            alarm.stop(&self.owner);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(alarm) = &self.alarm {
            ready!(alarm.poll(&self.owner, context));
            self.alarm = None;
            return Poll::Ready(());
        }
        if self.is_elapsed() {
            return self.owner.0.tasks.take_share(context);
        }
        match Alarm::start(&self.owner, self.clock, self.deadline, context) {
            Ok(alarm) => {
                self.alarm = Some(alarm);
                Poll::Pending
            }
            Err(_) => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
