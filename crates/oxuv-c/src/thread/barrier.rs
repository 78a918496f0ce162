//! Barriers: threads wait until all have come.

use std::ffi::{c_int, c_uint};
use std::ptr::null;

use super::{check, must, void_exports};
use crate::error::code;

/// A barrier.
pub type uv_barrier_t = libc::pthread_barrier_t;

/// Initialises a barrier for so many threads.
///
/// UV_EINVAL for none, and for more than the C library can count.
///
/// # Safety
/// `barrier` points to memory for a barrier, where none is.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_barrier_init(barrier: *mut uv_barrier_t, count: c_uint) -> c_int {
    // SAFETY: there is memory for it, by our caller's word; null asks for the usual attributes.
    code(check(unsafe { libc::pthread_barrier_init(barrier, null(), count) }))
}

/// Waits until all have come, and lets all of them go on. One of them gets 1, so that it may do what is to be done once;
/// the others get 0. Then the barrier is as new.
///
/// # Safety
/// `barrier` was initialised, and is not destroyed before all have come.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_barrier_wait(barrier: *mut uv_barrier_t) -> c_int {
    // SAFETY: made by `uv_barrier_init`, and there as long as anybody has not come.
    let returned = unsafe { libc::pthread_barrier_wait(barrier) };
    if returned == libc::PTHREAD_BARRIER_SERIAL_THREAD {
        return 1;
    }
    must("uv_barrier_wait", check(returned));
    0
}

void_exports! {
    /// Ends a barrier, when those who were let go have left it.
    uv_barrier_destroy(barrier: *mut uv_barrier_t) = libc::pthread_barrier_destroy;
}
