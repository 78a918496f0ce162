//! Copying a file.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FileType, fstatfs, ioctl_ficlone};

use super::send::send_by_hand;
use super::{
    MAX_BYTES, Metadata, NewTime, Time, close, file_metadata, open, remove_file, retry, send, set_file_mode,
    set_file_owner, set_file_times, truncate,
};
use crate::{Errno, Result};

/// How a file is copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyFlags {
    /// Only to a name that nothing has yet.
    pub exclusive: bool,
    /// So that both share the disk's blocks until one is changed, where the file system can do that.
    pub clone: bool,
    /// The same, or not at all.
    pub force_clone: bool,
}

/// Copies a file with its permissions and, where that is allowed, its owner. A file that bore the new name is
/// overwritten, unless it is the same file: then nothing happens. A copy that fails half-way is removed.
///
/// # Errors
/// EEXIST for `exclusive`; EOPNOTSUPP, EXDEV, EINVAL or ENOTTY for `force_clone` where that cannot be done; those of
/// opening, reading and writing.
#[doc(alias = "uv_fs_copyfile")]
pub fn copy(path: &CStr, new_path: &CStr, flags: CopyFlags) -> Result<()> {
    let from = open(path, libc::O_RDONLY, 0)?;
    let copied = copy_from(from.as_fd(), new_path, flags);
    // Not by dropping it, which ends the process if foreign hands have closed it.
    let _ = close(from);
    copied
}

fn copy_from(from: BorrowedFd<'_>, new_path: &CStr, flags: CopyFlags) -> Result<()> {
    let about = file_metadata(from)?;
    let exclusive = if flags.exclusive { libc::O_EXCL } else { 0 };
    let to = open(new_path, libc::O_WRONLY | libc::O_CREAT | exclusive, about.mode)?;
    let copied = copy_between(from, &about, to.as_fd(), flags).and(close(to));
    if copied.is_err() {
        // It is the first error that counts.
        let _ = remove_file(new_path);
    }
    copied
}

fn copy_between(from: BorrowedFd<'_>, about: &Metadata, to: BorrowedFd<'_>, flags: CopyFlags) -> Result<()> {
    let before = file_metadata(to)?;
    if (about.dev, about.ino) == (before.dev, before.ino) {
        return Ok(());
    }
    // An empty one is left alone: some file systems refuse this for a file just made without write permission.
    if before.size > 0 {
        truncate(to, 0)?;
    }
    // What follows is as good as it can be had.
    let _ = set_file_times(to, at(about.accessed), at(about.modified));
    let _ = set_file_owner(to, about.uid, about.gid);
    match set_file_mode(to, about.mode) {
        // Most Windows shares have no permissions to be set.
        Err(Errno::EPERM) if is_windows_share(to) => {}
        done => done?,
    }
    if flags.clone || flags.force_clone {
        match retry(|| ioctl_ficlone(to, from)) {
            Ok(()) => return Ok(()),
            Err(error) if flags.force_clone => return Err(error),
            Err(_) => {}
        }
    }
    copy_bytes(from, about, to)
}

fn at(time: Time) -> NewTime {
    NewTime::At(time.seconds, time.nanoseconds)
}

/// Copies as many bytes as the file had when it was opened. Files of the kernel's do not say their size: of these it is
/// what there is to be read.
fn copy_bytes(from: BorrowedFd<'_>, about: &Metadata, to: BorrowedFd<'_>) -> Result<()> {
    if about.size == 0 && FileType::from_raw_mode(about.mode).is_file() {
        send_by_hand(to, from, 0, usize::MAX)?;
        return Ok(());
    }
    let mut copied = 0;
    while copied < about.size {
        let chunk = (about.size - copied).min(MAX_BYTES as u64) as usize;
        match send(to, from, i64::try_from(copied).map_err(|_| Errno::EFBIG)?, chunk)? {
            // It was cut meanwhile.
            0 => break,
            sent => copied += sent as u64,
        }
    }
    Ok(())
}

fn is_windows_share(fd: BorrowedFd<'_>) -> bool {
    const SMB: u32 = 0x517b;
    const SMB2: u32 = 0xfe53_4d42;
    const CIFS: u32 = 0xff53_4d42;
    fstatfs(fd).is_ok_and(|found| [SMB, SMB2, CIFS].contains(&(found.f_type as u32)))
}
