//! What is known of files and of file systems.

use std::ffi::{c_char, c_int, c_long};

use oxuv_core::Errno;
use oxuv_os::fs::{self, Metadata, Time, Volume};

use super::arguments::{keep_file, keep_path};
use super::request::begin;
use super::types::{UV_FS_FSTAT, UV_FS_LSTAT, UV_FS_STAT, UV_FS_STATFS, uv_file, uv_fs_cb, uv_fs_t};
use crate::memory::malloc;
use crate::types::uv_loop_t;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct uv_timespec_t {
    /// Seconds after the beginning of 1970, or before.
    pub tv_sec: c_long,
    /// Nanoseconds after that.
    pub tv_nsec: c_long,
}

impl From<Time> for uv_timespec_t {
    fn from(time: Time) -> Self {
        uv_timespec_t { tv_sec: time.seconds as c_long, tv_nsec: time.nanoseconds as c_long }
    }
}

/// What is known of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct uv_stat_t {
    /// The device that it is on.
    pub st_dev: u64,
    /// Its kind and permissions.
    pub st_mode: u64,
    /// How many names it has.
    pub st_nlink: u64,
    /// Its owner.
    pub st_uid: u64,
    /// Its group.
    pub st_gid: u64,
    /// The device that it stands for.
    pub st_rdev: u64,
    /// Its number on its device.
    pub st_ino: u64,
    /// Its size in bytes.
    pub st_size: u64,
    /// The bytes that are good to read and write at once.
    pub st_blksize: u64,
    /// What it takes on the disk, in units of 512 bytes.
    pub st_blocks: u64,
    /// 0.
    pub st_flags: u64,
    /// 0.
    pub st_gen: u64,
    /// When it was last read.
    pub st_atim: uv_timespec_t,
    /// When its bytes last changed.
    pub st_mtim: uv_timespec_t,
    /// When anything here last changed.
    pub st_ctim: uv_timespec_t,
    /// When it was made, if that is known.
    pub st_birthtim: uv_timespec_t,
}

impl uv_stat_t {
    /// That of a file of which nothing is known.
    pub(crate) const ZERO: uv_stat_t = {
        let never = uv_timespec_t { tv_sec: 0, tv_nsec: 0 };
        uv_stat_t {
            st_dev: 0,
            st_mode: 0,
            st_nlink: 0,
            st_uid: 0,
            st_gid: 0,
            st_rdev: 0,
            st_ino: 0,
            st_size: 0,
            st_blksize: 0,
            st_blocks: 0,
            st_flags: 0,
            st_gen: 0,
            st_atim: never,
            st_mtim: never,
            st_ctim: never,
            st_birthtim: never,
        }
    };
}

impl From<Metadata> for uv_stat_t {
    fn from(found: Metadata) -> Self {
        uv_stat_t {
            st_dev: found.dev,
            st_mode: found.mode.into(),
            st_nlink: found.nlink,
            st_uid: found.uid.into(),
            st_gid: found.gid.into(),
            st_rdev: found.rdev,
            st_ino: found.ino,
            st_size: found.size,
            st_blksize: found.blksize,
            st_blocks: found.blocks,
            st_flags: 0,
            st_gen: 0,
            st_atim: found.accessed.into(),
            st_mtim: found.modified.into(),
            st_ctim: found.changed.into(),
            st_birthtim: found.created.into(),
        }
    }
}

/// What is known of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct uv_statfs_t {
    /// Its kind, by the system's number.
    pub f_type: u64,
    /// The bytes that are good to transfer at once.
    pub f_bsize: u64,
    /// Its size in fragments.
    pub f_blocks: u64,
    /// The free fragments.
    pub f_bfree: u64,
    /// The free fragments that any user may have.
    pub f_bavail: u64,
    /// The files it has room for.
    pub f_files: u64,
    /// The files it has room for still.
    pub f_ffree: u64,
    /// The bytes of a fragment.
    pub f_frsize: u64,
    _spare: [u64; 3],
}

impl From<Volume> for uv_statfs_t {
    fn from(found: Volume) -> Self {
        uv_statfs_t {
            f_type: found.kind,
            f_bsize: found.block_size,
            f_blocks: found.blocks,
            f_bfree: found.free,
            f_bavail: found.available,
            f_files: found.files,
            f_ffree: found.free_files,
            f_frsize: found.fragment_size,
            _spare: [0; 3],
        }
    }
}

/// What is known of a file; of a symbolic link it is what it leads to. It is in `statbuf` then, and `ptr` points there.
///
/// UV_ENOENT, UV_EACCES, UV_ENOTDIR, UV_ELOOP.
///
/// # Safety
/// As for all file requests: `loop_` is null or was initialised, `req` is null or memory that stays valid until it is
/// done. `path` is null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_stat(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_STAT, cb, |req| keep_path(req, path)).run(|request| {
            request.set_stat(fs::metadata(request.path())?);
            Ok(0)
        })
    }
}

/// As [`uv_fs_stat`], and of a symbolic link it is the link itself.
///
/// # Safety
/// As for [`uv_fs_stat`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_lstat(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_LSTAT, cb, |req| keep_path(req, path)).run(|request| {
            request.set_stat(fs::link_metadata(request.path())?);
            Ok(0)
        })
    }
}

/// As [`uv_fs_stat`], of an open file.
///
/// UV_EBADF.
///
/// # Safety
/// As for [`uv_fs_stat`]; `file` stays open until the request is done.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_fstat(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_FSTAT, cb, |req| keep_file(req, file)).run(|request| {
            request.set_stat(fs::file_metadata(request.file()?)?);
            Ok(0)
        })
    }
}

/// What is known of the file system that a file is on: a `uv_statfs_t`, to which `ptr` points until the request is
/// cleaned up.
///
/// UV_ENOENT, UV_EACCES, UV_ENOMEM.
///
/// # Safety
/// As for [`uv_fs_stat`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_statfs(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller. The new memory is large enough.
    unsafe {
        begin(loop_, req, UV_FS_STATFS, cb, |req| keep_path(req, path)).run(|request| {
            let found = uv_statfs_t::from(fs::volume(request.path())?);
            let place: *mut uv_statfs_t = malloc(size_of::<uv_statfs_t>()).cast();
            if place.is_null() {
                return Err(Errno::ENOMEM);
            }
            place.write(found);
            request.set_ptr(place.cast());
            Ok(0)
        })
    }
}
