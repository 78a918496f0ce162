//! Clocks, and sleep.

use std::ffi::{c_int, c_uint};
use std::time::Duration;

use oxuv_core::Errno;
use oxuv_os::clock;

/// `uv_clock_id`: which clock.
pub type uv_clock_id = c_uint;
/// The clock that `uv_hrtime` and timers go by: from an arbitrary point on, never going back.
pub const UV_CLOCK_MONOTONIC: uv_clock_id = 0;
/// The time of day since 1970.
pub const UV_CLOCK_REALTIME: uv_clock_id = 1;

/// A time to the nanosecond.
#[repr(C)]
pub struct uv_timespec64_t {
    /// Seconds.
    pub tv_sec: i64,
    /// And nanoseconds, less than a second.
    pub tv_nsec: i32,
}

/// A time to the microsecond.
#[repr(C)]
pub struct uv_timeval64_t {
    /// Seconds.
    pub tv_sec: i64,
    /// And microseconds, less than a second.
    pub tv_usec: i32,
}

/// Nanoseconds since an arbitrary point in the past, by a clock that never goes back.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_hrtime() -> u64 {
    clock::now()
}

/// Reads a clock.
///
/// UV_EFAULT when `ts` is null, UV_EINVAL for an unknown clock.
///
/// # Safety
/// `ts` is null or points to memory for a time.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_clock_gettime(clock_id: uv_clock_id, ts: *mut uv_timespec64_t) -> c_int {
    if ts.is_null() {
        return Errno::EFAULT.code();
    }
    let time = match clock_id {
        UV_CLOCK_MONOTONIC => clock::monotonic(),
        UV_CLOCK_REALTIME => clock::realtime(),
        _ => return Errno::EINVAL.code(),
    };
    // SAFETY: not null, hence memory for a time.
    unsafe { ts.write(uv_timespec64_t { tv_sec: time.tv_sec, tv_nsec: time.tv_nsec as i32 }) };
    0
}

/// The time of day since 1970.
///
/// UV_EINVAL when `tv` is null.
///
/// # Safety
/// `tv` is null or points to memory for a time.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_gettimeofday(tv: *mut uv_timeval64_t) -> c_int {
    if tv.is_null() {
        return Errno::EINVAL.code();
    }
    let time = clock::realtime();
    // SAFETY: not null, hence memory for a time.
    unsafe { tv.write(uv_timeval64_t { tv_sec: time.tv_sec, tv_usec: (time.tv_nsec / 1000) as i32 }) };
    0
}

/// Keeps the calling thread asleep for this many milliseconds at least, also when signals come.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_sleep(msec: c_uint) {
    clock::sleep(Duration::from_millis(msec.into()));
}
