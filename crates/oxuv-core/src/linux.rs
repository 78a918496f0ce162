//! The kernel that everybody has: Linux, by way of `oxuv-os`.

mod calls;
#[cfg(all(test, not(loom)))]
mod tests;
mod work;

use std::os::fd::{AsRawFd, RawFd};

use oxuv_os::epoll::Event;
use oxuv_os::fork::{self, Process};
use oxuv_os::gather::Gather;
use oxuv_os::net::SendFlags;
use oxuv_os::signal::Signals;
use oxuv_os::{Errno, EventFd, Result, Spare};

pub use oxuv_os::DescriptorKind;
pub use oxuv_os::clock::boot as boot_time;
pub use oxuv_os::epoll::{Epoll, EventFlags, NO_EVENT};
pub use oxuv_os::net::{check_datagrams, check_stream};
pub use oxuv_os::tty::{TtyMode, WindowSize, check_terminal, reset_mode};
pub use oxuv_os::unix::pair as unix_pair;
pub use oxuv_os::{Descriptor, Shared, Standard, TimerClock, TimerDescriptor, names, random, signal};

pub use crate::pool::PoolOf;

#[cfg(doc)]
use crate::kernel::Kernel;
use crate::kernel::{BATCH, Job, WAKE, Wake};
use crate::pool::{Counter, Pool};
use crate::ring::{RingJobs, environment_allows};
use work::Way;

/// The Linux [`Kernel`]: an epoll instance, an eventfd to wake it, a spare descriptor, and a ring for files.
pub struct Linux<J: Job = Box<dyn Job>> {
    epoll: Epoll,
    waker: Waker,
    /// Those of the last wait, and behind them what was there before.
    events: Box<[Event; BATCH]>,
    spare: Spare,
    send_flags: SendFlags,
    way: Way,
    /// What the clock for tests says, in nanoseconds; 0 is that there is none.
    test_time: u64,
    jobs: Counter<J>,
    ring: RingJobs<J>,
    /// For small sends, if the front wants that.
    gather: Option<Gather>,
    /// Made at first use.
    signals: Option<Signals>,
    /// The process that all this belongs to.
    process: Process,
}

/// What a clock for tests says in the beginning: that something was before.
const TEST_BEGIN: u64 = 1_000_000_000;

/// Wakes a [`Linux`] kernel.
#[derive(Debug, Clone)]
pub struct Waker(Shared<EventFd>);

impl Wake for Waker {
    #[inline]
    fn wake(&self) {
        self.0.wake();
    }
}

impl<J: Job> std::fmt::Debug for Linux<J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Linux").field("epoll", &self.epoll).finish_non_exhaustive()
    }
}

/// The pool of all kernels that are given no other.
static POOL: Pool<Box<dyn Job>> = Pool::new(c"oxuv-worker");

impl Linux {
    /// A new kernel, with the pool of the whole process. With `sigpipe`, a write to a closed connection also raises SIGPIPE,
    /// as libuv's does.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn new(sigpipe: bool) -> Result<Linux> {
        Linux::with_pool(sigpipe, PoolOf::Process(&POOL))
    }
}

impl<J: Job> Linux<J> {
    /// A new kernel that has its jobs run by this pool.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn with_pool(sigpipe: bool, pool: PoolOf<J>) -> Result<Linux<J>> {
        fork::count()?;
        let epoll = Epoll::new()?;
        let eventfd = EventFd::new()?;
        epoll.set(eventfd.as_raw_fd(), WAKE, EventFlags::IN | EventFlags::ET, false)?;
        let mut events = Vec::new();
        events.try_reserve_exact(BATCH)?;
        events.resize(BATCH, NO_EVENT);
        let events = events.try_into().map_err(|_| Errno::ENOMEM)?;
        let send_flags = if sigpipe { SendFlags::empty() } else { SendFlags::NOSIGNAL };
        let (waker, spare) = (Waker(Shared::new(eventfd)?), Spare::default());
        let (jobs, ring, process) = (Counter::new(pool), RingJobs::default(), Process::current());
        let (way, test_time, signals, gather) = (Way::Usual, 0, None, None);
        Ok(Linux { epoll, waker, events, spare, send_flags, way, test_time, jobs, ring, gather, signals, process })
    }

    /// Whether operations on files that are submitted from now on are done by io_uring, where that can be had, or all by the
    /// pool. Who says neither has each done where that costs least. The environment's `UV_USE_IO_URING` has the last word.
    #[doc(alias = "UV_LOOP_USE_IO_URING_SQPOLL")]
    pub fn use_ring(&mut self, on: bool) {
        self.ring.use_it(on);
    }

    /// Has [`Kernel::gather`] take what is to be sent, if there can be a ring and the environment's `UV_USE_IO_URING` has nothing
    /// against it.
    pub fn gather_sends(&mut self) {
        if environment_allows() != Some(false) {
            self.gather = Gather::new().ok();
        }
    }

    /// Whether there is a ring for operations on files; it is made when the first is submitted.
    pub fn has_ring(&self) -> bool {
        self.ring.is_there()
    }

    /// Blocks SIGPROF during each wait from now on: a profiler need not interrupt a thread that does nothing.
    #[doc(alias = "UV_LOOP_BLOCK_SIGNAL")]
    pub fn block_sigprof(&mut self) {
        if self.way != Way::ByTestClock {
            self.way = Way::WithoutSigprof;
        }
    }

    /// Has a clock for tests from now on. It stands still but for two things: a wait that finds nothing to do takes no time, and
    /// the clock is then at its end; and [`Linux::advance`].
    pub fn use_test_clock(&mut self) {
        self.way = Way::ByTestClock;
        self.test_time = self.test_time.max(TEST_BEGIN);
    }

    /// Has the clock for tests go forward.
    ///
    /// # Errors
    /// EINVAL when it is not one for tests.
    pub fn advance(&mut self, nanoseconds: u64) -> Result<()> {
        if self.test_time == 0 {
            return Err(Errno::EINVAL);
        }
        self.test_time = self.test_time.saturating_add(nanoseconds);
        Ok(())
    }

    /// The pool that this kernel has its jobs run by.
    pub fn pool(&self) -> &Pool<J> {
        &self.jobs.pool
    }

    /// True in a child of the process that this belongs to, until [`Kernel::after_fork`].
    pub fn is_inherited(&self) -> bool {
        self.process != Process::current()
    }

    /// The epoll descriptor: readable when a turn of the loop would find something to do.
    #[doc(alias = "uv_backend_fd")]
    pub fn backend_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }
}
