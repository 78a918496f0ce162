//! Semaphores: a number that never falls below 0, and threads that wait to take from it.
//!
//! libuv has one of its own for versions of the C library before 2.21, whose post looked at a semaphore that its
//! waiter had destroyed already. They are from before 2015, and this library leaves that out.

use std::ffi::{c_int, c_uint};
use std::io;

use oxuv_core::{Errno, Result};

use super::{broken, must, sem_wait};
use crate::error::code;

/// A semaphore.
pub type uv_sem_t = libc::sem_t;

/// What a function of semaphores returned: unlike those of pthreads they return -1 and set `errno`.
fn check(returned: c_int) -> Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error().into()) }
}

/// Initialises a semaphore with a number.
///
/// UV_EINVAL for one beyond what an `int` holds.
///
/// # Safety
/// `sem` points to memory for a semaphore, where none is.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_sem_init(sem: *mut uv_sem_t, value: c_uint) -> c_int {
    // SAFETY: there is memory for it, by our caller's word; 0: for the threads of this process.
    code(check(unsafe { libc::sem_init(sem, 0, value) }))
}

/// Ends a semaphore that nobody waits for.
///
/// # Safety
/// `sem` was initialised, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_sem_destroy(sem: *mut uv_sem_t) {
    // SAFETY: made by `uv_sem_init`, and this is the last that is done with it.
    must("uv_sem_destroy", check(unsafe { libc::sem_destroy(sem) }));
}

/// Adds 1, for one of those who wait. May be called in a signal handler.
///
/// # Safety
/// `sem` was initialised. It may be destroyed by whoever this lets go on.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_sem_post(sem: *mut uv_sem_t) {
    // SAFETY: made by `uv_sem_init`, and there still.
    must("uv_sem_post", check(unsafe { libc::sem_post(sem) }));
}

/// Takes 1, waiting until there is something to take. Signals do not end the wait.
///
/// # Safety
/// `sem` was initialised, and is not destroyed before this is over.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_sem_wait(sem: *mut uv_sem_t) {
    loop {
        // SAFETY: made by `uv_sem_init`, and there as long as anybody waits.
        match check(unsafe { sem_wait(sem) }) {
            Err(Errno::EINTR) => {}
            result => return must("uv_sem_wait", result),
        }
    }
}

/// Takes 1 if there is something to take: else UV_EAGAIN.
///
/// # Safety
/// `sem` was initialised, and is not destroyed before this is over.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_sem_trywait(sem: *mut uv_sem_t) -> c_int {
    // SAFETY: made by `uv_sem_init`, and there still.
    match check(unsafe { libc::sem_trywait(sem) }) {
        Ok(()) => 0,
        Err(Errno::EAGAIN) => Errno::EAGAIN.code(),
        Err(error) => broken("uv_sem_trywait", error),
    }
}
