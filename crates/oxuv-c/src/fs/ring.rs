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

/// Puts there what the request asks of a ring; nothing if it is for a thread.
///
/// # Safety
/// `req` has its arguments, which stay as they are until it has come back.
#[inline]
pub(crate) unsafe fn put_operation(req: *mut uv_fs_t, place: &mut Operation) {
    // SAFETY: the kind says which arguments there are. With a callback, which it has, paths and arrays are copies of the
    // request's own; buffers and descriptors are the program's, which has promised to leave them alone.
    unsafe {
        let request = Request::new(req);
        let offset = || u64::try_from(request.offset()).ok();
        // A number that no descriptor can have is no file, and the thread says so.
        let file = || request.file().ok();
        match (*req).fs_type {
            UV_FS_OPEN => place.open(request.path(), request.flags(), request.mode()),
            UV_FS_CLOSE => file().map_or((), |file| place.close(file)),
            UV_FS_READ => file().map_or((), |file| place.read(file, request.room(), offset())),
            UV_FS_WRITE => file().map_or((), |file| place.write(file, request.bytes(), offset())),
            UV_FS_FSYNC => file().map_or((), |file| place.sync(file, false)),
            UV_FS_FDATASYNC => file().map_or((), |file| place.sync(file, true)),
            UV_FS_FTRUNCATE => file().map_or((), |file| place.truncate(file, request.offset())),
            UV_FS_STAT => place.metadata(request.path()),
            UV_FS_LSTAT => place.link_metadata(request.path()),
            UV_FS_FSTAT => file().map_or((), |file| place.file_metadata(file)),
            UV_FS_RENAME => place.rename(request.path(), request.new_path()),
            UV_FS_LINK => place.link(request.path(), request.new_path()),
            UV_FS_SYMLINK => place.symlink(request.path(), request.new_path()),
            UV_FS_MKDIR => place.make_directory(request.path(), request.mode()),
            UV_FS_UNLINK => place.remove_file(request.path()),
            UV_FS_RMDIR => place.remove_directory(request.path()),
            _ => {}
        }
    }
}

/// Whether a ring may be what does the request with the least effort.
///
/// # Safety
/// As for [`put_operation`].
pub(crate) unsafe fn may_be_quick(req: *mut uv_fs_t) -> bool {
    // SAFETY: the request has its kind.
    matches!(unsafe { (*req).fs_type }, UV_FS_OPEN | UV_FS_CLOSE | UV_FS_READ)
}

/// Does on the loop's thread what takes but a moment; false if the request does.
///
/// # Safety
/// As for [`put_operation`].
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
/// `req` has been done by the operation that [`put_operation`] has made of it, or the like.
#[inline]
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
