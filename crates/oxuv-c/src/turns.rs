//! Running a loop, and what there is to ask and tell about that.

use std::ffi::c_int;

use oxuv_core::{Errno, Mode};

use crate::loop_::{MILLISECOND, ask, with};
use crate::types::{UV_RUN_DEFAULT, UV_RUN_NOWAIT, UV_RUN_ONCE, uv_loop_t, uv_run_mode};

/// Runs a loop's callbacks until nothing is left to do, until stopped, or for one turn. Not 0 if something is still
/// alive, or a negative error if the kernel will not let this loop wait any more. A closed loop has nothing to do.
///
/// UV_EINVAL for an unknown mode.
///
/// # Safety
/// `loop_` was initialised, and what was promised to the functions that started its handles and requests holds.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_run(loop_: *mut uv_loop_t, mode: uv_run_mode) -> c_int {
    let mode = match mode {
        UV_RUN_DEFAULT => Mode::Default,
        UV_RUN_ONCE => Mode::Once,
        UV_RUN_NOWAIT => Mode::NoWait,
        _ => return Errno::EINVAL.code(),
    };
    // SAFETY: passed on to our caller word for word.
    match unsafe { crate::run::run(loop_, mode) } {
        Ok(alive) => alive.into(),
        Err(error) => error.code(),
    }
}

/// Ends the run after this turn; if none is under way, the next one at once.
///
/// # Safety
/// `loop_` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_stop(loop_: *mut uv_loop_t) {
    // SAFETY: an initialised loop is memory to write to; the run looks at the flag when it is back in control.
    unsafe { (*loop_).stop_flag = 1 };
}

/// Not 0 while a run would have something to do.
///
/// # Safety
/// `loop_` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_alive(loop_: *const uv_loop_t) -> c_int {
    // SAFETY: `loop_` was initialised. It is C's way to say that the loop looks the same afterwards, not that its memory
    // could not be written to: what is written are the counts, as they are there.
    unsafe { with(loop_.cast_mut(), |core| Some(core.alive())) == Some(true) }.into()
}

/// The loop's time in milliseconds, read once a turn, from an arbitrary point on.
///
/// # Safety
/// `loop_` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_now(loop_: *const uv_loop_t) -> u64 {
    // SAFETY: `loop_` was initialised.
    unsafe { ask(loop_, |core| Some(core.time() / MILLISECOND)) }.unwrap_or(0)
}

/// Reads the clock anew.
///
/// # Safety
/// `loop_` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_update_time(loop_: *mut uv_loop_t) {
    // SAFETY: `loop_` was initialised.
    unsafe { with(loop_, |core| core.update_time()) }
}

/// The epoll descriptor: readable when a turn would find something to do. -1 for a closed loop.
///
/// # Safety
/// `loop_` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_backend_fd(loop_: *const uv_loop_t) -> c_int {
    // SAFETY: init and close have written the fields, or they are zero.
    unsafe { if (*loop_).core.is_null() { -1 } else { (*loop_).backend_fd } }
}

/// How long a run would wait for events now: in milliseconds, the last one begun counted as a whole; -1 for ever. 0 also
/// while the kernel has not been told of everything that is waited for: that happens in a turn, the first one included.
///
/// # Safety
/// `loop_` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_backend_timeout(loop_: *const uv_loop_t) -> c_int {
    // SAFETY: `loop_` was initialised; its memory may be written to, see `uv_loop_alive`.
    let timeout = unsafe {
        let stop = (*loop_).stop_flag != 0;
        with(loop_.cast_mut(), |core| {
            core.set_stop(stop);
            Some(if core.turns() == 0 { Some(0) } else { core.backend_timeout() })
        })
    };
    match timeout {
        // A wait is no longer than 2^31-1 milliseconds.
        Some(Some(nanoseconds)) => nanoseconds.div_ceil(MILLISECOND) as c_int,
        Some(None) => -1,
        None => 0,
    }
}
