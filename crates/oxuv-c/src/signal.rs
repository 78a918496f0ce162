//! Signal handles: signals that the process catches.

use std::ffi::{c_int, c_uint};

use oxuv_core::Key;

use crate::error::code;
use crate::handle::{self, with_open};
use crate::loop_::{User, with};
use crate::types::{uv_handle_t, uv_handle_type, uv_loop_t};

/// Called with the number when the process has caught the signal.
pub type uv_signal_cb = Option<unsafe extern "C-unwind" fn(*mut uv_signal_t, c_int)>;

/// A signal handle.
pub const UV_SIGNAL: uv_handle_type = 16;

/// Calls a callback when the process gets a signal.
#[repr(C)]
pub struct uv_signal_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    pub(crate) signal_cb: uv_signal_cb,
    /// The signal that it waits for, 0 while it is stopped.
    pub signum: c_int,
    _tree_entry: [usize; 4],
    _caught_signals: c_uint,
    _dispatched_signals: c_uint,
}

/// Initialises a signal handle, stopped. No descriptor is needed for it.
///
/// UV_ENOMEM.
///
/// # Safety
/// `loop_` was initialised; `signal` points to memory for a signal handle, which holds no open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_signal_init(loop_: *mut uv_loop_t, signal: *mut uv_signal_t) -> c_int {
    // SAFETY: `loop_` has its core since init; `signal` is memory for all the fields written.
    unsafe {
        match with(loop_, |core| core.signal_init(User::of(signal))) {
            Ok(key) => handle::init(signal.cast(), loop_, UV_SIGNAL, key),
            Err(error) => return error.code(),
        }
        (*signal).signal_cb = None;
        (*signal).signum = 0;
    }
    0
}

/// Waits for a signal, in place of the one that the handle waits for so far: `cb` is called once for each time that the
/// process catches it, at the end of what a turn has to tell. Any number of handles of any loops may wait for the same
/// one. When the last of them stops, the action from before the first one started is put back, unless the program has set
/// another one meanwhile.
///
/// UV_EINVAL for a closing or zero handle, for what is no signal, and for SIGKILL and SIGSTOP; UV_ENOMEM. The handle stays as
/// it was.
///
/// # Safety
/// `signal` was initialised, or is zero, and stays valid until it is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_signal_start(signal: *mut uv_signal_t, cb: uv_signal_cb, signum: c_int) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { start(signal, cb, signum, false) }
}

/// As [`uv_signal_start`], for one call, after which the handle is stopped. If all handles that wait for the signal were
/// started so, its action is the default one from the moment on that it is caught.
///
/// As [`uv_signal_start`].
///
/// # Safety
/// As for [`uv_signal_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_signal_start_oneshot(
    signal: *mut uv_signal_t,
    cb: uv_signal_cb,
    signum: c_int,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { start(signal, cb, signum, true) }
}

/// # Safety
/// As for [`uv_signal_start`].
unsafe fn start(signal: *mut uv_signal_t, cb: uv_signal_cb, signum: c_int, once: bool) -> c_int {
    // The process is going to have a handler in this library.
    #[cfg(not(miri))]
    crate::dl::stay_loaded();
    // SAFETY: a handle that was started is memory to write to.
    unsafe {
        let started = with_open(signal.cast(), |core, key| core.signal_start(key, signum, once));
        if started.is_ok() {
            (*signal).signal_cb = cb;
            (*signal).signum = signum;
        }
        code(started)
    }
}

/// Stops a signal handle: its callback is not called any more, not even for what was caught before. Stopped is stopped:
/// again does nothing.
///
/// UV_EINVAL for a zero handle.
///
/// # Safety
/// `signal` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_signal_stop(signal: *mut uv_signal_t) -> c_int {
    // SAFETY: the same is asked of our caller; what was initialised is memory to write to.
    unsafe {
        let stopped = handle::stop(signal.cast(), |core, key| core.signal_stop(key));
        if stopped == 0 {
            (*signal).signum = 0;
        }
        stopped
    }
}

/// The core says that a signal was caught: calls the callback.
///
/// # Safety
/// `signal` is open under `key`, and its event, the last one of `loop_`, has just come.
#[inline(never)] // Its caller is for all that happens.
pub(crate) unsafe fn call(loop_: *mut uv_loop_t, key: Key, signal: *mut uv_signal_t, number: c_int) {
    // SAFETY: the handle is valid until its callback, which may do with it what it likes. It is valid still if the loop
    // knows its key.
    unsafe {
        if let Some(cb) = (*signal).signal_cb {
            cb(signal, number);
        }
        let told = with(loop_, |core| {
            core.end_one_shot();
            core.signal_number(key)
        });
        if let Ok(number) = told {
            (*signal).signum = number;
        }
    }
}
