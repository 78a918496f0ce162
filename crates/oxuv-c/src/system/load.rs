//! How long the system has been up, and how busy it is.

use std::ffi::{c_double, c_int};

use oxuv_core::Errno;
use oxuv_os::system::load;

/// Seconds since the system was started; in a container whose /proc says so, since that was.
///
/// UV_EINVAL for null.
///
/// # Safety
/// `uptime` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_uptime(uptime: *mut c_double) -> c_int {
    if uptime.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the caller has a place for the result.
    unsafe { uptime.write(load::uptime()) };
    0
}

/// How many threads wanted to run, on average over the last 1, 5 and 15 minutes. If the system does not say, nothing is
/// written.
///
/// # Safety
/// `avg` is null or points to memory for three numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loadavg(avg: *mut c_double) {
    match load::average() {
        // SAFETY: the caller has memory for three.
        Ok(average) if !avg.is_null() => unsafe { avg.cast::<[c_double; 3]>().write(average) },
        _ => {}
    }
}
