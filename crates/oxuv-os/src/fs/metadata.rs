//! What is known of a file.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, SystemTime};

use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, Statx, StatxFlags, StatxTimestamp};
use rustix::fs::{makedev, openat2, statx};

use super::retry;
use crate::{Errno, Result};

/// A point in time, counted from the beginning of 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Seconds; negative before 1970.
    pub seconds: i64,
    /// And so many nanoseconds later, below a thousand millions.
    pub nanoseconds: u32,
}

impl From<Time> for SystemTime {
    fn from(time: Time) -> SystemTime {
        let whole = Duration::from_secs(time.seconds.unsigned_abs());
        let second = if time.seconds < 0 { SystemTime::UNIX_EPOCH - whole } else { SystemTime::UNIX_EPOCH + whole };
        second + Duration::from_nanos(time.nanoseconds.into())
    }
}

impl From<StatxTimestamp> for Time {
    fn from(time: StatxTimestamp) -> Time {
        Time { seconds: time.tv_sec, nanoseconds: time.tv_nsec }
    }
}

/// What is known of a file, with the names of the standard library's `MetadataExt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// The device that it is on.
    pub dev: u64,
    /// Its number there.
    pub ino: u64,
    /// Its kind and permissions.
    pub mode: u32,
    /// How many names it has.
    pub nlink: u64,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// The device that it stands for, if it does.
    pub rdev: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The bytes that are good to read and write at once.
    pub blksize: u64,
    /// What it takes on the disk, in units of 512 bytes.
    pub blocks: u64,
    /// When it was last read.
    pub accessed: Time,
    /// When its bytes last changed.
    pub modified: Time,
    /// When anything here last changed.
    pub changed: Time,
    /// When it was made. 0 where the file system does not know, and the last change where the kernel does not.
    pub created: Time,
}

impl Metadata {
    /// Whether it is a plain file.
    pub fn is_file(&self) -> bool {
        FileType::from_raw_mode(self.mode).is_file()
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        FileType::from_raw_mode(self.mode).is_dir()
    }

    /// Whether it is a symbolic link.
    pub fn is_symlink(&self) -> bool {
        FileType::from_raw_mode(self.mode).is_symlink()
    }
}

impl From<Statx> for Metadata {
    fn from(found: Statx) -> Metadata {
        Metadata {
            dev: makedev(found.stx_dev_major, found.stx_dev_minor),
            ino: found.stx_ino,
            mode: found.stx_mode.into(),
            nlink: found.stx_nlink.into(),
            uid: found.stx_uid,
            gid: found.stx_gid,
            rdev: makedev(found.stx_rdev_major, found.stx_rdev_minor),
            size: found.stx_size,
            blksize: found.stx_blksize.into(),
            blocks: found.stx_blocks,
            accessed: found.stx_atime.into(),
            modified: found.stx_mtime.into(),
            changed: found.stx_ctime.into(),
            created: found.stx_btime.into(),
        }
    }
}

impl From<Stat> for Metadata {
    fn from(found: Stat) -> Metadata {
        // The types differ from one processor to the other; none is larger than what it becomes.
        let time = |seconds, nanoseconds| Time { seconds, nanoseconds };
        let changed = time(found.st_ctime, found.st_ctime_nsec as u32);
        Metadata {
            dev: found.st_dev,
            ino: found.st_ino,
            mode: found.st_mode,
            nlink: wide(found.st_nlink),
            uid: found.st_uid,
            gid: found.st_gid,
            rdev: found.st_rdev,
            size: found.st_size as u64,
            blksize: found.st_blksize as u64,
            blocks: found.st_blocks as u64,
            accessed: time(found.st_atime, found.st_atime_nsec as u32),
            modified: time(found.st_mtime, found.st_mtime_nsec as u32),
            changed,
            created: changed,
        }
    }
}

/// A number that has as many bits as this on some processors only.
fn wide(number: impl Into<u64>) -> u64 {
    number.into()
}

/// What is known of a file; of a symbolic link it is what it leads to.
///
/// # Errors
/// ENOENT, EACCES, ENOTDIR, ELOOP, ENAMETOOLONG.
#[doc(alias = "uv_fs_stat")]
pub fn metadata(path: &CStr) -> Result<Metadata> {
    ask(CWD, path, AtFlags::empty()).unwrap_or_else(|| Ok(retry(|| fs::stat(path))?.into()))
}

/// As [`metadata`], and of a symbolic link it is the link itself.
///
/// # Errors
/// As [`metadata`].
#[doc(alias = "uv_fs_lstat")]
pub fn link_metadata(path: &CStr) -> Result<Metadata> {
    ask(CWD, path, AtFlags::SYMLINK_NOFOLLOW).unwrap_or_else(|| Ok(retry(|| fs::lstat(path))?.into()))
}

/// As [`metadata`], of an open file.
///
/// # Errors
/// EBADF.
#[doc(alias = "uv_fs_fstat")]
pub fn file_metadata(fd: BorrowedFd<'_>) -> Result<Metadata> {
    ask(fd, c"", AtFlags::EMPTY_PATH).unwrap_or_else(|| Ok(retry(|| fs::fstat(fd))?.into()))
}

/// As [`metadata`], or with `is_link` as [`link_metadata`], where that waits for nothing: all names on the way are in the
/// kernel's cache, and the file system is one that keeps what it knows of an open file in memory. `None` where it may take longer.
pub fn metadata_at_once(path: &CStr, is_link: bool) -> Option<Result<Metadata>> {
    let way = if is_link { OFlags::NOFOLLOW } else { OFlags::empty() };
    // Such a descriptor is a name for the file; the file itself is not opened, and need not be readable.
    let found = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC | way, Mode::empty(), ResolveFlags::CACHED);
    match found {
        Ok(file) if is_quick(file.as_fd()) => ask(file.as_fd(), c"", AtFlags::EMPTY_PATH),
        Err(rustix::io::Errno::NOENT) => Some(Err(Errno::ENOENT)),
        // What else may be wrong is found out by those who can wait.
        _ => None,
    }
}

/// As [`file_metadata`], where that waits for nothing, or `None`.
pub fn file_metadata_at_once(file: BorrowedFd<'_>) -> Option<Result<Metadata>> {
    if is_quick(file) { ask(file, c"", AtFlags::EMPTY_PATH) } else { None }
}

/// Whether the file system answers from memory. Those across a network, and those that programs make, may not.
fn is_quick(file: BorrowedFd<'_>) -> bool {
    const BTRFS: u64 = 0x9123_683e;
    const EXT: u64 = 0xef53;
    const F2FS: u64 = 0xf2f5_2010;
    const OVERLAY: u64 = 0x794c_7630;
    const TMPFS: u64 = 0x0102_1994;
    const XFS: u64 = 0x5846_5342;
    // The type of this number differs from one processor to the other; 32 bits of it count.
    fs::fstatfs(file)
        .is_ok_and(|found| matches!(found.f_type as u64 & 0xffff_ffff, BTRFS | EXT | F2FS | OVERLAY | TMPFS | XFS))
}

/// Asks by the call that knows most. `None` where it is not to be had: an old kernel has none, filters answer EPERM,
/// and some file systems EINVAL or EOPNOTSUPP.
fn ask(directory: BorrowedFd<'_>, path: &CStr, flags: AtFlags) -> Option<Result<Metadata>> {
    let what = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    match retry(|| statx(directory, path, flags, what)) {
        Ok(found) => Some(Ok(found.into())),
        Err(Errno::ENOSYS | Errno::EPERM | Errno::EINVAL | Errno::ENOTSUP) => None,
        Err(error) => Some(Err(error)),
    }
}
