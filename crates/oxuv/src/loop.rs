//! The loop, and references to it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::time::Duration;

use oxuv_core::linux::Linux;
use oxuv_core::{Config, IdleClock, Mode};

use crate::callbacks::Callbacks;
use crate::handle::nanoseconds;
use crate::kept::Kept;
use crate::net::{Gates, Lender};
use crate::requests::Requests;
use crate::spare::Spare;
use crate::task::Tasks;
use crate::time::Alarms;
use crate::{Errno, Handle, Metrics, Pool, Result};

/// The core of the Rust front. Its values for requests are numbers of closures.
pub(crate) type Core = oxuv_core::Core<Linux, u32, Kept>;

/// What is borrowed while the core is asked something.
pub(crate) struct Engine {
    pub(crate) core: Core,
    /// The closures that the core's requests have.
    pub(crate) requests: Requests,
}

/// An event loop.
///
/// Dropping it closes all its handles without calling anybody. Children that have not ended go on, but for those that are
/// [killed with their handles](crate::Command::kill_on_drop); a loop that next makes a child, closes one's handle or is dropped waits
/// for those that have ended by then, so that they do not stay zombies for longer. It stays on the thread that made it.
#[doc(alias = "uv_loop_t")]
pub struct Loop(LoopRef);

/// A reference to a loop, to be kept in closures. It does not keep the loop: once the [`Loop`] is dropped, everything
/// asked of it is EINVAL.
#[derive(Clone)]
pub struct LoopRef(pub(crate) Rc<Inner>);

pub(crate) struct Inner {
    /// `None` once the loop is dropped.
    pub(crate) core: RefCell<Option<Engine>>,
    pub(crate) callbacks: Callbacks,
    /// What a run reads into; between runs it is here. Empty until something is read.
    pub(crate) room: Cell<Box<[MaybeUninit<u8>]>>,
    /// What tasks read into that have no memory of their own.
    pub(crate) lender: Lender,
    /// What callbacks receive a datagram into: moved out for the time that it is looked at.
    pub(crate) buffer: Cell<Option<Box<[MaybeUninit<u8>]>>>,
    /// The same for those that receive several at a time.
    pub(crate) wide_buffer: Cell<Option<Box<[MaybeUninit<u8>]>>>,
    /// What the name of a file that something has happened to is kept in.
    pub(crate) name: Cell<Vec<u8>>,
    /// Of jobs that have come back, and of what they have called.
    pub(crate) spare_askers: Spare,
    pub(crate) is_running: Cell<bool>,
    pub(crate) tasks: Tasks,
    pub(crate) gates: Gates,
    pub(crate) alarms: Alarms,
}

/// The size of the buffer that reads read into: libuv's suggestion.
pub(crate) const BUFFER: usize = 64 * 1024;

impl Inner {
    /// Asks the core one thing. Nothing of the user's runs meanwhile but the `as_ref` of what is written. EBUSY for an
    /// observer's closure, which runs while the core is asked what is next.
    #[inline]
    pub(crate) fn with<T>(&self, ask: impl FnOnce(&mut Core) -> Result<T>) -> Result<T> {
        self.with_requests(|core, _| ask(core))
    }

    /// As [`Inner::with`], for what is about closures of requests as well.
    #[inline]
    pub(crate) fn with_requests<T>(&self, ask: impl FnOnce(&mut Core, &mut Requests) -> Result<T>) -> Result<T> {
        match self.core.try_borrow_mut().as_deref_mut() {
            Ok(Some(Engine { core, requests })) => ask(core, requests),
            Ok(None) => Err(Errno::EINVAL),
            Err(_) => Err(Errno::EBUSY),
        }
    }
}

impl Loop {
    /// A new loop, exact to the nanosecond.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    #[doc(alias = "uv_loop_init")]
    pub fn new() -> Result<Loop> {
        Loop::with_grain(Duration::from_nanos(1))
    }

    /// A new loop whose time is rounded down to multiples of `grain`, as libuv's is to milliseconds: timers are started
    /// from that time, so they may come early by up to the grain, and those that are due in the same grain come in the
    /// order in which they were started.
    ///
    /// # Errors
    /// EINVAL for a grain of 0; EMFILE, ENFILE, ENOMEM.
    pub fn with_grain(grain: Duration) -> Result<Loop> {
        // Rust programs ignore SIGPIPE as a rule, and one that does not should not die of a peer that went away.
        Loop::on(Linux::new(false)?, grain)
    }

