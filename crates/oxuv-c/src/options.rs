//! A loop's options, and what it counts of itself.

use std::ffi::{c_int, c_uint};

use oxuv_core::{Errno, Metrics};

use crate::error::code;
use crate::loop_::{ask, kernel, with};
use crate::types::uv_loop_t;

/// `uv_loop_option`: what [`uv_loop_configure`] is about.
pub type uv_loop_option = c_uint;
/// A signal is blocked while the loop waits.
pub const UV_LOOP_BLOCK_SIGNAL: uv_loop_option = 0;
/// The loop measures how long it waits.
pub const UV_METRICS_IDLE_TIME: uv_loop_option = 1;
/// Operations on files may go through an io_uring. There is no polling thread, whatever the name says.
pub const UV_LOOP_USE_IO_URING_SQPOLL: uv_loop_option = 2;

/// What a loop has counted since its init.
#[derive(Debug)]
#[repr(C)]
pub struct uv_metrics_t {
    /// Turns that have begun.
    pub loop_count: u64,
    /// Events of the kernel that concerned a handle. Those of a batch count when it is worked off.
    pub events: u64,
    /// Those of them that were there already when the loop began to wait; counted with `UV_METRICS_IDLE_TIME` only.
    pub events_waiting: u64,
    reserved: [usize; 13],
}

/// Sets an option of a loop. `argument` is the signal for `UV_LOOP_BLOCK_SIGNAL`, and only SIGPROF will do: a sampling
/// profiler need not wake a loop that waits. `UV_LOOP_USE_IO_URING_SQPOLL` has
/// operations on files done by io_uring, unless the environment's `UV_USE_IO_URING` is 0; without a polling thread.
///
/// UV_EINVAL for another signal, and for a closed loop; UV_ENOSYS for an unknown option.
///
/// In C this function takes `...`, which stable Rust cannot define. On x86-64 and on aarch64 Linux such a call puts the
/// third argument into the same register as one to a function with three. Without one there is no telling what the
/// register holds, so it is looked at only where an argument must have been given.
///
/// # Safety
/// `loop_` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_configure(
    loop_: *mut uv_loop_t,
    option: uv_loop_option,
    argument: c_int,
) -> c_int {
    // SAFETY: `loop_` was initialised.
    code(unsafe {
        with(loop_, |core| {
            match option {
                UV_METRICS_IDLE_TIME => core.measure_idle_time(),
                UV_LOOP_USE_IO_URING_SQPOLL => kernel::use_ring(core.kernel_mut()),
                UV_LOOP_BLOCK_SIGNAL if argument == libc::SIGPROF => kernel::block_sigprof(core.kernel_mut()),
                UV_LOOP_BLOCK_SIGNAL => return Err(Errno::EINVAL),
                _ => return Err(Errno::ENOSYS),
            }
            Ok(())
        })
    })
}

/// The nanoseconds that a loop with `UV_METRICS_IDLE_TIME` has waited for events, a wait under way included. From any
/// thread.
///
/// # Safety
/// `loop_` was initialised, and is not being closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_metrics_idle_time(loop_: *mut uv_loop_t) -> u64 {
    // SAFETY: the pointer is written by init and close only, and what it points to, which is as old as the core, is made
    // to be looked at while the loop is in use.
    unsafe {
        let idle_time = (*loop_).idle_time;
        if idle_time.is_null() { 0 } else { (*idle_time).at(kernel::now()) }
    }
}

/// What a loop has counted.
///
/// UV_EINVAL for a closed loop, or without a place for the counts.
///
/// # Safety
/// `loop_` was initialised; `metrics` is null or memory to write to.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_metrics_info(loop_: *mut uv_loop_t, metrics: *mut uv_metrics_t) -> c_int {
    // SAFETY: `loop_` was initialised; the place was looked at.
    unsafe {
        match ask(loop_, |core| Ok(core.metrics())) {
            Ok(Metrics { turns, events, events_waiting }) if !metrics.is_null() => {
                metrics.write(uv_metrics_t { loop_count: turns, events, events_waiting, reserved: [0; 13] });
                0
            }
            _ => Errno::EINVAL.code(),
        }
    }
}
