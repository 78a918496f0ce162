//! Clocks, and sleep.

use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, clock_gettime};

pub use rustix::time::Timespec;

/// Nanoseconds of `CLOCK_MONOTONIC`: since an arbitrary point, never going back, standing still in suspend.
#[doc(alias = "uv_hrtime")]
#[inline]
pub fn now() -> u64 {
    let time = monotonic();
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of `CLOCK_BOOTTIME`: as [`now`], and going on in suspend.
pub fn boot() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// As [`now`], in seconds and nanoseconds.
#[inline]
pub fn monotonic() -> Timespec {
    clock_gettime(ClockId::Monotonic)
}

/// The time of day since 1970, in seconds and nanoseconds. It goes back when somebody sets the clock back, and a
/// clock set to a time before 1970 gives negative seconds.
#[inline]
pub fn realtime() -> Timespec {
    clock_gettime(ClockId::Realtime)
}

/// Sleeps for this time at least, however many signals come.
#[doc(alias = "uv_sleep")]
pub fn sleep(time: Duration) {
    // Of a point in time that cannot be counted, the farthest that can is as good.
    let farthest = Timespec { tv_sec: i64::MAX, tv_nsec: 999_999_999 };
    let length = Timespec::try_from(time).unwrap_or(farthest);
    let end = monotonic().checked_add(length).unwrap_or(farthest);
    while clock_nanosleep_absolute(ClockId::Monotonic, &end) == Err(Errno::INTR) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_never_short() {
        for milliseconds in [0, 1, 20] {
            let begin = now();
            sleep(Duration::from_millis(milliseconds));
            assert!(now() - begin >= milliseconds * 1_000_000);
        }
    }

    #[test]
    fn what_counts_suspended_time_is_ahead() {
        let before = now();
        let boot = boot();
        assert!(boot >= before && super::boot() >= boot);
    }

    #[test]
    fn the_time_of_day_is_the_standard_librarys() {
        let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let now = Duration::try_from(realtime()).unwrap();
        assert!(now >= before && now - before < Duration::from_secs(60));
    }
}
