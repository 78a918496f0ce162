//! Copying a file.

use std::ffi::{c_char, c_int};

use oxuv_core::Errno;
use oxuv_os::fs::{self, CopyFlags};

use super::arguments::keep_paths;
use super::request::{begin, finished};
use super::types::{UV_FS_COPYFILE, uv_fs_cb, uv_fs_t};
use crate::types::uv_loop_t;

/// Flag of `uv_fs_copyfile`: only to a name that nothing has yet.
pub const UV_FS_COPYFILE_EXCL: c_int = 1;
/// Flag of `uv_fs_copyfile`: so that both share the disk's blocks, where the file system can do that.
pub const UV_FS_COPYFILE_FICLONE: c_int = 2;
/// Flag of `uv_fs_copyfile`: the same, or not at all.
pub const UV_FS_COPYFILE_FICLONE_FORCE: c_int = 4;

const FLAGS: c_int = UV_FS_COPYFILE_EXCL | UV_FS_COPYFILE_FICLONE | UV_FS_COPYFILE_FICLONE_FORCE;

/// Copies a file with its permissions. A file that bore the new name is overwritten, unless it is the same file: then
/// nothing happens. A copy that fails half-way is removed.
///
/// UV_EEXIST for `UV_FS_COPYFILE_EXCL`; UV_ENOTSUP, UV_EXDEV, UV_EINVAL or UV_ENOTTY for `UV_FS_COPYFILE_FICLONE_FORCE`
/// where that cannot be done; UV_EINVAL for unknown flags; those of opening, reading and writing.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_copyfile(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    new_path: *const c_char,
    flags: c_int,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_COPYFILE, cb, |req| {
            if flags & !FLAGS != 0 {
                return Err(Errno::EINVAL);
            }
            (*req).flags = flags;
            keep_paths(req, path, new_path)
        })
        .run(|request| {
            let has = |flag| request.flags() & flag != 0;
            let flags = CopyFlags {
                exclusive: has(UV_FS_COPYFILE_EXCL),
                clone: has(UV_FS_COPYFILE_FICLONE),
                force_clone: has(UV_FS_COPYFILE_FICLONE_FORCE),
            };
            finished(fs::copy(request.path(), request.new_path(), flags))
        })
    }
}
