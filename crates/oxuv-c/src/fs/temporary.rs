//! Names that nobody else has.

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use oxuv_os::fs;

use super::arguments::keep_template;
use super::request::{begin, finished};
use super::types::{UV_FS_MKDTEMP, UV_FS_MKSTEMP, uv_fs_cb, uv_fs_t};
use crate::types::uv_loop_t;

/// Makes a directory whose name nobody had, for this user alone. Its path, which is in `path`, is the template with
/// other letters in the place of `XXXXXX` at its end. The template itself is left as it is.
///
/// UV_EINVAL for another ending; UV_ENOENT, UV_EACCES, UV_ENOSPC, UV_ENOMEM.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_mkdtemp(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    tpl: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_MKDTEMP, cb, |req| keep_template(req, tpl))
            .run(|mut request| finished(fs::temporary_directory(request.template())))
    }
}

/// As [`uv_fs_mkdtemp`], but it makes and opens a file: the result is its descriptor. After an error the path is empty.
///
/// UV_EMFILE; as [`uv_fs_mkdtemp`].
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_mkstemp(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    tpl: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_MKSTEMP, cb, |req| keep_template(req, tpl)).run(|mut request| {
            let made = fs::temporary_file(request.template());
            if made.is_err() {
                request.template()[0] = 0;
            }
            Ok(made?.into_raw_fd() as isize)
        })
    }
}
