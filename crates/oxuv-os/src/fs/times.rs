//! When a file was last read and changed, set to what one likes.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, futimens, utimensat};

use super::retry;
use crate::Result;

/// What a file's time is set to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NewTime {
    /// The time of the call.
    Now,
    /// What it is.
    Unchanged,
    /// So many seconds and nanoseconds (below a thousand millions) after the beginning of 1970. What is before or
    /// behind what the file system knows becomes the nearest that it does.
    At(i64, u32),
}

impl NewTime {
    /// Seconds as C and JavaScript have them: infinity is now, and what is no number changes nothing.
    #[doc(alias = "UV_FS_UTIME_NOW")]
    #[doc(alias = "UV_FS_UTIME_OMIT")]
    pub fn from_seconds(seconds: f64) -> NewTime {
        if seconds.is_nan() {
            return NewTime::Unchanged;
        }
        if seconds.is_infinite() {
            return NewTime::Now;
        }
        // Both casts saturate. A time before 1970 has its nanoseconds after the second below it.
        let (whole, nanoseconds) = (seconds.trunc() as i64, (seconds.fract() * 1e9) as i64);
        if nanoseconds < 0 {
            NewTime::At(whole.saturating_sub(1), (nanoseconds + 1_000_000_000) as u32)
        } else {
            NewTime::At(whole, nanoseconds as u32)
        }
    }

    fn timespec(self) -> Timespec {
        match self {
            NewTime::Now => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
            NewTime::Unchanged => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            NewTime::At(tv_sec, nanoseconds) => Timespec { tv_sec, tv_nsec: nanoseconds.into() },
        }
    }
}

fn timestamps(accessed: NewTime, modified: NewTime) -> Timestamps {
    Timestamps { last_access: accessed.timespec(), last_modification: modified.timespec() }
}

/// Sets the times of last access and last change.
///
/// # Errors
/// EPERM, EACCES, ENOENT, EROFS; EINVAL for too many nanoseconds.
#[doc(alias = "uv_fs_utime")]
pub fn set_times(path: &CStr, accessed: NewTime, modified: NewTime) -> Result<()> {
    let times = timestamps(accessed, modified);
    retry(|| utimensat(CWD, path, &times, AtFlags::empty()))
}

/// As [`set_times`], and of a symbolic link they are the link's own.
///
/// # Errors
/// As [`set_times`].
#[doc(alias = "uv_fs_lutime")]
pub fn set_link_times(path: &CStr, accessed: NewTime, modified: NewTime) -> Result<()> {
    let times = timestamps(accessed, modified);
    retry(|| utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW))
}

/// As [`set_times`], of an open file.
///
/// # Errors
/// As [`set_times`]; EBADF.
#[doc(alias = "uv_fs_futime")]
pub fn set_file_times(fd: BorrowedFd<'_>, accessed: NewTime, modified: NewTime) -> Result<()> {
    let times = timestamps(accessed, modified);
    retry(|| futimens(fd, &times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_may_be_anything() {
        assert_eq!(NewTime::from_seconds(0.0), NewTime::At(0, 0));
        assert_eq!(NewTime::from_seconds(1.5), NewTime::At(1, 500_000_000));
        assert_eq!(NewTime::from_seconds(-1.5), NewTime::At(-2, 500_000_000));
        assert_eq!(NewTime::from_seconds(-1.0), NewTime::At(-1, 0));
        assert_eq!(NewTime::from_seconds(-1e-20), NewTime::At(0, 0));
        assert_eq!(NewTime::from_seconds(4_294_967_297.5), NewTime::At(4_294_967_297, 500_000_000));
        assert_eq!(NewTime::from_seconds(1e300), NewTime::At(i64::MAX, 0));
        assert_eq!(NewTime::from_seconds(-1e300), NewTime::At(i64::MIN, 0));
        assert_eq!(NewTime::from_seconds(f64::NEG_INFINITY), NewTime::Now);
        assert_eq!(NewTime::from_seconds(f64::NAN), NewTime::Unchanged);
        for seconds in [0.999_999_999_9, -0.999_999_999_9, -0.000_000_000_9, 1e15 + 0.9] {
            let NewTime::At(_, nanoseconds) = NewTime::from_seconds(seconds) else { panic!("{seconds}") };
            assert!(nanoseconds < 1_000_000_000, "{seconds}");
        }
    }
}
