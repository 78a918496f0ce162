//! File requests that a loop's ring does in place of a thread, or the loop itself.

use std::os::fd::IntoRawFd;

use oxuv_core::Result;
use oxuv_core::kernel::{Answer, Operation};
use oxuv_os::fs::{file_metadata_at_once, metadata_at_once};

use super::arguments::Request;
use super::types::{
    UV_FS_CLOSE, UV_FS_FDATASYNC, UV_FS_FSTAT, UV_FS_FSYNC, UV_FS_FTRUNCATE, UV_FS_LINK, UV_FS_LSTAT, UV_FS_MKDIR,
    UV_FS_OPEN, UV_FS_READ, UV_FS_RENAME, UV_FS_RMDIR, UV_FS_STAT, UV_FS_SYMLINK, UV_FS_UNLINK, UV_FS_WRITE, uv_fs_t,
};

/// What the request asks of a ring; `None` if it is for a thread.
///
/// # Safety
/// `req` has its arguments, which stay as they are until it has come back.
pub(crate) unsafe fn operation(req: *mut uv_fs_t) -> Option<Operation> {
    // SAFETY: the kind says which arguments there are. With a callback, which it has, paths and arrays are copies of the
    // request's own; buffers and descriptors are the program's, which has promised to leave them alone.
    unsafe {
        let request = Request::new(req);
        let offset = || u64::try_from(request.offset()).ok();
        // A number that no descriptor can have is no file, and the thread says so.
        let file = || request.file().ok();
        match (*req).fs_type {
            UV_FS_OPEN => Some(Operation::open(request.path(), request.flags(), request.mode())),
            UV_FS_CLOSE => Operation::close(file()?),
            UV_FS_READ => Operation::read(file()?, request.room(), offset()),
            UV_FS_WRITE => Operation::write(file()?, request.bytes(), offset()),
            UV_FS_FSYNC => Some(Operation::sync(file()?, false)),
            UV_FS_FDATASYNC => Some(Operation::sync(file()?, true)),
            UV_FS_FTRUNCATE => Operation::truncate(file()?, request.offset()),
            UV_FS_STAT => Some(Operation::metadata(request.path())),
            UV_FS_LSTAT => Some(Operation::link_metadata(request.path())),
            UV_FS_FSTAT => Some(Operation::file_metadata(file()?)),
            UV_FS_RENAME => Operation::rename(request.path(), request.new_path()),
            UV_FS_LINK => Operation::link(request.path(), request.new_path()),
            UV_FS_SYMLINK => Some(Operation::symlink(request.path(), request.new_path())),
            UV_FS_MKDIR => Some(Operation::make_directory(request.path(), request.mode())),
            UV_FS_UNLINK => Some(Operation::remove_file(request.path())),
            UV_FS_RMDIR => Some(Operation::remove_directory(request.path())),
            _ => None,
        }
    }
}

/// Does on the loop's thread what takes but a moment; false if the request does.
///
/// # Safety
/// As for [`operation`].
pub(crate) unsafe fn run_at_once(req: *mut uv_fs_t) -> bool {
    // SAFETY: the kind says which arguments there are.
    let found = unsafe {
        let request = Request::new(req);
        match (*req).fs_type {
            UV_FS_STAT => metadata_at_once(request.path(), false),
            UV_FS_LSTAT => metadata_at_once(request.path(), true),
            UV_FS_FSTAT => request.file().ok().and_then(|file| file_metadata_at_once(file)),
            _ => None,
        }
    };
    let Some(found) = found else { return false };
    // SAFETY: this is the answer to what the request asks.
    unsafe { answered(req, found.map(Answer::Metadata)) };
    true
}

/// Puts the answer where the program looks for it.
///
/// # Safety
/// `req` has been done by the operation that [`operation`] has made of it, or the like.
pub(crate) unsafe fn answered(req: *mut uv_fs_t, answer: Result<Answer>) {
    let result = answer.map(|answer| match answer {
        Answer::Done => 0,
        // The program closes it.
        Answer::File(file) => file.into_raw_fd() as isize,
        // Below `isize::MAX`, as all sizes in memory.
        Answer::Count(count) => count as isize,
        Answer::Metadata(found) => {
            // SAFETY: the request is valid until its callback, and these fields are its operation's to write.
            unsafe { Request::new(req).set_stat(found) };
            0
        }
    });
    // SAFETY: as above.
    unsafe { (*req).result = result.unwrap_or_else(|error| error.code() as isize) };
}
