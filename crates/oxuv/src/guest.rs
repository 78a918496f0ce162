//! A loop inside of another one.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use oxuv_core::linux::{Epoll, EventFlags, NO_EVENT, TimerClock, TimerDescriptor};

use crate::handle::nanoseconds;
use crate::{Loop, Mode, Result};

/// A loop that lives in another one: GLib's, calloop's, tokio's, winit's or a `poll` of the program's own.
///
/// It is one descriptor, which is readable whenever the loop has something to do, be it an event, a timer that is due or a task that
/// was woken: then the host calls [`Guest::turn`], which never waits. What the host does to the loop outside of a turn (starting a
/// handle, spawning a task) is known to the descriptor after [`Guest::rearm`].
///
/// ```
/// use oxuv::{Guest, Loop, Timer};
/// use std::os::fd::AsFd;
/// use std::time::Duration;
///
/// let guest = Guest::new(Loop::new()?)?;
/// let timer = Timer::new(&guest)?;
/// timer.start(Duration::from_millis(1), |timer| timer.close().unwrap())?;
/// guest.rearm()?;
/// // The host's loop:
/// while guest.is_alive() {
///     guest.wait()?; // It would have its own way of waiting for `guest.as_fd()`, besides all else.
///     guest.turn()?;
/// }
/// # Ok::<(), oxuv::Errno>(())
/// ```
pub struct Guest {
    lp: Loop,
    /// Of the loop's own descriptor, and of the timer.
    both: Epoll,
    timer: TimerDescriptor,
    /// What the timer is set to.
    due: Cell<Option<u64>>,
}

impl Guest {
    /// Makes a guest of a loop.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn new(lp: Loop) -> Result<Guest> {
        let (both, timer) = (Epoll::new()?, TimerDescriptor::new(TimerClock::Monotonic)?);
        both.set(lp.backend_fd()?, 0, EventFlags::IN, false)?;
        both.set(timer.as_raw_fd(), 1, EventFlags::IN, false)?;
        let guest = Guest { lp, both, timer, due: Cell::new(None) };
        guest.rearm()?;
        Ok(guest)
    }

    /// One turn of the loop, without waiting. True if something is still alive.
    ///
    /// # Errors
    /// Those of [`Loop::run`].
    ///
    /// # Panics
    /// When a callback does. The loop can go on then.
    pub fn turn(&self) -> Result<bool> {
        let is_alive = self.lp.run(Mode::NoWait)?;
        self.rearm()?;
        Ok(is_alive)
    }

    /// Has the descriptor know what the host has done to the loop since the last turn.
    ///
    /// # Errors
    /// None that is known.
    pub fn rearm(&self) -> Result<()> {
        let due = self.lp.backend_timeout().filter(|_| self.lp.is_alive());
        let due = due.map(|wait| match nanoseconds(wait) {
            // At once: a time that is past.
            0 => 1,
            wait => nanoseconds(self.lp.now()).saturating_add(wait),
        });
        // What is set to be at once has been since, and is not readable any more if it was taken.
        if due != self.due.replace(due) || due == Some(1) {
            self.timer.set_at(due)?;
        }
        Ok(())
    }

    /// True if the descriptor is readable: a turn would find something to do. For hosts that hear of changes only (tokio).
    ///
    /// # Errors
    /// None that is known.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.both.wait(&mut [NO_EVENT], Some(0))? > 0)
    }

    /// Waits until the descriptor is readable: for hosts that have nothing else to wait for.
    ///
    /// # Errors
    /// EINTR when a signal handler has run.
    pub fn wait(&self) -> Result<()> {
        self.both.wait(&mut [NO_EVENT], None).map(drop)
    }

    /// The loop, as it was before.
    pub fn into_loop(self) -> Loop {
        self.lp
    }
}

impl Deref for Guest {
    type Target = Loop;

    fn deref(&self) -> &Loop {
        &self.lp
    }
}

impl AsFd for Guest {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.both.as_fd()
    }
}

impl AsRawFd for Guest {
    fn as_raw_fd(&self) -> RawFd {
        self.both.as_fd().as_raw_fd()
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guest").field(&self.lp).finish()
    }
}
