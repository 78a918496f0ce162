//! What is done once, by whoever comes first.

use super::{check, must, pthread_once};

/// Whether it was done. C has `UV_ONCE_INIT` for one that was not.
pub type uv_once_t = libc::pthread_once_t;

/// What is done once.
pub type uv_once_cb = Option<unsafe extern "C-unwind" fn()>;

/// Calls the function, unless it was called through the same guard before; waits if another thread is at it. If it
/// throws an exception, it was not called.
///
/// # Safety
/// `guard` points to `UV_ONCE_INIT`, or to what this function has made of it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_once(guard: *mut uv_once_t, callback: uv_once_cb) {
    let Some(callback) = callback else {
        if cfg!(debug_assertions) {
            eprintln!("uv_once: there is no function to call");
        }
        return;
    };
    // SAFETY: a guard of the C library's. Nothing here is dropped if the function throws.
    must("uv_once", check(unsafe { pthread_once(guard, callback) }));
}
