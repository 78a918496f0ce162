//! Waking a loop from another thread or from a signal handler.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::event::{EventfdFlags, eventfd};

use crate::{Result, descriptor};

/// An eventfd that makes its poller return.
///
/// It is never read: registered edge-triggered, every write wakes the poller once more, and the counter would
/// need 2^64 writes to fill.
#[derive(Debug)]
pub struct EventFd {
    descriptor: OwnedFd,
    /// loom lets other threads go on here, as the system does where it is called.
    #[cfg(loom)]
    call: crate::sync::atomic::AtomicBool,
}

impl EventFd {
    /// A new eventfd with counter 0.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn new() -> Result<Self> {
        Ok(EventFd {
            descriptor: Self::make()?,
            #[cfg(loom)]
            call: Default::default(),
        })
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
        #[cfg(loom)]
        self.call.store(true, crate::sync::atomic::Ordering::Relaxed);
        let errno = errno::errno();
        // A full counter (EAGAIN) means that a wake-up is outstanding, and an eventfd knows no other failure.
        while rustix::io::write(&self.descriptor, &1_u64.to_ne_bytes()) == Err(rustix::io::Errno::INTR) {}
        errno::set_errno(errno);
    }
}

impl AsRawFd for EventFd {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}
