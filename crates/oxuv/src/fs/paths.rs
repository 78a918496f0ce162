//! What is done to paths.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use oxuv_core::fs as system;
use oxuv_core::kernel::Call;

use super::call::{self, call};
use super::{CopyFlags, Metadata, NewTime, ask, c_path};
use crate::{LoopRef, Request, Result};

/// What is known of a file; of a symbolic link it is what it leads to.
///
/// # Errors
/// To the closure: ENOENT, EACCES, ENOTDIR, ELOOP.
#[doc(alias = "uv_fs_stat")]
#[track_caller]
pub fn metadata(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<Metadata>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    call(owner, Call::Metadata(path), call::metadata, done)
}

/// As [`metadata`], and of a symbolic link it is the link itself.
///
/// # Errors
/// To the closure: ENOENT, EACCES, ENOTDIR.
#[doc(alias = "uv_fs_lstat")]
#[track_caller]
pub fn symlink_metadata(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<Metadata>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    call(owner, Call::LinkMetadata(path), call::metadata, done)
}

/// Makes a directory, for all whom the process's mask lets.
///
/// # Errors
/// To the closure: EEXIST, ENOENT, EACCES, ENOSPC.
#[doc(alias = "uv_fs_mkdir")]
#[track_caller]
pub fn create_dir(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    call(owner, Call::MakeDirectory(path, 0o777), call::nothing, done)
}

/// Removes an empty directory.
///
/// # Errors
/// To the closure: ENOTEMPTY, ENOENT, ENOTDIR, EACCES, EBUSY.
#[doc(alias = "uv_fs_rmdir")]
#[track_caller]
pub fn remove_dir(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    call(owner, Call::RemoveDirectory(path), call::nothing, done)
}

/// Removes a name. The file goes when nothing has it open any more.
///
/// # Errors
/// To the closure: ENOENT, EACCES, EPERM, EISDIR.
#[doc(alias = "uv_fs_unlink")]
#[track_caller]
pub fn remove_file(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    call(owner, Call::RemoveFile(path), call::nothing, done)
}

/// Gives a file or directory another name. What bore that one is gone.
///
/// # Errors
/// To the closure: EXDEV, ENOENT, EACCES, ENOTEMPTY, EISDIR, ENOTDIR.
#[doc(alias = "uv_fs_rename")]
#[track_caller]
pub fn rename(
    owner: &LoopRef,
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let from = c_path(from)?;
    let to = c_path(to)?;
    call(owner, Call::Rename(from, to), call::nothing, done)
}

/// Copies a file with its permissions. A copy that fails half-way is removed; one onto itself changes nothing.
///
/// # Errors
/// To the closure: EEXIST, ENOENT, EACCES, EISDIR, ENOSPC; as `flags` say.
#[doc(alias = "uv_fs_copyfile")]
#[track_caller]
pub fn copy(
    owner: &LoopRef,
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    flags: CopyFlags,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let from = c_path(from)?;
    let to = c_path(to)?;
    ask(owner, move || system::copy(&from, &to, flags), done)
}

/// Gives a file a second name.
///
/// # Errors
/// To the closure: EEXIST, EXDEV, ENOENT, EPERM, EMLINK.
#[doc(alias = "uv_fs_link")]
#[track_caller]
pub fn hard_link(
    owner: &LoopRef,
    original: impl AsRef<Path>,
    link: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let original = c_path(original)?;
    let link = c_path(link)?;
    call(owner, Call::Link(original, link), call::nothing, done)
}

/// Makes `link` a symbolic link to `original`, which need not be there.
///
/// # Errors
/// To the closure: EEXIST, ENOENT, EACCES.
#[doc(alias = "uv_fs_symlink")]
#[track_caller]
pub fn symlink(
    owner: &LoopRef,
    original: impl AsRef<Path>,
    link: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let original = c_path(original)?;
    let link = c_path(link)?;
    call(owner, Call::Symlink(original, link), call::nothing, done)
}

/// What a symbolic link says.
///
/// # Errors
/// To the closure: EINVAL when it is none; ENOENT, EACCES.
#[doc(alias = "uv_fs_readlink")]
#[track_caller]
pub fn read_link(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<PathBuf>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    ask(owner, move || system::read_link(&path).map(path_of), done)
}

/// The absolute path without symbolic links, `.` and `..`.
///
/// # Errors
/// To the closure: ENOENT, EACCES, ELOOP, ENOTDIR.
#[doc(alias = "uv_fs_realpath")]
#[track_caller]
pub fn canonicalize(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<PathBuf>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    ask(owner, move || system::canonical_path(&path).map(path_of), done)
}

/// Sets the permissions, by the system's number for them, `0o644` for example.
///
/// # Errors
/// To the closure: EPERM, ENOENT, EROFS.
#[doc(alias = "uv_fs_chmod")]
#[track_caller]
pub fn set_permissions(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    mode: u32,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    ask(owner, move || system::set_mode(&path, mode), done)
}

/// Sets the times of last access and last change.
///
/// # Errors
/// To the closure: EPERM, EACCES, ENOENT, EROFS.
#[doc(alias = "uv_fs_utime")]
#[track_caller]
pub fn set_times(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    accessed: NewTime,
    modified: NewTime,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    ask(owner, move || system::set_times(&path, accessed, modified), done)
}

fn path_of(text: CString) -> PathBuf {
    OsString::from_vec(text.into_bytes()).into()
}
