//! Timers. C counts in milliseconds, the core in nanoseconds.

use std::ffi::c_int;

use oxuv_core::Errno;

use crate::error::code;
use crate::handle::{self, key};
use crate::loop_::{MILLISECOND, User, with};
use crate::types::{UV_TIMER, uv_loop_t, uv_timer_cb, uv_timer_t};

/// A time beyond what the clock can count never comes, however far beyond.
fn nanoseconds(milliseconds: u64) -> u64 {
    milliseconds.saturating_mul(MILLISECOND)
}

/// Initialises a timer, stopped.
///
/// # Safety
/// `loop_` was initialised; `timer` points to memory for a timer, which holds no open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_init(loop_: *mut uv_loop_t, timer: *mut uv_timer_t) -> c_int {
    // SAFETY: `loop_` has its core since init; `timer` is memory for all the fields written.
    unsafe {
        match with(loop_, |core| core.timer_init(User::of(timer))) {
            Ok(key) => handle::init(timer.cast(), loop_, UV_TIMER, key),
            Err(error) => return error.code(),
        }
        (*timer).timer_cb = None;
        (*timer).repeat = 0;
    }
    0
}

/// Starts a timer, or starts it anew: due in `timeout` milliseconds, and then every `repeat` milliseconds unless that
/// is 0.
///
/// UV_EINVAL without a callback, and for a closing timer.
///
/// # Safety
/// `timer` was initialised, and stays valid until it is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_start(
    timer: *mut uv_timer_t,
    cb: uv_timer_cb,
    timeout: u64,
    repeat: u64,
) -> c_int {
    if cb.is_none() {
        return Errno::EINVAL.code();
    }
    // SAFETY: an initialised timer has its loop and key.
    unsafe {
        let key = key(timer.cast());
        let (due_in, every) = (nanoseconds(timeout), nanoseconds(repeat));
        let started = with((*timer).handle.r#loop, |core| core.timer_start(key, due_in, every));
        if started.is_ok() {
            (*timer).timer_cb = cb;
            (*timer).repeat = repeat;
        }
        code(started)
    }
}

/// Stops a timer. Stopped is stopped: again does nothing.
///
/// # Safety
/// `timer` was initialised on a loop that is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_stop(timer: *mut uv_timer_t) -> c_int {
    // SAFETY: an initialised timer has its loop and key. A stale key is a closed timer, which does not run.
    unsafe {
        let key = key(timer.cast());
        let _ = with((*timer).handle.r#loop, |core| core.timer_stop(key));
    }
    0
}

/// Starts a repeating timer anew, due after its repeat. Nothing happens if it does not repeat.
///
/// UV_EINVAL for a timer that was never started, and for a closing one.
///
/// # Safety
/// `timer` was initialised on a loop that is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_again(timer: *mut uv_timer_t) -> c_int {
    // SAFETY: an initialised timer has its loop and key.
    unsafe {
        let key = key(timer.cast());
        code(with((*timer).handle.r#loop, |core| core.timer_again(key)))
    }
}

/// Sets the repeat in milliseconds. It acts when the timer is next due, and does not start it.
///
/// # Safety
/// `timer` was initialised on a loop that is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_set_repeat(timer: *mut uv_timer_t, repeat: u64) {
    // SAFETY: an initialised timer has its loop and key. For a closed timer the core has nothing to note.
    unsafe {
        let key = key(timer.cast());
        let _ = with((*timer).handle.r#loop, |core| core.timer_set_repeat(key, nanoseconds(repeat)));
        (*timer).repeat = repeat;
    }
}

/// The repeat in milliseconds, as it was given.
///
/// # Safety
/// `timer` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_get_repeat(timer: *const uv_timer_t) -> u64 {
    // SAFETY: init has written the field.
    unsafe { (*timer).repeat }
}
