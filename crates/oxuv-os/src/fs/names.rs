//! What is done to names: making, removing, renaming, permissions, owners.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{self, Access, AtFlags, CWD, Gid, Mode, Uid};

use super::retry;
use crate::Result;

/// Removes a name. The file goes when nothing has it open any more.
///
/// # Errors
/// ENOENT, EACCES, EPERM, EISDIR, EBUSY.
#[doc(alias = "uv_fs_unlink")]
pub fn remove_file(path: &CStr) -> Result<()> {
    retry(|| fs::unlink(path))
}

/// Makes a directory with these permissions, less the process's mask.
///
/// # Errors
/// EEXIST, ENOENT, EACCES, ENOSPC, EROFS.
#[doc(alias = "uv_fs_mkdir")]
pub fn make_directory(path: &CStr, mode: u32) -> Result<()> {
    retry(|| fs::mkdir(path, Mode::from_bits_retain(mode)))
}

/// Removes an empty directory.
///
/// # Errors
/// ENOTEMPTY, ENOENT, ENOTDIR, EACCES, EBUSY; EINVAL for `.`.
#[doc(alias = "uv_fs_rmdir")]
pub fn remove_directory(path: &CStr) -> Result<()> {
    retry(|| fs::rmdir(path))
}

/// Gives a file or directory another name. What bore that one is gone.
///
/// # Errors
/// EXDEV when that would be another file system; ENOENT, EACCES, ENOTEMPTY, EISDIR, ENOTDIR.
#[doc(alias = "uv_fs_rename")]
pub fn rename(path: &CStr, new_path: &CStr) -> Result<()> {
    retry(|| fs::rename(path, new_path))
}

/// Asks whether the process's real user may do this to a file: bits 4 to read, 2 to write, 1 to execute; 0 whether it
/// is there.
///
/// # Errors
/// EACCES, ENOENT, EROFS; EINVAL for other bits.
#[doc(alias = "uv_fs_access")]
pub fn access(path: &CStr, mode: i32) -> Result<()> {
    retry(|| fs::access(path, Access::from_bits_retain(mode)))
}

/// Sets the permissions.
///
/// # Errors
/// EPERM, ENOENT, EROFS.
#[doc(alias = "uv_fs_chmod")]
pub fn set_mode(path: &CStr, mode: u32) -> Result<()> {
    retry(|| fs::chmod(path, Mode::from_bits_retain(mode)))
}

/// Sets the permissions of an open file.
///
/// # Errors
/// EPERM, EBADF, EROFS.
#[doc(alias = "uv_fs_fchmod")]
pub fn set_file_mode(fd: BorrowedFd<'_>, mode: u32) -> Result<()> {
    retry(|| fs::fchmod(fd, Mode::from_bits_retain(mode)))
}

/// Sets owner and group. `u32::MAX` leaves one as it is.
///
/// # Errors
/// EPERM, ENOENT, EROFS.
#[doc(alias = "uv_fs_chown")]
pub fn set_owner(path: &CStr, owner: u32, group: u32) -> Result<()> {
    retry(|| fs::chownat(CWD, path, user(owner), self::group(group), AtFlags::empty()))
}

/// As [`set_owner`], of an open file.
///
/// # Errors
/// EPERM, EBADF, EROFS.
#[doc(alias = "uv_fs_fchown")]
pub fn set_file_owner(fd: BorrowedFd<'_>, owner: u32, group: u32) -> Result<()> {
    retry(|| fs::fchown(fd, user(owner), self::group(group)))
}

/// As [`set_owner`], and of a symbolic link it is the link's own.
///
/// # Errors
/// As [`set_owner`].
#[doc(alias = "uv_fs_lchown")]
pub fn set_link_owner(path: &CStr, owner: u32, group: u32) -> Result<()> {
    retry(|| fs::chownat(CWD, path, user(owner), self::group(group), AtFlags::SYMLINK_NOFOLLOW))
}

fn user(number: u32) -> Option<Uid> {
    (number != u32::MAX).then(|| Uid::from_raw(number))
}

fn group(number: u32) -> Option<Gid> {
    (number != u32::MAX).then(|| Gid::from_raw(number))
}