    /// A new loop, exact to the nanosecond, whose jobs run on the threads of this pool.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn with_pool(pool: &Pool) -> Result<Loop> {
        Loop::on(Linux::with_pool(false, pool.of_loop())?, Duration::from_nanos(1))
    }

    /// A new loop that is told more.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn on(mut kernel: Linux, grain: Duration) -> Result<Loop> {
        kernel.skip_vain_waits();
        let core = Core::new(kernel, Config { grain: nanoseconds(grain), ..Config::default() })?;
        Ok(Loop(LoopRef(Rc::new(Inner {
            core: RefCell::new(Some(Engine { core, requests: Requests::default() })),
            callbacks: Callbacks::default(),
            room: Cell::default(),
            lender: Lender::default(),
            buffer: Cell::new(None),
            wide_buffer: Cell::new(None),
            name: Cell::new(Vec::new()),
            spare_askers: Spare::default(),
            is_running: Cell::new(false),
            tasks: Tasks::default(),
            gates: Gates::default(),
            alarms: Alarms::default(),
        }))))
    }

    /// Runs the loop: until nothing is alive or [`LoopRef::stop`] is called, or for one turn, as `mode` says. True if
    /// something is still alive.
    ///
    /// # Errors
    /// EBUSY inside a callback of this loop. What the kernel's wait fails with for good: EBADF when foreign hands have
    /// closed the loop's descriptor.
    ///
    /// # Panics
    /// When a callback does. The loop can be run again then.
    #[doc(alias = "uv_run")]
    pub fn run(&self, mode: Mode) -> Result<bool> {
        crate::drive::run(&self.0, mode)
    }

    /// Whether everything of the loop has come to its end.
    ///
    /// # Errors
    /// EBUSY while it has a handle, even an inactive, unreferenced or closing one, a request, or a task that has not ended.
    #[doc(alias = "uv_loop_close")]
    pub fn check_closable(&self) -> Result<()> {
        self.0.0.with(|core| core.check_closable())?;
        if self.0.0.tasks.has_unfinished() { Err(Errno::EBUSY) } else { Ok(()) }
    }
}

/// What a new loop is to be like: made by [`Loop::builder`].
#[derive(Debug, Clone, Default)]
pub struct Builder {
    grain: Option<Duration>,
    pool: Option<Pool>,
    has_test_clock: bool,
    gathers_writes: bool,
}

impl Builder {
    /// As [`Loop::with_grain`].
    pub fn grain(mut self, grain: Duration) -> Builder {
        self.grain = Some(grain);
        self
    }

    /// As [`Loop::with_pool`].
    pub fn pool(mut self, pool: &Pool) -> Builder {
        self.pool = Some(pool.clone());
        self
    }

    /// Gives the loop a clock for tests. It stands still while anything runs; when there is nothing to do but to wait for a timer,
    /// it jumps to that. A day of timers takes a moment, and always the same happens at the same time.
    /// [`LoopRef::advance`] has it go forward by hand.
    ///
    /// While threads of the pool or the kernel work for the loop, the clock stands still, and the loop waits for them. Of other threads,
    /// other processes and the network it knows nothing: what it hears from them comes at whatever time the clock shows then.
    ///
    /// ```
    /// use oxuv::{Loop, time};
    /// use std::time::Duration;
    ///
    /// let lp = Loop::builder().test_clock().build()?;
    /// lp.block_on(async {
    ///     let begin = time::Instant::now();
    ///     time::sleep(Duration::from_secs(24 * 3600)).await;
    ///     assert_eq!(begin.elapsed(), Duration::from_secs(24 * 3600));
    /// });
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    pub fn test_clock(mut self) -> Builder {
        self.has_test_clock = true;
        self
    }

