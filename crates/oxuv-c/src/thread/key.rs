//! Values that each thread has for itself.

use std::ffi::{c_int, c_void};

use super::{check, must};
use crate::error::code;

/// What a thread finds its value by.
pub type uv_key_t = libc::pthread_key_t;

/// Makes a key, whose value is null in every thread.
///
/// UV_EAGAIN when there are too many of them.
///
/// # Safety
/// `key` points to memory for a key.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_key_create(key: *mut uv_key_t) -> c_int {
    // SAFETY: there is memory for it, by our caller's word. The values are not freed when a thread ends.
    code(check(unsafe { libc::pthread_key_create(key, None) }))
}

/// Ends a key. The process is ended if it is none.
///
/// # Safety
/// `key` points to a key that was made.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_key_delete(key: *mut uv_key_t) {
    // SAFETY: reads a number, which the C library looks at before it is used.
    must("uv_key_delete", check(unsafe { libc::pthread_key_delete(*key) }));
}

/// The calling thread's value.
///
/// # Safety
/// `key` points to a key that was made.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_key_get(key: *mut uv_key_t) -> *mut c_void {
    // SAFETY: reads a number, which the C library looks at before it is used.
    unsafe { libc::pthread_getspecific(*key) }
}

/// Sets the calling thread's value. The process is ended if it is not a key, or if there is no memory.
///
/// # Safety
/// `key` points to a key that was made.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_key_set(key: *mut uv_key_t, value: *mut c_void) {
    // SAFETY: reads a number, which the C library looks at before it is used. What the value means is the program's.
    must("uv_key_set", check(unsafe { libc::pthread_setspecific(*key, value) }));
}
