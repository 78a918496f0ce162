//! Handles that look at a file again and again.

use std::ffi::{CStr, c_char, c_int, c_uint};

use oxuv_core::{Errno, Result};

use crate::error::code;
use crate::fs::uv_stat_t;
use crate::fs_event::path;
use crate::handle::{self, with_open};
use crate::loop_::{Loop, MILLISECOND, User, with};
use crate::types::{uv_handle_t, uv_handle_type, uv_loop_t};

/// Called when a file has changed: with 0, what it was and what it is; or once with an error, what it was when it was last
/// seen, and zeros. What it was is zeros if it has not been seen.
pub type uv_fs_poll_cb =
    Option<unsafe extern "C-unwind" fn(*mut uv_fs_poll_t, c_int, *const uv_stat_t, *const uv_stat_t)>;

/// A handle that looks at a file again and again.
pub const UV_FS_POLL: uv_handle_type = 4;

/// Looks at a file again and again.
#[repr(C)]
pub struct uv_fs_poll_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    pub(crate) poll_cb: uv_fs_poll_cb,
}

/// Initialises a handle, stopped.
///
/// # Safety
/// `loop_` was initialised; `handle` points to memory for such a handle, which holds no open one.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_poll_init(loop_: *mut uv_loop_t, handle: *mut uv_fs_poll_t) -> c_int {
    // SAFETY: `loop_` has its core since init; `handle` is memory for all the fields written.
    unsafe {
        match with(loop_, |core| core.fs_poll_init(User::of(handle))) {
            Ok(key) => handle::init(handle.cast(), loop_, UV_FS_POLL, key),
            Err(error) => return error.code(),
        }
        (*handle).poll_cb = None;
    }
    0
}

/// Looks at what is at `path` every `interval` milliseconds, 0 is 1, on a thread of the pool: now for the first time, whose
/// finding is what later ones are compared with. A handle that is started keeps path and callback, and this returns 0.
///
/// UV_EINVAL for a null path, and for a closing or zero handle; UV_EAGAIN without a thread; UV_ENOMEM.
///
/// # Safety
/// `handle` was initialised, and stays valid until it is closed; `path` is null, or a text that ends by a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_poll_start(
    handle: *mut uv_fs_poll_t,
    poll_cb: uv_fs_poll_cb,
    path: *const c_char,
    interval: c_uint,
) -> c_int {
    if path.is_null() {
        return Errno::EINVAL.code();
    }
    #[cfg(not(miri))]
    crate::dl::stay_loaded();
    let interval = u64::from(interval.max(1)) * MILLISECOND;
    // SAFETY: the handle was initialised, and the path is a text.
    unsafe {
        let path = CStr::from_ptr(path);
        match with_open(handle.cast(), |core, key| core.fs_poll_start(key, path, interval)) {
            Ok(true) => (*handle).poll_cb = poll_cb,
            Ok(false) => {}
            Err(error) => return error.code(),
        }
    }
    0
}

/// Stops looking. Stopped is stopped: again does nothing.
///
/// UV_EINVAL for a zero handle.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_poll_stop(handle: *mut uv_fs_poll_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { handle::stop(handle.cast(), |core, key| core.fs_poll_stop(key)) }
}

/// The path that is looked at, as it was given; `*size` is the room for it, and then its length.
///
/// Errors are those of [`uv_fs_event_getpath`](crate::uv_fs_event_getpath).
///
/// # Safety
/// `handle` was initialised, or is zero; `buffer` points to `*size` bytes, or one of the two is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_poll_getpath(
    handle: *mut uv_fs_poll_t,
    buffer: *mut c_char,
    size: *mut usize,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { path(handle.cast(), buffer, size, Loop::fs_poll_path) }
}

/// A file has changed, of which the core knows more.
///
/// # Safety
/// `handle` is valid: an event of it has just come from the core of `loop_`.
#[inline(never)] // Its caller is for all that happens.
pub(crate) unsafe fn changed(loop_: *mut uv_loop_t, handle: *mut uv_fs_poll_t, result: Result<()>) {
    // SAFETY: the handle is valid until its callback. Both findings lie here until that returns.
    unsafe {
        let key = handle::key(handle.cast());
        let change = with(loop_, |core| core.fs_poll_change(key));
        let stat = |found: Option<_>| found.map_or(uv_stat_t::ZERO, uv_stat_t::from);
        let previous = stat(change.and_then(|change| change.previous));
        let current = stat(change.and_then(|change| change.current));
        if let Some(cb) = (*handle).poll_cb {
            cb(handle, code(result), &raw const previous, &raw const current);
        }
    }
}