    /// Has small writes in callbacks sent together, by one system call for those to many connections: for servers that answer many in
    /// a turn. What is written is told of in the same place and order as ever, but the bytes leave a little later: when the loop next
    /// waits or tells of writes, when the run ends, when something else is done to the stream, a child is started or a handle is passed. That
    /// matters to a callback that ends the process, forks it, takes long, uses a descriptor that it has from before, or tells others by
    /// another way that it has written. Bytes that have not left do not count in `write_queue_size` yet.
    ///
    /// It concerns the first write to a connection in a turn, of one buffer of up to 4096 bytes, in a run. Where the kernel has no
    /// io_uring, or the environment says `UV_USE_IO_URING=0`, all is sent at once.
    pub fn gather_writes(mut self) -> Builder {
        self.gathers_writes = true;
        self
    }

    /// Makes the loop.
    ///
    /// # Errors
    /// EINVAL for a grain of 0; EMFILE, ENFILE, ENOMEM.
    pub fn build(self) -> Result<Loop> {
        let mut kernel = match &self.pool {
            None => Linux::new(false)?,
            Some(pool) => Linux::with_pool(false, pool.of_loop())?,
        };
        if self.has_test_clock {
            kernel.use_test_clock();
        }
        let lp = Loop::on(kernel, self.grain.unwrap_or(Duration::from_nanos(1)))?;
        if self.gathers_writes {
            lp.0.0.with(|core| {
                core.kernel_mut().gather_sends();
                core.gather_writes(|bytes| Kept::Vec(bytes.to_vec()));
                Ok(())
            })?;
        }
        Ok(lp)
    }
}

impl Deref for Loop {
    type Target = LoopRef;

    fn deref(&self) -> &LoopRef {
        &self.0
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let inner = &self.0.0;
        let mut engine = inner.core.borrow_mut().take();
        if let Some(Engine { core, .. }) = &mut engine {
            core.leave_children();
        }
        // Closures and buffers may own whatever they like, also references to this loop, and dropping them may call
        // it. It is gone by then.
        drop(engine);
        inner.tasks.clear();
        inner.alarms.clear();
        inner.callbacks.clear();
    }
}

impl LoopRef {
    /// Makes [`Loop::run`] return after this turn. If it is not running, the next run returns at once.
    #[doc(alias = "uv_stop")]
    pub fn stop(&self) {
        // A loop that is gone does not run.
        let _ = self.0.with(|core| {
            core.stop();
            Ok(())
        });
    }

    /// True while a run would have something to do.
    #[doc(alias = "uv_loop_alive")]
    pub fn is_alive(&self) -> bool {
        self.0.with(|core| Ok(core.alive())).unwrap_or(false)
    }

