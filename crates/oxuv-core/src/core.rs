//! The core itself: its parts, its clock, and the questions about the whole loop.

use std::num::{NonZeroU64, Wrapping};

use oxuv_os::tty::Modes;
use oxuv_os::{Errno, Result};

use crate::async_::Mailbox;
use crate::fs_event::Changes;
use crate::fs_poll::FsPoll;
use crate::gather::Gathering;
use crate::job::Jobs;
use crate::kernel::Kernel;
use crate::metrics::Counts;
use crate::observe::Observing;
use crate::pending::Pending;
use crate::poll::Poll;
use crate::process::Processes;
use crate::queues::Queues;
use crate::signal::Signals;
use crate::slab::Slab;
use crate::slots::{AllHandles, List, Slots};
use crate::stream::{Extra, Step, Stream};
use crate::timer::Timer;
use crate::timer_queue::TimerQueue;
use crate::turn::Turn;
use crate::udp::Udp;
use crate::udp_send::Special;
use crate::watch::{Watch, Watches};
use crate::write::Write;
use crate::{Buffers, Key};

/// What a front decides once for its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The grain of the loop's time in nanoseconds: timers are started from the time rounded down to it. 1 keeps delays exact;
    /// 1,000,000 is libuv's millisecond.
    pub grain: u64,
    /// A child whose handle is closed before its end is waited for all the same, with the next child that is made or whose
    /// handle is closed. Otherwise the program is to see to it.
    pub reaps_orphans: bool,
    /// Pipes are connected also to a child that cannot be made: they find that the other end is closed.
    pub opens_pipes_always: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config { grain: 1, reaps_orphans: true, opens_pipes_always: false }
    }
}

/// A loop. `U` is a value that the front attaches to handles and requests, `B` what it writes from.
#[derive(Debug)]
pub struct Core<K: Kernel, U, B> {
    pub(crate) kernel: K,
    pub(crate) slots: Slots<U>,
    /// Active referenced handles. A front may let others change it, so it wraps.
    pub(crate) active: Wrapping<u32>,
    /// Requests whose event is still to come.
    pub(crate) requests: u32,
    pub(crate) turn: Turn,
    pub(crate) step: Step,
    pub(crate) poll: Poll,
    pub(crate) counts: Counts,
    /// The clock as last read, in nanoseconds.
    pub(crate) now: u64,
    /// `now` rounded down to the grain.
    pub(crate) time: u64,
    /// `time` is that until here; 0 where there is no grain to speak of.
    next_time: u64,
    grain: NonZeroU64,
    pub(crate) timers: TimerQueue<Timer>,
    pub(crate) pending: Pending,
    /// Terminals that were put in a mode. Before the streams, whose descriptors they need when they are dropped.
    pub(crate) terminals: Vec<(Key, Modes)>,
    pub(crate) streams: Slab<Stream<K::Fd, U>>,
    pub(crate) extras: Slab<Extra<K::Fd>>,
    /// The writes of all streams that are not reported.
    pub(crate) writes: Queues<Write<U, B>>,
    pub(crate) udps: Slab<Udp<K::Fd, U, B>>,
    pub(crate) specials: Slab<Special>,
    pub(crate) polls: Slab<Watch>,
    pub(crate) processes: Processes<K::Child>,
    pub(crate) reaps_orphans: bool,
    pub(crate) opens_pipes_always: bool,
    pub(crate) watches: Watches,
    pub(crate) mailbox: Mailbox<K::Waker>,
    /// What was kept of the write or send that was last reported.
    pub(crate) spent: Option<B>,
    /// It is the last report's, and nobody has taken it.
    pub(crate) has_spent: bool,
    pub(crate) gathering: Gathering<B>,
    pub(crate) jobs: Jobs<U, K::Job>,
    pub(crate) changes: Changes<K::Fd>,
    pub(crate) fs_polls: Slab<FsPoll>,
    pub(crate) signals: Signals,
    pub(crate) observing: Option<Observing<U>>,
    /// How often another one has come.
    pub(crate) observers: u32,
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new loop on this kernel.
    ///
    /// # Errors
    /// EINVAL for a grain of 0, ENOMEM.
    pub fn new(kernel: K, config: Config) -> Result<Self> {
        let grain = NonZeroU64::new(config.grain).ok_or(Errno::EINVAL)?;
        let mailbox = Mailbox::new(kernel.waker())?;
        let mut core = Core {
            kernel,
            slots: Slots::new()?,
            active: Wrapping(0),
            requests: 0,
            turn: Turn::default(),
            step: Step::default(),
            poll: Poll::default(),
            counts: Counts::new()?,
            now: 0,
            time: 0,
            next_time: 0,
            grain,
            timers: TimerQueue::default(),
            pending: Pending::default(),
            terminals: Vec::new(),
            streams: Slab::new(),
            extras: Slab::new(),
            writes: Queues::default(),
            udps: Slab::new(),
            specials: Slab::new(),
            polls: Slab::new(),
            processes: Processes::default(),
            reaps_orphans: config.reaps_orphans,
            opens_pipes_always: config.opens_pipes_always,
            watches: Watches::default(),
            mailbox,
            spent: None,
            has_spent: false,
            gathering: Gathering::default(),
            jobs: Jobs::default(),
            changes: Changes::default(),
            fs_polls: Slab::new(),
            signals: Signals::default(),
            observing: None,
            observers: 0,
        };
        core.update_time();
        Ok(core)
    }

