//! The loop, and the one way into its core.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_int, c_void};
use std::process::abort;
use std::ptr::{null, null_mut, write_bytes};

use oxuv_core::{Config, Core, Errno, Result, Why};

use crate::types::uv_loop_t;
use crate::write::Bufs;

/// The core as this front uses it.
pub(crate) type Loop = Core<kernel::Kernel, User, Bufs>;

/// What the core gives back with each event: the handle's or the request's address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User(pub(crate) *mut c_void);

impl Default for User {
    fn default() -> Self {
        User(null_mut())
    }
}

/// libuv's grain of time, and its unit: a millisecond in nanoseconds.
pub(crate) const MILLISECOND: u64 = 1_000_000;

/// What a call into a loop gives when there is none: it was closed, or its memory is zero.
pub(crate) trait Answer {
    /// That.
    fn without_loop() -> Self;
}

impl<T> Answer for Result<T> {
    fn without_loop() -> Self {
        Err(Errno::EINVAL)
    }
}

impl<T> Answer for Option<T> {
    fn without_loop() -> Self {
        None
    }
}

impl Answer for () {
    fn without_loop() -> Self {}
}

/// Calls into the core of `loop_`. The core is borrowed for this one call, and no callback runs in it.
///
/// # Safety
/// `loop_` is null, or was initialised, or is zero; it may be closed. Nothing else is in its core: this is not called
/// from within `call`.
#[inline]
pub(crate) unsafe fn with<R: Answer>(loop_: *mut uv_loop_t, call: impl FnOnce(&mut Loop) -> R) -> R {
    // SAFETY: between init and close there is a core. Only here, in `ask` and in the driver's `next` is a reference to
    // it made, and it ends with that call; a loop belongs to one thread at a time.
    unsafe {
        if loop_.is_null() || (*loop_).core.is_null() {
            return R::without_loop();
        }
        with_core(loop_, call)
    }
}

/// As [`with`], for a loop that is known to have its core.
///
/// # Safety
/// `loop_` was initialised, and is not closed. Nothing else is in its core.
#[inline]
pub(crate) unsafe fn with_core<R>(loop_: *mut uv_loop_t, call: impl FnOnce(&mut Loop) -> R) -> R {
    // SAFETY: as in `with`.
    unsafe {
        let core = &mut *(*loop_).core;
        core.set_active_handles((*loop_).active_handles);
        let answer = guard(|| call(core));
        show_counts(loop_, core);
        answer
    }
}

/// As [`with`], for a call that changes nothing.
///
/// # Safety
/// As for [`with`].
#[inline]
pub(crate) unsafe fn ask<R: Answer>(loop_: *const uv_loop_t, call: impl FnOnce(&Loop) -> R) -> R {
    // SAFETY: as in `with`.
    unsafe {
        if loop_.is_null() || (*loop_).core.is_null() {
            return R::without_loop();
        }
        let core = &*(*loop_).core;
        guard(|| call(core))
    }
}

/// Shows programs the numbers of active handles and requests, where they look for them. What they made of the first one
/// is the core's from its next call on.
///
/// # Safety
/// `core` is that of `loop_`.
#[inline]
pub(crate) unsafe fn show_counts(loop_: *mut uv_loop_t, core: &Loop) {
    // SAFETY: an initialised loop is memory to write to, and the core lies elsewhere.
    unsafe {
        (*loop_).active_handles = core.active_handles();
        (*loop_).active_reqs = core.active_requests();
    }
}

/// Calls our own code. A panic in it leaves the core in no state to go on from, and must not unwind into C.
#[inline]
pub(crate) fn guard<R>(call: impl FnOnce() -> R) -> R {
    struct Unwinding;
    impl Drop for Unwinding {
        #[cold]
        fn drop(&mut self) {
            // The panic's own message is out already.
            eprintln!("libuv.so.1 (oxuv): a broken invariant of the event loop, aborting");
            abort();
        }
    }
    let unwinding = Unwinding;
    let result = call();
    std::mem::forget(unwinding);
    result
}

/// Initialises a loop. `data` is left as it is.
///
/// # Safety
/// `loop_` points to memory for a loop, which holds no open one.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_init(loop_: *mut uv_loop_t) -> c_int {
    let made: Result<_> = guard(|| {
        let core =
            Core::new(kernel::new()?, Config { grain: MILLISECOND, reaps_orphans: false, opens_pipes_always: true })?;
        let place = boxed(core)?;
        #[cfg(not(miri))]
        // SAFETY: a core that nobody else knows of yet, at its place.
        unsafe {
            crate::observe::begin(place);
        }
        Ok(place)
    });
    let core = match made {
        Ok(core) => core,
        Err(error) => return error.code(),
    };
    // SAFETY: the caller has memory for the whole structure at `loop_`; `data` is its first field, and zero is a value
    // for all the others. The core is there and nobody else's.
    unsafe {
        let data = size_of::<*mut c_void>();
        write_bytes(loop_.cast::<u8>().add(data), 0, size_of::<uv_loop_t>() - data);
        (*loop_).core = core;
        (*loop_).backend_fd = kernel::backend_fd((*core).kernel());
        (*loop_).idle_time = (*core).idle_clock();
    }
    0
}

/// Closes a loop. `data` is left as it is.
///
/// UV_EBUSY while it has a handle whose close callback has not run, or a request; UV_EINVAL when it is closed already.
///
/// # Safety
/// `loop_` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_close(loop_: *mut uv_loop_t) -> c_int {
    // SAFETY: without a core the question ends with EINVAL. It came from `boxed`; with the null that is left, `uv_run`
    // knows that it is gone, should it be waiting for a callback that calls this.
    unsafe {
        let checked = with(loop_, |core| core.check_closable().inspect_err(|_| core.tell_keepers(Why::Open)));
        if let Err(error) = checked {
            return error.code();
        }
        let core = std::mem::replace(&mut (*loop_).core, null_mut());
        (*loop_).backend_fd = -1;
        (*loop_).idle_time = null();
        guard(|| core.drop_in_place());
        dealloc(core.cast(), Layout::new::<Loop>());
    }
    0
}

