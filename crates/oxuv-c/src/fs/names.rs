//! What is done to names: making, removing, renaming, permissions, owners.

use std::ffi::{c_char, c_int, c_uint};

use oxuv_os::fs;

use super::arguments::{keep_file, keep_path, keep_paths};
use super::request::{begin, finished};
use super::types::{
    UV_FS_ACCESS, UV_FS_CHMOD, UV_FS_CHOWN, UV_FS_FCHMOD, UV_FS_FCHOWN, UV_FS_LCHOWN, UV_FS_MKDIR, UV_FS_RENAME,
    UV_FS_RMDIR, UV_FS_UNLINK, uv_file, uv_fs_cb, uv_fs_t, uv_gid_t, uv_uid_t,
};
use crate::types::uv_loop_t;

/// Removes a name. The file goes when nothing has it open any more.
///
/// UV_ENOENT, UV_EACCES, UV_EPERM, UV_EISDIR.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_unlink(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_UNLINK, cb, |req| keep_path(req, path))
            .run(|request| finished(fs::remove_file(request.path())))
    }
}

/// Makes a directory with these permissions, less the process's mask.
///
/// UV_EEXIST, UV_ENOENT, UV_EACCES, UV_ENOSPC.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_mkdir(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    mode: c_int,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_MKDIR, cb, |req| {
            (*req).mode = mode as c_uint;
            keep_path(req, path)
        })
        .run(|request| finished(fs::make_directory(request.path(), request.mode())))
    }
}

/// Removes an empty directory.
///
/// UV_ENOTEMPTY, UV_ENOENT, UV_ENOTDIR, UV_EACCES, UV_EBUSY.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_rmdir(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_RMDIR, cb, |req| keep_path(req, path))
            .run(|request| finished(fs::remove_directory(request.path())))
    }
}

/// Gives a file or directory another name. What bore that one is gone.
///
/// UV_EXDEV when that would be another file system; UV_ENOENT, UV_EACCES, UV_ENOTEMPTY, UV_EISDIR, UV_ENOTDIR.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_rename(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    new_path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_RENAME, cb, |req| keep_paths(req, path, new_path))
            .run(|request| finished(fs::rename(request.path(), request.new_path())))
    }
}

/// Asks whether the process's real user may do this to a file: `R_OK`, `W_OK`, `X_OK`, or `F_OK`, whether it is there.
///
/// UV_EACCES, UV_ENOENT, UV_EROFS; UV_EINVAL for other bits.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_access(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    mode: c_int,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_ACCESS, cb, |req| {
            (*req).flags = mode;
            keep_path(req, path)
        })
        .run(|request| finished(fs::access(request.path(), request.flags())))
    }
}

/// Sets the permissions.
///
/// UV_EPERM, UV_ENOENT, UV_EROFS.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_chmod(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    mode: c_int,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_CHMOD, cb, |req| {
            (*req).mode = mode as c_uint;
            keep_path(req, path)
        })
        .run(|request| finished(fs::set_mode(request.path(), request.mode())))
    }
}

/// Sets the permissions of an open file.
///
/// UV_EPERM, UV_EBADF, UV_EROFS.
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_fchmod(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    mode: c_int,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_FCHMOD, cb, |req| {
            (*req).mode = mode as c_uint;
            keep_file(req, file)
        })
        .run(|request| finished(fs::set_file_mode(request.file()?, request.mode())))
    }
}

/// Sets owner and group; -1 leaves one as it is.
///
/// UV_EPERM, UV_ENOENT, UV_EROFS.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_chown(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    uid: uv_uid_t,
    gid: uv_gid_t,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_CHOWN, cb, |req| {
            (*req).uid = uid;
            (*req).gid = gid;
            keep_path(req, path)
        })
        .run(|request| {
            let (uid, gid) = request.owner();
            finished(fs::set_owner(request.path(), uid, gid))
        })
    }
}

/// As [`uv_fs_chown`], of an open file.
///
/// UV_EPERM, UV_EBADF, UV_EROFS.
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_fchown(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    uid: uv_uid_t,
    gid: uv_gid_t,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_FCHOWN, cb, |req| {
            (*req).uid = uid;
            (*req).gid = gid;
            keep_file(req, file)
        })
        .run(|request| {
            let (uid, gid) = request.owner();
            finished(fs::set_file_owner(request.file()?, uid, gid))
        })
    }
}

/// As [`uv_fs_chown`], and of a symbolic link it is the link's own.
///
/// UV_EPERM, UV_ENOENT, UV_EROFS.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_lchown(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    uid: uv_uid_t,
    gid: uv_gid_t,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_LCHOWN, cb, |req| {
            (*req).uid = uid;
            (*req).gid = gid;
            keep_path(req, path)
        })
        .run(|request| {
            let (uid, gid) = request.owner();
            finished(fs::set_link_owner(request.path(), uid, gid))
        })
    }
}
