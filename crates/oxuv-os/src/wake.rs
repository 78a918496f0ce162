//! Waking a loop from another thread or from a signal handler.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::event::{EventfdFlags, eventfd};

use crate::{Result, descriptor};

/// An eventfd that makes its poller return.
///
/// It is never read: registered edge-triggered, every write wakes the poller once more, and the counter would
/// need 2^64 writes to fill.
#[derive(Debug)]
pub struct EventFd(OwnedFd);

impl EventFd {
    /// A new eventfd with counter 0.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn new() -> Result<Self> {
        Ok(EventFd(Self::make()?))
    }

    fn make() -> Result<OwnedFd> {
        Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
    }

    /// Becomes a new eventfd under the same number: the one so far is shared with the process that this was forked from.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn renew(&self) -> Result<()> {
        descriptor::replace(self.as_raw_fd(), &Self::make()?)
    }

    /// Wakes the poller. Callable from any thread and from a signal handler; `errno` is as before afterwards.
    pub fn wake(&self) {
        let errno = errno::errno();
        // A full counter (EAGAIN) means that a wake-up is outstanding, and an eventfd knows no other failure.
        while rustix::io::write(&self.0, &1_u64.to_ne_bytes()) == Err(rustix::io::Errno::INTR) {}
        errno::set_errno(errno);
    }
}

impl AsRawFd for EventFd {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
