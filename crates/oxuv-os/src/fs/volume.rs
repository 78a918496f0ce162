//! File systems: their sizes.

use std::ffi::CStr;

use rustix::fs::statfs;

use super::retry;
use crate::Result;

/// What is known of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Volume {
    /// Its kind, by the system's number.
    pub kind: u64,
    /// The bytes that are good to transfer at once.
    pub block_size: u64,
    /// Its size in fragments.
    pub blocks: u64,
    /// The free fragments.
    pub free: u64,
    /// The free fragments that any user may have.
    pub available: u64,
    /// The files it has room for.
    pub files: u64,
    /// The files it has room for still.
    pub free_files: u64,
    /// The bytes of a fragment.
    pub fragment_size: u64,
}

/// The file system that a file is on.
///
/// # Errors
/// ENOENT, EACCES, ENOSYS.
#[doc(alias = "uv_fs_statfs")]
pub fn volume(path: &CStr) -> Result<Volume> {
    let found = retry(|| statfs(path))?;
    Ok(Volume {
        kind: found.f_type as u64,
        block_size: found.f_bsize as u64,
        blocks: found.f_blocks,
        free: found.f_bfree,
        available: found.f_bavail,
        files: found.f_files,
        free_files: found.f_ffree,
        fragment_size: found.f_frsize as u64,
    })
}
