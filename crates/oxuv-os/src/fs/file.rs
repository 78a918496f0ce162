//! Open files: their size, and what of them is on the disk.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};

use rustix::fs::{self, Mode, OFlags};

use super::{retry, retry_c};
use crate::{Errno, Result};

/// Opens a file. `flags` and `mode` are the system's numbers; the descriptor is close-on-exec in any case.
///
/// # Errors
/// ENOENT, EACCES, EEXIST, EISDIR, EMFILE and the other ones of `open`.
#[doc(alias = "uv_fs_open")]
pub fn open(path: &CStr, flags: i32, mode: u32) -> Result<OwnedFd> {
    let flags = OFlags::from_bits_retain(flags as u32) | OFlags::CLOEXEC;
    retry(|| fs::open(path, flags, Mode::from_bits_retain(mode)))
}

/// Closes a file, and says what dropping it would hide: that something written before is lost. It is closed in any
/// case.
///
/// # Errors
/// EBADF when foreign hands have closed it; EIO, ENOSPC, EDQUOT.
#[doc(alias = "uv_fs_close")]
pub fn close(fd: OwnedFd) -> Result<()> {
    // SAFETY: the descriptor is ours alone, and is used no more.
    let closed = unsafe { libc::close(fd.into_raw_fd()) };
    if closed == 0 {
        return Ok(());
    }
    match Errno::from_raw(errno::errno().0) {
        // Linux has closed it by then; a second time would hit whoever was given the number.
        Errno::EINTR | Errno::EINPROGRESS => Ok(()),
        error => Err(error),
    }
}

/// Waits until all of a file is on the disk.
///
/// # Errors
/// EIO, ENOSPC, EDQUOT, EBADF; EINVAL for what is on no disk.
#[doc(alias = "uv_fs_fsync")]
pub fn sync_all(fd: BorrowedFd<'_>) -> Result<()> {
    retry(|| fs::fsync(fd))
}

/// As [`sync_all`], but for what is not needed to read the bytes again, as the times.
///
/// # Errors
/// As [`sync_all`].
#[doc(alias = "uv_fs_fdatasync")]
pub fn sync_data(fd: BorrowedFd<'_>) -> Result<()> {
    retry(|| fs::fdatasync(fd))
}

/// Makes a file so many bytes long, cutting off or adding zeros.
///
/// # Errors
/// EINVAL for a negative length and what is no file that can be written; EFBIG, EBADF, EPERM.
#[doc(alias = "uv_fs_ftruncate")]
pub fn truncate(fd: BorrowedFd<'_>, length: i64) -> Result<()> {
    // SAFETY: numbers only.
    retry_c(|| unsafe { libc::ftruncate64(fd.as_raw_fd(), length) })?;
    Ok(())
}
