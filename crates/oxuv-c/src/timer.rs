//! Timers. C counts in milliseconds, the core in nanoseconds.

use std::ffi::c_int;

use oxuv_core::Errno;

use crate::error::ignored;
use crate::handle::{self, with_open};
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
        (*timer).due = 0;
        (*timer).repeat = 0;
    }
    0
}

/// Starts a timer, or starts it anew: due in `timeout` milliseconds, and then every `repeat` milliseconds unless that
/// is 0.
///
/// UV_EINVAL without a callback, and for a closing or zero timer.
///
/// # Safety
/// `timer` was initialised, or is zero, and stays valid until it is closed.
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
    // SAFETY: a timer that was started is memory to write to.
    unsafe {
        let (due_in, every) = (nanoseconds(timeout), nanoseconds(repeat));
        let started = with_open(timer.cast(), |core, key| {
            core.timer_start(key, due_in, every)?;
            Ok(core.time() / MILLISECOND)
        });
        match started {
            Ok(now) => {
                (*timer).timer_cb = cb;
                (*timer).due = now.saturating_add(timeout);
                (*timer).repeat = repeat;
                0
            }
            Err(error) => error.code(),
        }
    }
}

/// Stops a timer. Stopped is stopped: again does nothing, nor does it for a closed one.
///
/// UV_EINVAL for a zero timer.
///
/// # Safety
/// `timer` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_stop(timer: *mut uv_timer_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { handle::stop(timer.cast(), |core, key| core.timer_stop(key)) }
}

/// Starts a repeating timer anew, due after its repeat. Nothing happens if it does not repeat, or is closing.
///
/// UV_EINVAL for a timer that was never started.
///
/// # Safety
/// `timer` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_again(timer: *mut uv_timer_t) -> c_int {
    // SAFETY: an initialised timer is memory to write to, and a zero one has no callback.
    unsafe {
        if (*timer).timer_cb.is_none() {
            return Errno::EINVAL.code();
        }
        let again = with_open(timer.cast(), |core, key| {
            core.timer_again(key)?;
            Ok(core.time() / MILLISECOND)
        });
        if let (Ok(now), 1..) = (again, (*timer).repeat) {
            (*timer).due = now.saturating_add((*timer).repeat);
        }
    }
    0
}

/// Sets the repeat in milliseconds. It acts when the timer is next due, and does not start it.
///
/// # Safety
/// `timer` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_set_repeat(timer: *mut uv_timer_t, repeat: u64) {
    // SAFETY: a handle's memory is there to be written to. Of a closed timer the core has nothing to note.
    unsafe {
        let set = with_open(timer.cast(), |core, key| core.timer_set_repeat(key, nanoseconds(repeat)));
        if set.is_err() {
            ignored("uv_timer_set_repeat", "the timer is closing, or was never initialised");
        }
        (*timer).repeat = repeat;
    }
}

/// The repeat in milliseconds, as it was given.
///
/// # Safety
/// `timer` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_get_repeat(timer: *const uv_timer_t) -> u64 {
    // SAFETY: the caller says that the field has a value.
    unsafe { (*timer).repeat }
}

/// The milliseconds from the loop's time until the timer is due, or was when it was last started; 0 when that is past,
/// and for a timer that is closing or was never started.
///
/// # Safety
/// `timer` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_timer_get_due_in(timer: *const uv_timer_t) -> u64 {
    // SAFETY: the caller says that the fields have a value.
    unsafe {
        let asked = with_open(timer.cast(), |core, key| {
            let (due_in, now) = (core.timer_due_in(key)?, core.time());
            Ok((due_in, now, due_in == u64::MAX - now))
        });
        match asked {
            Ok((due_in, _, false)) => due_in / MILLISECOND,
            // Beyond what the core can count. The program's own number is good, but for a timer that its repeat has
            // started: how long ago that was is not known.
            Ok((_, now, true)) => match (*timer).due.saturating_sub(now / MILLISECOND) {
                0 => (*timer).repeat,
                due_in => due_in,
            },
            Err(_) => 0,
        }
    }
}
