//! Time for tasks: [`sleep`], [`interval`], [`timeout`].
//!
//! All of it is the loop's time, exact to the nanosecond (on a loop with a [grain](crate::Loop::with_grain), to that), and never
//! early. It counts from the call: the clock is read anew for it, unlike for a [`Timer`](crate::Timer). What is due runs in the
//! next prepare phase after the timers.
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
mod interval;
mod timeout;

use std::fmt;
use std::future::Future;
use std::io;
use std::ops::{Add, AddAssign, Sub};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

pub(crate) use alarm::Alarms;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use timeout::{Elapsed, timeout, timeout_at};

use oxuv_core::linux::{TimerClock, TimerDescriptor};

use crate::LoopRef;
use crate::handle::nanoseconds;
use crate::io::AsyncFd;
use crate::task::here;
use alarm::Alarm;

/// A point in a loop's time. Those of different loops have nothing to do with each other, if one of them has a clock of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

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
        lp.update_time();
        Instant(lp.now())
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
        self.0.saturating_sub(earlier.0)
    }

    /// As [`LoopRef::now`] counts.
    pub fn since_start(self) -> Duration {
        self.0
    }
}

/// The far future where the sum is too large.
impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, time: Duration) -> Instant {
        Instant(self.0.saturating_add(time))
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
    here::current().sleep(time)
}

/// Waits until then; not at all if that is past.
///
/// # Panics
/// When no loop runs on this thread.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::new(&here::current(), deadline)
}

impl LoopRef {
    /// Waits that long, from the call on. The future may be polled by any executor on this thread. If the loop is gone, or has no
    /// memory for a timer, it is ready at once.
    pub fn sleep(&self, time: Duration) -> Sleep {
        Sleep::new(self, Instant::of(self) + time)
    }
}

/// The clocks that [`sleep_on`] counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// The loop's, which stands still while the machine is suspended.
    #[default]
    Monotonic,
    /// The time since the machine was started, suspended or not.
    Boot,
}

/// Waits that long by a clock, from the first poll on.
///
/// Cancel safety: nothing is left of one that is dropped.
///
/// # Errors
/// EMFILE, ENFILE, ENOMEM: each that waits by another clock than the loop's needs a descriptor.
///
/// # Panics
/// When it is polled and no loop runs on this thread.
pub async fn sleep_on(clock: Clock, time: Duration) -> io::Result<()> {
    match clock {
        Clock::Monotonic => sleep(time).await,
        Clock::Boot => {
            let timer = AsyncFd::new(TimerDescriptor::new(TimerClock::Boot)?)?;
            timer.get_ref().set_after(nanoseconds(time))?;
            timer.read_with(|timer| Ok(timer.take()?)).await?;
        }
    }
    Ok(())
}

/// Waits until a point in time: made by [`sleep`].
pub struct Sleep {
    owner: LoopRef,
    deadline: Instant,
    /// There is one while this waits.
    alarm: Option<Alarm>,
}

impl Sleep {
    fn new(owner: &LoopRef, deadline: Instant) -> Sleep {
        Sleep { owner: owner.clone(), deadline, alarm: None }
    }

    /// When it ends.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// True once it has ended.
    pub fn is_elapsed(&self) -> bool {
        self.owner.now() >= self.deadline.0
    }

    /// Ends at another time; it may have ended before.
    pub fn reset(&mut self, deadline: Instant) {
        self.deadline = deadline;
        if let Some(alarm) = &self.alarm {
            alarm.set(self.left());
        }
    }

    fn left(&self) -> Duration {
        self.deadline.0.saturating_sub(self.owner.now())
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(alarm) = &self.alarm {
            return match alarm.poll(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(()) => {
                    self.alarm = None;
                    Poll::Ready(())
                }
            };
        }
        let left = self.left();
        if left.is_zero() {
            return self.owner.0.tasks.take_share(context);
        }
        let Ok(alarm) = Alarm::new(&self.owner) else { return Poll::Ready(()) };
        alarm.set(left);
        let polled = alarm.poll(context);
        self.alarm = Some(alarm);
        polled
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
