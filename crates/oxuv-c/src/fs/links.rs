//! Links, and where paths lead.

use std::ffi::{CString, c_char, c_int};

use oxuv_core::Result;
use oxuv_os::fs;

use super::arguments::{Request, keep_path, keep_paths};
use super::request::{begin, finished};
use super::types::{UV_FS_LINK, UV_FS_READLINK, UV_FS_REALPATH, UV_FS_SYMLINK, uv_fs_cb, uv_fs_t};
use crate::types::uv_loop_t;

/// Gives a file a second name.
///
/// UV_EXDEV, UV_EEXIST, UV_ENOENT, UV_EPERM for a directory, UV_EMLINK.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_link(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    new_path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_LINK, cb, |req| keep_paths(req, path, new_path))
            .run(|request| finished(fs::link(request.path(), request.new_path())))
    }
}

/// Makes `new_path` a symbolic link to `path`, which need not be there. The flags mean something on Windows only.
///
/// UV_EEXIST, UV_ENOENT for an empty path, UV_EACCES.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_symlink(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    new_path: *const c_char,
    flags: c_int,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_SYMLINK, cb, |req| {
            (*req).flags = flags;
            keep_paths(req, path, new_path)
        })
        .run(|request| finished(fs::symlink(request.path(), request.new_path())))
    }
}

/// What a symbolic link says: a text, to which `ptr` points until the request is cleaned up.
///
/// UV_EINVAL when it is no link; UV_ENOENT, UV_EACCES, UV_ENOMEM.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_readlink(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_READLINK, cb, |req| keep_path(req, path))
            .run(|request| hand_over(request, fs::read_link(request.path())))
    }
}

/// The absolute path without symbolic links, `.` and `..`: a text, to which `ptr` points until the request is cleaned
/// up.
///
/// UV_ENOENT, UV_EACCES, UV_ELOOP, UV_ENOTDIR, UV_ENAMETOOLONG, UV_ENOMEM.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_realpath(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_REALPATH, cb, |req| keep_path(req, path))
            .run(|request| hand_over(request, fs::canonical_path(request.path())))
    }
}

fn hand_over(request: Request, text: Result<CString>) -> Result<isize> {
    // Our allocator is the program's, to whose `free` it will be given.
    request.set_ptr(text?.into_raw().cast());
    Ok(0)
}