/// A core at a fixed address. `Box::new` would abort when memory is short.
fn boxed(core: Loop) -> Result<*mut Loop> {
    // SAFETY: a core is not of size zero; what is written is the memory just allocated for it.
    unsafe {
        let place = alloc(Layout::new::<Loop>()).cast::<Loop>();
        if place.is_null() {
            return Err(Errno::ENOMEM);
        }
        place.write(core);
        Ok(place)
    }
}

/// The kernel that everybody has.
#[cfg(not(miri))]
pub(crate) mod kernel {
    use std::ffi::c_int;
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::time::Duration;

    use oxuv_core::linux::Linux;
    use oxuv_core::pool::{Pool, PoolOf};
    use oxuv_os::{Address, Descriptor};

    use crate::job::Request;

    pub(crate) type Kernel = Linux<Request>;

    /// The threads of all loops. Their name is the one that libuv's have.
    static POOL: Pool<Request> = Pool::new(c"libuv-worker");

    pub(crate) fn new() -> oxuv_core::Result<Kernel> {
        // Whether a write to a closed connection raises SIGPIPE is for the program to say, as with libuv.
        Kernel::with_pool(true, PoolOf::Process(&POOL))
    }

    /// A request as this kernel takes it.
    pub(crate) fn job(request: Request) -> Request {
        request
    }

    /// Runs what is queued, and ends the threads.
    pub(crate) fn end_threads(patience: Option<Duration>) {
        POOL.shutdown(patience);
    }

    pub(crate) fn backend_fd(kernel: &Kernel) -> c_int {
        kernel.backend_fd()
    }

    pub(crate) fn block_sigprof(kernel: &mut Kernel) {
        kernel.block_sigprof();
    }

    pub(crate) fn use_ring(kernel: &mut Kernel) {
        kernel.use_ring(true);
    }

    /// True in a child of the process that it was made in, which has not made it its own.
    pub(crate) fn is_inherited(kernel: &Kernel) -> bool {
        kernel.is_inherited()
    }

    /// The time of every such kernel.
    pub(crate) fn now() -> u64 {
        oxuv_os::clock::now()
    }

    /// The address that a socket is bound to, of whatever family.
    pub(crate) fn local_name(fd: &Descriptor) -> oxuv_core::Result<Address> {
        oxuv_os::net::local_name(fd)
    }

    /// The address of the other end, of whatever family.
    pub(crate) fn peer_name(fd: &Descriptor) -> oxuv_core::Result<Address> {
        oxuv_os::net::peer_name(fd)
    }

    /// The descriptor of this number, which is closed when the value is dropped.
    ///
    /// # Safety
    /// The number is not negative. If it is dropped, the descriptor is nobody else's.
    pub(crate) unsafe fn own(_: &Kernel, number: c_int) -> Descriptor {
        // SAFETY: says the caller. Of a number that is no descriptor, system calls say EBADF.
        unsafe { OwnedFd::from_raw_fd(number) }.into()
    }
}

/// Miri cannot do Linux's system calls: there the kernel is a simulated one.
#[cfg(miri)]
pub(crate) mod kernel {
    use std::ffi::c_int;
    use std::time::Duration;

    pub(crate) use oxuv_core::sim::Sim as Kernel;
    use oxuv_core::sim::{Faults, Fd};

    use oxuv_core::kernel::Job;
    use oxuv_core::{Address, Errno};

    use crate::job::Request;

    pub(crate) fn new() -> oxuv_core::Result<Kernel> {
        Ok(Kernel::new(1, Faults::none()))
    }

    pub(crate) fn job(request: Request) -> Box<dyn Job> {
        Box::new(request)
    }

    /// There are no threads.
    pub(crate) fn end_threads(_patience: Option<Duration>) {}

    pub(crate) fn backend_fd(_: &Kernel) -> c_int {
        -1
    }

    /// There are no profilers.
    pub(crate) fn block_sigprof(_: &mut Kernel) {}

    /// There are no rings.
    pub(crate) fn use_ring(_: &mut Kernel) {}

    /// There are no other processes.
    pub(crate) fn is_inherited(_: &Kernel) -> bool {
        false
    }

    /// Each has a time of its own; this is for looking on during a wait, which needs a second thread.
    pub(crate) fn now() -> u64 {
        0
    }

    /// There are no other families.
    pub(crate) fn local_name(_: &Fd) -> oxuv_core::Result<Address> {
        Err(Errno::EAFNOSUPPORT)
    }

    /// There are no other families.
    pub(crate) fn peer_name(_: &Fd) -> oxuv_core::Result<Address> {
        Err(Errno::EAFNOSUPPORT)
    }

    /// # Safety
    /// None here: the simulated kernel has no memory of the process's at stake.
    pub(crate) unsafe fn own(kernel: &Kernel, number: c_int) -> Fd {
        kernel.own(number)
    }
}

/// The simulated kernel of a loop, for a test to play the outside.
///
/// # Safety
/// `loop_` was initialised.
#[cfg(miri)]
pub unsafe fn simulated_kernel(loop_: *const uv_loop_t) -> oxuv_core::sim::Sim {
    // SAFETY: `loop_` has its core since init.
    unsafe { ask(loop_, |core| Some(core.kernel().clone())) }.expect("an open loop")
}
