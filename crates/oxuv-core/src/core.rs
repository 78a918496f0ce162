//! The core itself: its parts, its clock, and the questions about the whole loop.

use oxuv_os::{Errno, Result};

use crate::async_::Mailbox;
use crate::kernel::Kernel;
use crate::metrics::Counts;
use crate::pending::Pending;
use crate::poll::Poll;
use crate::slab::Slab;
use crate::slots::{List, Slots, Walk};
use crate::stream::{Step, Stream};
use crate::timer::Timers;
use crate::turn::Turn;
use crate::watch::{Watch, Watches};
use crate::{Buffers, Key};

/// What a front decides once for its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The grain of the loop's time in nanoseconds: timers are started from the time rounded down to it. 1 keeps delays exact; 1,000,000 is libuv's millisecond.
    pub grain: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config { grain: 1 }
    }
}

/// A loop. `U` is a value that the front attaches to handles and requests, `B` what it writes from.
#[derive(Debug)]
pub struct Core<K: Kernel, U, B> {
    pub(crate) kernel: K,
    pub(crate) slots: Slots<U>,
    /// Active referenced handles.
    pub(crate) active: usize,
    /// Requests whose event is still to come.
    pub(crate) requests: usize,
    pub(crate) turn: Turn,
    pub(crate) step: Step,
    pub(crate) poll: Poll,
    pub(crate) counts: Counts,
    /// The clock as last read, in nanoseconds.
    pub(crate) now: u64,
    /// `now` rounded down to the grain.
    pub(crate) time: u64,
    grain: u64,
    pub(crate) timers: Timers,
    pub(crate) pending: Pending,
    pub(crate) streams: Slab<Stream<K::Fd, U, B>>,
    pub(crate) polls: Slab<Watch>,
    pub(crate) watches: Watches,
    pub(crate) mailbox: Mailbox<K::Waker>,
    /// What was kept of the write that was last reported.
    pub(crate) spent: Option<B>,
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new loop on this kernel.
    ///
    /// # Errors
    /// EINVAL for a grain of 0, ENOMEM.
    pub fn new(kernel: K, config: Config) -> Result<Self> {
        if config.grain == 0 {
            return Err(Errno::EINVAL);
        }
        let mailbox = Mailbox::new(kernel.waker())?;
        let mut core = Core {
            kernel,
            slots: Slots::new()?,
            active: 0,
            requests: 0,
            turn: Turn::default(),
            step: Step::default(),
            poll: Poll::default(),
            counts: Counts::default(),
            now: 0,
            time: 0,
            grain: config.grain,
            timers: Timers::default(),
            pending: Pending::default(),
            streams: Slab::new(),
            polls: Slab::new(),
            watches: Watches::default(),
            mailbox,
            spent: None,
        };
        core.update_time();
        Ok(core)
    }

    /// The kernel beneath.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The loop's time in nanoseconds, rounded down to the grain: read once a turn, not at every call.
    #[doc(alias = "uv_now")]
    #[inline]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Reads the clock.
    #[doc(alias = "uv_update_time")]
    #[inline]
    pub fn update_time(&mut self) {
        self.now = self.kernel.now();
        if self.grain == 1 {
            self.time = self.now;
            return;
        }
        // Most of the time no grain has passed, or one: that saves the division.
        let passed = self.now - self.time;
        if passed >= self.grain {
            self.time += if passed - self.grain < self.grain { self.grain } else { passed - passed % self.grain };
        }
    }

    /// True while a run would have something to do: an active referenced handle, a request, a handle to be closed,
    /// or an event in pending.
    #[doc(alias = "uv_loop_alive")]
    #[inline]
    pub fn alive(&self) -> bool {
        self.active > 0 || self.requests > 0 || !self.pending.is_empty() || !self.slots.is_empty(List::Closing)
    }

    /// Makes the run end after this turn; a run that has not begun ends at once. The rest of the turn goes on, without
    /// waiting.
    #[doc(alias = "uv_stop")]
    pub fn stop(&mut self) {
        self.turn.stop = true;
    }

    /// How long a run would wait for events now, in nanoseconds; `None` is for ever.
    #[doc(alias = "uv_backend_timeout")]
    pub fn backend_timeout(&mut self) -> Option<u64> {
        if self.watches.unsynced.is_empty() { self.poll_timeout() } else { Some(0) }
    }

    /// The turns that have begun so far.
    pub fn turns(&self) -> u64 {
        self.turn.count
    }

    /// All handles in the order of their initialisation, those being closed included.
    pub fn walk_begin(&mut self) {
        self.slots.walk(Walk::Handles, List::Handles);
    }

    /// The next handle of the walk that [`Core::walk_begin`] began; handles made during it are not visited.
    #[doc(alias = "uv_walk")]
    pub fn walk_next(&mut self) -> Option<(Key, U)> {
        let index = self.slots.step(Walk::Handles)?;
        Some((self.slots.key(index), self.slots[index].user))
    }

    /// Whether the loop may be closed.
    ///
    /// # Errors
    /// EBUSY while it has a handle, even an inactive, unreferenced or closing one, or a request.
    #[doc(alias = "uv_loop_close")]
    pub fn check_closable(&self) -> Result<()> {
        if self.requests > 0 || !self.slots.has_no_handles() { Err(Errno::EBUSY) } else { Ok(()) }
    }
}
