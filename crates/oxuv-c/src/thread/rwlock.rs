//! Locks that one writer has at a time, or any number of readers.

use std::ffi::c_int;
use std::ptr::null;

use super::{check, try_exports, void_exports};
use crate::error::code;

/// A lock that one writer has at a time, or any number of readers.
pub type uv_rwlock_t = libc::pthread_rwlock_t;

/// Initialises a read-write lock.
///
/// # Safety
/// `rwlock` points to memory for one, where none is.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_rwlock_init(rwlock: *mut uv_rwlock_t) -> c_int {
    // SAFETY: there is memory for it, by our caller's word; null asks for the usual attributes.
    code(check(unsafe { libc::pthread_rwlock_init(rwlock, null()) }))
}

void_exports! {
    /// Ends a read-write lock that nobody has.
    uv_rwlock_destroy(rwlock: *mut uv_rwlock_t) = libc::pthread_rwlock_destroy;

    /// Locks for reading, waiting until no writer has it. The process is ended if the calling thread is that writer.
    uv_rwlock_rdlock(rwlock: *mut uv_rwlock_t) = libc::pthread_rwlock_rdlock;

    /// Unlocks what was locked for reading.
    uv_rwlock_rdunlock(rwlock: *mut uv_rwlock_t) = libc::pthread_rwlock_unlock;

    /// Locks for writing, waiting until nobody has it. The process is ended if the calling thread has it for writing.
    uv_rwlock_wrlock(rwlock: *mut uv_rwlock_t) = libc::pthread_rwlock_wrlock;

    /// Unlocks what was locked for writing.
    uv_rwlock_wrunlock(rwlock: *mut uv_rwlock_t) = libc::pthread_rwlock_unlock;
}

try_exports! {
    /// Locks for reading unless a writer has it: then UV_EBUSY.
    uv_rwlock_tryrdlock(rwlock: *mut uv_rwlock_t) = libc::pthread_rwlock_tryrdlock;

    /// Locks for writing unless anybody has it: then UV_EBUSY.
    uv_rwlock_trywrlock(rwlock: *mut uv_rwlock_t) = libc::pthread_rwlock_trywrlock;
}
