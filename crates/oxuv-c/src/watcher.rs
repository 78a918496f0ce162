//! Idle, prepare and check: the handles that run in each turn.

use std::ffi::{c_int, c_uint};

use oxuv_core::{Errno, Key, Result};

use crate::error::code;
use crate::handle::{self, CLOSING, with_open};
use crate::loop_::{Loop, User, with, with_core};
use crate::types::{
    UV_CHECK, UV_IDLE, UV_PREPARE, uv_check_cb, uv_check_t, uv_handle_type, uv_idle_cb, uv_idle_t, uv_loop_t,
    uv_prepare_cb, uv_prepare_t, uv_watcher_cb, uv_watcher_t,
};

/// Initialises an idle handle, stopped.
///
/// # Safety
/// `loop_` was initialised; `idle` points to memory for a handle, which holds no open one.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_idle_init(loop_: *mut uv_loop_t, idle: *mut uv_idle_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { init(loop_, idle, UV_IDLE, Loop::idle_init) }
}

/// Starts an idle handle. An active one goes on as it is, with the callback it has.
///
/// UV_EINVAL without a callback, and for a closing or zero handle.
///
/// # Safety
/// `idle` was initialised, or is zero, and stays valid until it is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_idle_start(idle: *mut uv_idle_t, cb: uv_idle_cb) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { start(idle, cb) }
}

/// Stops an idle handle. Stopped is stopped: again does nothing, nor does it for a closed one.
///
/// UV_EINVAL for a zero handle.
///
/// # Safety
/// `idle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_idle_stop(idle: *mut uv_idle_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { stop(idle) }
}

/// Initialises a prepare handle, stopped.
///
/// # Safety
/// As for [`uv_idle_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_prepare_init(loop_: *mut uv_loop_t, prepare: *mut uv_prepare_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { init(loop_, prepare, UV_PREPARE, Loop::prepare_init) }
}

/// Starts a prepare handle, in the same way as [`uv_idle_start`].
///
/// # Safety
/// As for [`uv_idle_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_prepare_start(prepare: *mut uv_prepare_t, cb: uv_prepare_cb) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { start(prepare, cb) }
}

/// Stops a prepare handle. Stopped is stopped: again does nothing.
///
/// # Safety
/// As for [`uv_idle_stop`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_prepare_stop(prepare: *mut uv_prepare_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { stop(prepare) }
}

/// Initialises a check handle, stopped.
///
/// # Safety
/// As for [`uv_idle_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_check_init(loop_: *mut uv_loop_t, check: *mut uv_check_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { init(loop_, check, UV_CHECK, Loop::check_init) }
}

/// Starts a check handle, in the same way as [`uv_idle_start`].
///
/// # Safety
/// As for [`uv_idle_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_check_start(check: *mut uv_check_t, cb: uv_check_cb) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { start(check, cb) }
}

/// Stops a check handle. Stopped is stopped: again does nothing.
///
/// # Safety
/// As for [`uv_idle_stop`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_check_stop(check: *mut uv_check_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { stop(check) }
}

/// # Safety
/// As for [`uv_idle_init`].
unsafe fn init(
    loop_: *mut uv_loop_t,
    watcher: *mut uv_watcher_t,
    r#type: uv_handle_type,
    new: fn(&mut Loop, User) -> Result<Key>,
) -> c_int {
    // SAFETY: `loop_` has its core since init; `watcher` is memory for all the fields written.
    unsafe {
        match with(loop_, |core| new(core, User::of(watcher))) {
            Ok(key) => handle::init(watcher.cast(), loop_, r#type, key),
            Err(error) => return error.code(),
        }
        (*watcher).watcher_cb = None;
    }
    0
}

/// Flag of a watcher: it is started. The core knows it, too; but programs start and stop these in each turn, mostly for
/// nothing.
const STARTED: c_uint = 4;

/// # Safety
/// As for [`uv_idle_start`].
#[inline]
unsafe fn start(watcher: *mut uv_watcher_t, cb: uv_watcher_cb) -> c_int {
    // SAFETY: a handle that was started is memory to write to.
    unsafe {
        if (*watcher).handle.flags & (STARTED | CLOSING) == STARTED {
            return 0;
        }
        if cb.is_none() {
            return Errno::EINVAL.code();
        }
        if let Err(error) = with_open(watcher.cast(), |core, key| core.watcher_start(key)) {
            return error.code();
        }
        (*watcher).handle.flags |= STARTED;
        (*watcher).watcher_cb = cb;
    }
    0
}

/// # Safety
/// As for [`uv_idle_stop`].
#[inline]
unsafe fn stop(watcher: *mut uv_watcher_t) -> c_int {
    // SAFETY: a handle that was started is memory to write to.
    unsafe {
        if (*watcher).handle.flags & (STARTED | CLOSING) != STARTED {
            return if (*watcher).handle.key == 0 { Errno::EINVAL.code() } else { 0 };
        }
        (*watcher).handle.flags &= !STARTED;
        // It is open, and so is its loop.
        let key = handle::key(watcher.cast());
        code(with_core((*watcher).handle.r#loop, |core| core.watcher_stop(key)))
    }
}
