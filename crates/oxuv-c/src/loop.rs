//! The loop, and the one way into its core.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_int, c_void};
use std::process::abort;
use std::ptr::{null_mut, write_bytes};

use oxuv_core::{Config, Core, Errno, Mode, Result};

use crate::types::{UV_RUN_DEFAULT, UV_RUN_NOWAIT, UV_RUN_ONCE, uv_loop_t, uv_run_mode};
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

/// Calls into the core of `loop_`. The core is borrowed for this one call, and no callback runs in it.
///
/// # Safety
/// `loop_` is initialised and not closed, and nothing else is in its core: this is not called from within `call`.
#[inline]
pub(crate) unsafe fn with<R>(loop_: *const uv_loop_t, call: impl FnOnce(&mut Loop) -> R) -> R {
    // SAFETY: init has put a core there, which lives until close. Only here and in the driver's `next` is a reference
    // to it made, and it ends with that call; a loop belongs to one thread at a time.
    let core = unsafe { &mut *(*loop_).core };
    guard(|| call(core))
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
        let core = Core::new(kernel::new()?, Config { grain: MILLISECOND })?;
        let backend_fd = kernel::backend_fd(core.kernel());
        Ok((boxed(core)?, backend_fd))
    });
    let (core, backend_fd) = match made {
        Ok(made) => made,
        Err(error) => return error.code(),
    };
    // SAFETY: the caller has memory for the whole structure at `loop_`; `data` is its first field, and zero is a value
    // for all the others.
    unsafe {
        let data = size_of::<*mut c_void>();
        write_bytes(loop_.cast::<u8>().add(data), 0, size_of::<uv_loop_t>() - data);
        (*loop_).core = core;
        (*loop_).backend_fd = backend_fd;
    }
    0
}

/// Closes a loop. `data` is left as it is.
///
/// UV_EBUSY while it has a handle whose close callback has not run, or a request.
///
/// # Safety
/// `loop_` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_close(loop_: *mut uv_loop_t) -> c_int {
    // SAFETY: the core is there since init, and `check_closable` looks at nothing else. It came from `boxed`; with
    // the null that is left, `uv_run` knows that it is gone, should it be waiting for a callback that calls this.
    unsafe {
        if let Err(error) = with(loop_, |core| core.check_closable()) {
            return error.code();
        }
        let core = std::mem::replace(&mut (*loop_).core, null_mut());
        (*loop_).backend_fd = -1;
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

/// Runs a loop's callbacks until nothing is left to do, until stopped, or for one turn. Not 0 if something is still
/// alive, or a negative error if the kernel will not let this loop wait any more.
///
/// # Safety
/// `loop_` was initialised, and what was promised to the functions that started its handles and requests holds.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_run(loop_: *mut uv_loop_t, mode: uv_run_mode) -> c_int {
    let mode = match mode {
        UV_RUN_DEFAULT => Mode::Default,
        UV_RUN_ONCE => Mode::Once,
        UV_RUN_NOWAIT => Mode::NoWait,
        _ => return Errno::EINVAL.code(),
    };
    // SAFETY: passed on to our caller word for word.
    match unsafe { crate::run::run(loop_, mode) } {
        Ok(alive) => alive.into(),
        Err(error) => error.code(),
    }
}

/// Ends the run after this turn; if none is under way, the next one at once.
///
/// # Safety
/// `loop_` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_stop(loop_: *mut uv_loop_t) {
    // SAFETY: `loop_` has its core since init; `stop` sets a flag that the run looks at when it is back in control.
    unsafe { with(loop_, |core| core.stop()) }
}

/// Not 0 while a run would have something to do.
///
/// # Safety
/// `loop_` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_alive(loop_: *const uv_loop_t) -> c_int {
    // SAFETY: `loop_` has its core since init.
    unsafe { with(loop_, |core| core.alive().into()) }
}

/// The loop's time in milliseconds, read once a turn, from an arbitrary point on.
///
/// # Safety
/// `loop_` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_now(loop_: *const uv_loop_t) -> u64 {
    // SAFETY: `loop_` has its core since init.
    unsafe { with(loop_, |core| core.time() / MILLISECOND) }
}

/// Reads the clock anew.
///
/// # Safety
/// `loop_` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_update_time(loop_: *mut uv_loop_t) {
    // SAFETY: `loop_` has its core since init.
    unsafe { with(loop_, |core| core.update_time()) }
}

/// The kernel that everybody has.
#[cfg(not(miri))]
pub(crate) mod kernel {
    use std::ffi::c_int;
    use std::os::fd::{FromRawFd, OwnedFd};

    pub(crate) use oxuv_core::linux::Linux as Kernel;
    use oxuv_os::Descriptor;

    pub(crate) fn new() -> oxuv_core::Result<Kernel> {
        // Whether a write to a closed connection raises SIGPIPE is for the program to say, as with libuv.
        Kernel::new(true)
    }

    pub(crate) fn backend_fd(kernel: &Kernel) -> c_int {
        kernel.backend_fd()
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

    pub(crate) use oxuv_core::sim::Sim as Kernel;
    use oxuv_core::sim::{Faults, Fd};

    pub(crate) fn new() -> oxuv_core::Result<Kernel> {
        Ok(Kernel::new(1, Faults::none()))
    }

    pub(crate) fn backend_fd(_: &Kernel) -> c_int {
        -1
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
    unsafe { with(loop_, |core| core.kernel().clone()) }
}
