//! Links, and where paths lead.

use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use rustix::buffer::spare_capacity;
use rustix::fs::{self, CWD, readlinkat_raw};

use super::retry;
use crate::{Errno, Result};

/// Gives a file a second name.
///
/// # Errors
/// EXDEV, EEXIST, ENOENT, EPERM for a directory, EMLINK.
#[doc(alias = "uv_fs_link")]
pub fn link(path: &CStr, new_path: &CStr) -> Result<()> {
    retry(|| fs::link(path, new_path))
}

/// Makes `new_path` a symbolic link to `path`, which need not be there.
///
/// # Errors
/// EEXIST, ENOENT for an empty path, EACCES.
#[doc(alias = "uv_fs_symlink")]
pub fn symlink(path: &CStr, new_path: &CStr) -> Result<()> {
    retry(|| fs::symlink(path, new_path))
}

/// What a symbolic link says.
///
/// # Errors
/// EINVAL when it is none; ENOENT, EACCES, ENOMEM.
#[doc(alias = "uv_fs_readlink")]
pub fn read_link(path: &CStr) -> Result<CString> {
    let mut target: Vec<u8> = Vec::new();
    let mut size = libc::PATH_MAX as usize;
    loop {
        target.try_reserve_exact(size)?;
        retry(|| readlinkat_raw(CWD, path, spare_capacity(&mut target)).map(|_| ()))?;
        // Filled to the last byte, it may be only a part.
        if target.len() < target.capacity() {
            return text(&target);
        }
        size = target.capacity().checked_mul(2).ok_or(Errno::ENAMETOOLONG)?;
        target.clear();
    }
}

/// The absolute path without symbolic links, `.` and `..`.
///
/// # Errors
/// ENOENT, EACCES, ELOOP, ENOTDIR, ENAMETOOLONG, ENOMEM.
#[doc(alias = "uv_fs_realpath")]
pub fn canonical_path(path: &CStr) -> Result<CString> {
    let found = loop {
        // SAFETY: the path is a text; with null the C library takes memory for the answer, as much as it needs.
        let found = unsafe { libc::realpath(path.as_ptr(), null_mut()) };
        if !found.is_null() {
            break found;
        }
        match Errno::from_raw(errno::errno().0) {
            Errno::EINTR => {}
            error => return Err(error),
        }
    };
    // SAFETY: the C library has made a text there, which is ours to copy and then to free.
    unsafe {
        let copy = text(CStr::from_ptr(found).to_bytes());
        libc::free(found.cast());
        copy
    }
}

/// A text of these bytes. Memory that is short is an error, and there is none to spare that would have to be given
/// back.
fn text(bytes: &[u8]) -> Result<CString> {
    let mut text = Vec::new();
    text.try_reserve_exact(bytes.len() + 1)?;
    text.extend_from_slice(bytes);
    text.push(0);
    CString::from_vec_with_nul(text).map_err(|_| Errno::EINVAL)
}
