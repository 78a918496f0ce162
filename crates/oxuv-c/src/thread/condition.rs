//! Conditions: threads wait, with a mutex that is free meanwhile, until another says that something has changed.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use libc::timespec;
use oxuv_core::{Errno, Result};
use oxuv_os::clock;

use super::{broken, check, must, pthread_cond_timedwait, pthread_cond_wait, uv_mutex_t, void_exports};
use crate::error::code;

/// A condition.
pub type uv_cond_t = libc::pthread_cond_t;

const SECOND: u64 = 1_000_000_000;

/// The point on the monotonic clock that lies so many nanoseconds ahead. One beyond its end never comes.
fn ahead(nanoseconds: u64) -> timespec {
    let point = clock::now().saturating_add(nanoseconds);
    // Neither can be too large: 64 bits of nanoseconds are 585 years.
    timespec { tv_sec: (point / SECOND) as libc::time_t, tv_nsec: (point % SECOND) as libc::c_long }
}

/// # Safety
/// `cond` points to memory for a condition.
unsafe fn init(cond: *mut uv_cond_t) -> Result<()> {
    let mut memory = MaybeUninit::uninit();
    let attributes = memory.as_mut_ptr();
    // SAFETY: the attributes are initialised before they are used, and not used after they are destroyed, which
    // cannot fail. The condition keeps nothing of them.
    unsafe {
        check(libc::pthread_condattr_init(attributes))?;
        let made = check(libc::pthread_condattr_setclock(attributes, libc::CLOCK_MONOTONIC))
            .and_then(|()| check(libc::pthread_cond_init(cond, attributes)));
        libc::pthread_condattr_destroy(attributes);
        made
    }
}

/// Initialises a condition.
///
/// # Safety
/// `cond` points to memory for a condition, where none is.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_cond_init(cond: *mut uv_cond_t) -> c_int {
    // SAFETY: passed on to our caller word for word.
    code(unsafe { init(cond) })
}

void_exports! {
    /// Ends a condition, when those who were woken have left it.
    uv_cond_destroy(cond: *mut uv_cond_t) = libc::pthread_cond_destroy;

    /// Wakes one of those who wait.
    uv_cond_signal(cond: *mut uv_cond_t) = libc::pthread_cond_signal;

    /// Wakes all who wait.
    uv_cond_broadcast(cond: *mut uv_cond_t) = libc::pthread_cond_broadcast;
}

/// Unlocks the mutex, waits to be woken, and locks it again. A thread may wake without having been woken: look whether
/// what you wait for is true.
///
/// # Safety
/// Both were initialised, and are not destroyed before this is over; the calling thread has the mutex.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_cond_wait(cond: *mut uv_cond_t, mutex: *mut uv_mutex_t) {
    // SAFETY: both are the C library's, made by their inits, and there as long as anybody waits.
    must("uv_cond_wait", check(unsafe { pthread_cond_wait(cond, mutex) }));
}

/// As [`uv_cond_wait`], for `timeout` nanoseconds at most: then UV_ETIMEDOUT. Setting the time of day does not change
/// how long that is.
///
/// # Safety
/// As for [`uv_cond_wait`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_cond_timedwait(cond: *mut uv_cond_t, mutex: *mut uv_mutex_t, timeout: u64) -> c_int {
    let until = ahead(timeout);
    // SAFETY: both are the C library's, made by their inits, and there as long as anybody waits; `until` is a local.
    match check(unsafe { pthread_cond_timedwait(cond, mutex, &raw const until) }) {
        Ok(()) => 0,
        Err(Errno::ETIMEDOUT) => Errno::ETIMEDOUT.code(),
        Err(error) => broken("uv_cond_timedwait", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_ahead_is_that_far_ahead() {
        let before = clock::now();
        let point = ahead(5 * SECOND + 7);
        let point = point.tv_sec as u64 * SECOND + point.tv_nsec as u64;
        assert!((before + 5 * SECOND + 7..=clock::now() + 5 * SECOND + 7).contains(&point));
    }

    #[test]
    fn a_point_beyond_the_clocks_end_is_its_end() {
        let end = ahead(u64::MAX);
        assert_eq!((end.tv_sec as u64, end.tv_nsec as u64), (u64::MAX / SECOND, u64::MAX % SECOND));
    }
}
