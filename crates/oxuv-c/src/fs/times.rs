//! When a file was last read and changed, set to what one likes.
//!
//! Times are seconds after the beginning of 1970, with fractions, and negative before. `UV_FS_UTIME_NOW` (infinity) is
//! the time of the call; `UV_FS_UTIME_OMIT` (not a number) leaves a time as it is.

use std::ffi::{c_char, c_int};

use oxuv_os::fs::{self, NewTime};

use super::arguments::{Request, keep_file, keep_path};
use super::request::{begin, finished};
use super::types::{UV_FS_FUTIME, UV_FS_LUTIME, UV_FS_UTIME, uv_file, uv_fs_cb, uv_fs_t};
use crate::types::uv_loop_t;

/// Sets the times of last access and last change.
///
/// UV_EPERM, UV_EACCES, UV_ENOENT, UV_EROFS.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_utime(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    atime: f64,
    mtime: f64,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_UTIME, cb, |req| {
            (*req).atime = atime;
            (*req).mtime = mtime;
            keep_path(req, path)
        })
        .run(|request| {
            let (accessed, modified) = new_times(request);
            finished(fs::set_times(request.path(), accessed, modified))
        })
    }
}

/// As [`uv_fs_utime`], of an open file.
///
/// UV_EPERM, UV_EACCES, UV_EBADF, UV_EROFS.
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_futime(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    atime: f64,
    mtime: f64,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_FUTIME, cb, |req| {
            (*req).atime = atime;
            (*req).mtime = mtime;
            keep_file(req, file)
        })
        .run(|request| {
            let (accessed, modified) = new_times(request);
            finished(fs::set_file_times(request.file()?, accessed, modified))
        })
    }
}

/// As [`uv_fs_utime`], and of a symbolic link they are the link's own.
///
/// UV_EPERM, UV_EACCES, UV_ENOENT, UV_EROFS.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_lutime(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    atime: f64,
    mtime: f64,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_LUTIME, cb, |req| {
            (*req).atime = atime;
            (*req).mtime = mtime;
            keep_path(req, path)
        })
        .run(|request| {
            let (accessed, modified) = new_times(request);
            finished(fs::set_link_times(request.path(), accessed, modified))
        })
    }
}

fn new_times(request: Request) -> (NewTime, NewTime) {
    let (accessed, modified) = request.times();
    (NewTime::from_seconds(accessed), NewTime::from_seconds(modified))
}