    /// The kernel beneath.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The kernel beneath, to be told of something that the core has no part in.
    pub fn kernel_mut(&mut self) -> &mut K {
        &mut self.kernel
    }

    /// The loop's time in nanoseconds, rounded down to the grain: read once a turn, not at every call.
    #[doc(alias = "uv_now")]
    #[inline]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The clock as last read, in nanoseconds and not rounded: what is due by it comes in the next pass of timers.
    #[inline]
    pub fn last_read(&self) -> u64 {
        self.now
    }

    /// Reads the clock.
    #[doc(alias = "uv_update_time")]
    #[inline]
    pub fn update_time(&mut self) {
        self.now = self.kernel.now();
        if self.grain == NonZeroU64::MIN {
            self.time = self.now;
        } else if self.now >= self.next_time {
            self.pass_grains();
        }
    }

    #[inline(never)]
    fn pass_grains(&mut self) {
        self.time = self.now - self.now % self.grain;
        self.next_time = self.time.saturating_add(self.grain.get());
    }

    /// True while a run would have something to do: an active referenced handle, a request, a handle to be closed,
    /// or an event in pending.
    #[doc(alias = "uv_loop_alive")]
    #[inline]
    pub fn alive(&self) -> bool {
        self.waits_for_something() || !self.pending.is_empty() || !self.slots.is_empty(List::Closing)
    }

    /// True if there is an active referenced handle or a request.
    #[inline]
    pub(crate) fn waits_for_something(&self) -> bool {
        self.active.0 > 0 || self.requests > 0
    }

    /// The active referenced handles: they keep the loop alive.
    #[inline]
    pub fn active_handles(&self) -> u32 {
        self.active.0
    }

    /// Takes over what somebody has made of [`Core::active_handles`]. libuv's programs see that number and may change
    /// it, to keep a loop alive for something of their own. Whoever does it takes the same difference back.
    #[inline]
    pub fn set_active_handles(&mut self, count: u32) {
        self.active.0 = count;
    }

    /// The requests whose event is still to come: they keep the loop alive.
    #[inline]
    pub fn active_requests(&self) -> u32 {
        self.requests
    }

    /// Makes the run end after this turn; a run that has not begun ends at once. The rest of the turn goes on, without
    /// waiting.
    #[doc(alias = "uv_stop")]
    pub fn stop(&mut self) {
        self.turn.stop = true;
    }

    /// Takes over whether to stop from a front that keeps that itself, for others to see and change. The end of a run
    /// forgets it.
    #[inline]
    pub fn set_stop(&mut self, stop: bool) {
        self.turn.stop = stop;
    }

    /// How long a run would wait for events now, in nanoseconds; `None` is for ever.
    #[doc(alias = "uv_backend_timeout")]
    pub fn backend_timeout(&mut self) -> Option<u64> {
        if self.must_sync() || self.has_to_tell() || self.kernel.must_begin() { Some(0) } else { self.poll_timeout() }
    }

    /// The turns that have begun so far.
    pub fn turns(&self) -> u64 {
        self.turn.count
    }

    /// Begins a walk over all handles in the order of their initialisation, those being closed included.
    ///
    /// Between two steps anything may happen: handles are made, which are not visited, and closed for good; a walk
    /// inside this one begins and ends; the loop runs. A walk need not be finished.
    pub fn walk_begin(&mut self) -> AllHandles {
        self.slots.walk_all()
    }

    /// The next handle of a walk.
    #[doc(alias = "uv_walk")]
    pub fn walk_next(&mut self, walk: &mut AllHandles) -> Option<(Key, U)> {
        let index = self.slots.step_all(walk)?;
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
