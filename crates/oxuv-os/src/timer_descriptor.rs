//! Timers that are descriptors: readable when they are due.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::Result;

/// What a timer counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimerClock {
    /// `CLOCK_MONOTONIC`, which stands still while the machine is suspended.
    #[default]
    Monotonic,
    /// `CLOCK_BOOTTIME`, which goes on.
    Boot,
}

/// A timer that is a descriptor. It is readable from the moment that it is due until it is read, or set anew.
#[derive(Debug)]
pub struct TimerDescriptor(OwnedFd);

impl TimerDescriptor {
    /// A new one, not set.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM; EPERM, EINVAL where there is no such clock.
    pub fn new(clock: TimerClock) -> Result<TimerDescriptor> {
        let clock = match clock {
            TimerClock::Monotonic => TimerfdClockId::Monotonic,
            TimerClock::Boot => TimerfdClockId::Boottime,
        };
        Ok(TimerDescriptor(timerfd_create(clock, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?))
    }

    /// Due at this time of its clock, in nanoseconds, which may be past; `None` is never.
    ///
    /// # Errors
    /// None that is known.
    pub fn set_at(&self, due: Option<u64>) -> Result<()> {
        // Zero would be never.
        self.set(due.map(|due| due.max(1)), TimerfdTimerFlags::ABSTIME)
    }

    /// Due so many nanoseconds from now.
    ///
    /// # Errors
    /// None that is known.
    pub fn set_after(&self, after: u64) -> Result<()> {
        self.set(Some(after.max(1)), TimerfdTimerFlags::empty())
    }

    fn set(&self, nanoseconds: Option<u64>, flags: TimerfdTimerFlags) -> Result<()> {
        const SECOND: u64 = 1_000_000_000;
        let nanoseconds = nanoseconds.unwrap_or(0);
        let it_value = Timespec { tv_sec: (nanoseconds / SECOND) as i64, tv_nsec: (nanoseconds % SECOND) as _ };
        timerfd_settime(&self.0, flags, &Itimerspec { it_interval: Timespec::default(), it_value })?;
        Ok(())
    }

    /// Reads it: not readable any more until it is set anew.
    ///
    /// # Errors
    /// EAGAIN when it is not due.
    pub fn take(&self) -> Result<()> {
        rustix::io::read(&self.0, &mut [0; 8])?;
        Ok(())
    }
}

impl AsFd for TimerDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for TimerDescriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Errno, clock};

    #[test]
    fn it_is_due_when_it_was_set_to_be() {
        for clock in [TimerClock::Monotonic, TimerClock::Boot] {
            let timer = TimerDescriptor::new(clock).unwrap();
            assert_eq!(timer.take(), Err(Errno::EAGAIN));
            timer.set_after(0).unwrap();
            while timer.take() == Err(Errno::EAGAIN) {}
            assert_eq!(timer.take(), Err(Errno::EAGAIN));
        }
        let timer = TimerDescriptor::new(TimerClock::Monotonic).unwrap();
        timer.set_at(Some(0)).unwrap();
        while timer.take() == Err(Errno::EAGAIN) {}
        let due = clock::now() + 1_000_000;
        timer.set_at(Some(due)).unwrap();
        while timer.take() == Err(Errno::EAGAIN) {}
        assert!(clock::now() >= due);
        timer.set_at(Some(1)).unwrap();
        timer.set_at(None).unwrap();
        assert_eq!(timer.take(), Err(Errno::EAGAIN));
    }
}