    /// The loop's time: since an arbitrary point, read when a turn begins and after waiting, not at every call.
    #[doc(alias = "uv_now")]
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.0.with(|core| Ok(core.time())).unwrap_or(0))
    }

    /// Reads the clock, after a callback that took long.
    #[doc(alias = "uv_update_time")]
    pub fn update_time(&self) {
        let _ = self.0.with(|core| {
            core.update_time();
            Ok(())
        });
    }

    /// Has the clock of a loop with a [test clock](Builder::test_clock) go forward. What is due by then comes in the next
    /// turn, each at its place in the order.
    ///
    /// # Errors
    /// EINVAL when the loop has another clock, or is gone.
    pub fn advance(&self, time: Duration) -> Result<()> {
        self.0.with(|core| {
            core.kernel_mut().advance(nanoseconds(time))?;
            core.update_time();
            Ok(())
        })
    }

    /// Whether operations on files that are begun from now on are all done by the kernel through io_uring, where it can do
    /// them, or all by threads of the loop's pool.
    ///
    /// A loop that is told neither has each done where that costs least: opening what exists, reading and closing by io_uring,
    /// which does these without a thread if nothing has to be waited for; a look at a file whose name the kernel has in its
    /// cache at once, if nothing else is under way; all else by threads. The environment's `UV_USE_IO_URING` has the last
    /// word: with 0 nothing of io_uring is touched, and with another number it is used for all by those who were told nothing.
    ///
    /// Results and errors are the same either way; operations are done in any order in both.
    #[doc(alias = "UV_LOOP_USE_IO_URING_SQPOLL")]
    pub fn use_io_uring(&self, on: bool) {
        let _ = self.0.with(|core| {
            core.kernel_mut().use_ring(on);
            Ok(())
        });
    }

    /// Whether the loop has a ring for operations on files, so that the kernel does those that it can.
    ///
    /// It is made when the first that it may do is begun: false until then, and for good where the kernel or a filter of system calls refuses
    /// one, or the environment's `UV_USE_IO_URING` is 0.
    pub fn has_io_uring(&self) -> bool {
        self.0.with(|core| Ok(core.kernel().has_ring())).unwrap_or(false)
    }

    /// How long a run would wait for events now; `None` is for ever.
    #[doc(alias = "uv_backend_timeout")]
    pub fn backend_timeout(&self) -> Option<Duration> {
        if self.0.tasks.has_some_to_run() {
            return Some(Duration::ZERO);
        }
        // It fails only for a loop that is gone.
        let _ = self.0.alarms.catch_up(&self.0);
        self.0.with(|core| Ok(core.backend_timeout())).unwrap_or(Some(0)).map(Duration::from_nanos)
    }

    /// The descriptor to poll in order to embed this loop in another: readable when a turn would find an event.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    #[doc(alias = "uv_backend_fd")]
    pub fn backend_fd(&self) -> Result<RawFd> {
        self.0.with(|core| Ok(core.kernel().backend_fd()))
    }

    /// The turns of the loop that have begun so far.
    pub fn turns(&self) -> u64 {
        self.0.with(|core| Ok(core.turns())).unwrap_or(0)
    }

    /// What the loop has counted so far: turns, events, events that were waiting.
    #[doc(alias = "uv_metrics_info")]
    pub fn metrics(&self) -> Metrics {
        self.0.with(|core| Ok(core.metrics())).unwrap_or_default()
    }

    /// Measures the time that the loop waits, from now on. This costs a second system call in turns that wait.
    #[doc(alias = "UV_METRICS_IDLE_TIME")]
    pub fn measure_idle_time(&self) {
        let _ = self.0.with(|core| {
            core.measure_idle_time();
            Ok(())
        });
    }

    /// Measures the same without that system call; [`Metrics::events_waiting`] is not counted. What is returned tells, on any
    /// thread, how long the loop has waited since.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    #[doc(alias = "uv_metrics_idle_time")]
    pub fn idle_clock(&self) -> Result<IdleClock> {
        self.0.with(|core| {
            core.start_idle_clock();
            Ok(core.shared_idle_clock())
        })
    }

    /// How long the loop has waited for events since [`LoopRef::measure_idle_time`] or [`LoopRef::idle_clock`]; zero without.
    #[doc(alias = "uv_metrics_idle_time")]
    pub fn idle_time(&self) -> Duration {
        Duration::from_nanos(self.0.with(|core| Ok(core.idle_time())).unwrap_or(0))
    }

    /// In a child that a `fork` has made, before anything else is done with the loop: makes it the child's own. Handles go on
    /// as they are: what the loop waits for it waits for anew, and timers keep their times. What was on its way to the
    /// parent stays the parent's: sends to [`Async`](crate::Async) handles, signals and changes of files are forgotten, and requests that
    /// threads were to work on are told that they were cancelled. An [`FsEvent`](crate::FsEvent) whose path cannot be watched
    /// any more is stopped, and hears why.
    ///
    /// A child that does not call this must leave the loop alone: it shares its descriptors with its parent. It may drop
    /// it, and make loops of its own. Rust programs fork by unsafe means only, and in a program with several threads there
    /// is little that a child may do; this is for those who know. In the parent, or called again, it does no harm.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM, ENOSPC: the loop is of no use until this succeeds. EINVAL when the loop is gone.
    #[doc(alias = "uv_loop_fork")]
    pub fn after_fork(&self) -> Result<()> {
        self.0.with(|core| core.after_fork()).map(drop)
    }

    /// All handles in the order in which they were made, those being closed included.
    #[doc(alias = "uv_walk")]
    pub fn handles(&self) -> Vec<Handle> {
        let mut keys = Vec::new();
        let _ = self.0.with(|core| {
            let mut walk = core.walk_begin();
            keys.extend(std::iter::from_fn(|| core.walk_next(&mut walk)));
            Ok(())
        });
        keys.into_iter().map(|(key, _)| Handle::new(self, key)).collect()
    }
}

impl fmt::Debug for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for LoopRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loop").field("turns", &self.turns()).field("alive", &self.is_alive()).finish_non_exhaustive()
    }
}
