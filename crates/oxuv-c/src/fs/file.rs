//! Open files.

use std::ffi::{c_char, c_int, c_uint};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use oxuv_core::{Errno, Result};
use oxuv_os::fs::{self, MAX_BYTES};

use super::arguments::{keep_bufs, keep_file, keep_path};
use super::request::{begin, finished};
use super::types::{
    UV_FS_CLOSE, UV_FS_FDATASYNC, UV_FS_FSYNC, UV_FS_FTRUNCATE, UV_FS_OPEN, UV_FS_READ, UV_FS_SENDFILE, UV_FS_WRITE,
    uv_file, uv_fs_cb, uv_fs_t,
};
use crate::types::{uv_buf_t, uv_loop_t};

/// Opens a file: the result is its descriptor, which is close-on-exec. Flags and mode are those of `open`.
///
/// UV_ENOENT, UV_EACCES, UV_EEXIST, UV_EISDIR, UV_EMFILE.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_open(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    flags: c_int,
    mode: c_int,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_OPEN, cb, |req| {
            (*req).flags = flags;
            (*req).mode = mode as c_uint;
            keep_path(req, path)
        })
        .run(|request| {
            let file = fs::open(request.path(), request.flags(), request.mode())?;
            Ok(file.into_raw_fd() as isize)
        })
    }
}

/// Closes a file. It is closed in any case, but for UV_EBADF.
///
/// UV_EBADF; UV_EIO, UV_ENOSPC, UV_EDQUOT when something written before is lost.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat); `file` is the caller's to close.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_close(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_CLOSE, cb, |req| keep_file(req, file)).run(|request| {
            let number = request.file()?.as_raw_fd();
            // The program has said that it is its own to close. If it is not open, the system says EBADF.
            finished(fs::close(OwnedFd::from_raw_fd(number)))
        })
    }
}

/// Reads into the buffers, one after the other: the result is the number of bytes, 0 at the end of the file. A negative
/// offset is the file's position, which moves on. The array is copied, if there is a callback.
///
/// UV_EINVAL for no buffers; UV_EINTR when a signal comes before anything could be read; UV_EISDIR, UV_EBADF,
/// UV_EAGAIN, UV_EIO; UV_ESPIPE for an offset where there is no position.
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat); `bufs` is null or has `nbufs` buffers, whose memory is ours until the
/// request is done.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_read(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    offset: i64,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_READ, cb, |req| {
            (*req).file = file;
            (*req).off = offset;
            keep_bufs(req, bufs, nbufs)
        })
        .run(|request| {
            let offset = u64::try_from(request.offset()).ok();
            bytes(fs::read(request.file()?, request.room(), offset))
        })
    }
}

/// Writes all of the buffers: the result is the number of bytes, which are fewer if an error comes after some were
/// written. A negative offset is the file's position, which moves on. The array is copied, if there is a callback.
///
/// UV_EINVAL for no buffers and for more than 0x7ffff000 bytes; UV_ENOSPC, UV_EDQUOT, UV_EFBIG, UV_EIO, UV_EBADF,
/// UV_EAGAIN, UV_EPIPE; UV_ESPIPE for an offset where there is no position.
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat); `bufs` is null or has `nbufs` buffers, whose bytes stay as they are
/// until the request is done.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_write(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    offset: i64,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_WRITE, cb, |req| {
            (*req).file = file;
            (*req).off = offset;
            check_size(bufs, nbufs)?;
            keep_bufs(req, bufs, nbufs)
        })
        .run(|request| {
            let offset = u64::try_from(request.offset()).ok();
            bytes(fs::write(request.file()?, request.bytes(), offset))
        })
    }
}

/// Sends up to `length` bytes of one file, from an offset on, to where another descriptor's position is: the result is
/// the number of bytes, which may be fewer.
///
/// UV_EINVAL for more than 0x7ffff000 bytes, UV_EOVERFLOW or UV_EINVAL for a negative offset; those of reading, if
/// nothing was sent, and of writing.
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat), of both descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_sendfile(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    out_fd: uv_file,
    in_fd: uv_file,
    in_offset: i64,
    length: usize,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_SENDFILE, cb, |req| {
            if length > MAX_BYTES {
                return Err(Errno::EINVAL);
            }
            (*req).flags = in_fd;
            (*req).off = in_offset;
            (*req).bufsml[0].len = length;
            keep_file(req, out_fd)
        })
        .run(|request| bytes(fs::send(request.file()?, request.source()?, request.offset(), request.length())))
    }
}

/// Waits until all of a file is on the disk.
///
/// UV_EIO, UV_ENOSPC, UV_EDQUOT, UV_EBADF; UV_EINVAL for what is on no disk.
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_fsync(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_FSYNC, cb, |req| keep_file(req, file))
            .run(|request| finished(fs::sync_all(request.file()?)))
    }
}

/// As [`uv_fs_fsync`], but for what is not needed to read the bytes again, as the times.
///
/// As [`uv_fs_fsync`].
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_fdatasync(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_FDATASYNC, cb, |req| keep_file(req, file))
            .run(|request| finished(fs::sync_data(request.file()?)))
    }
}

/// Makes a file so many bytes long, cutting off or adding zeros.
///
/// UV_EINVAL for a negative length and for what is no file that can be written; UV_EFBIG, UV_EBADF, UV_EPERM.
///
/// # Safety
/// As for [`uv_fs_fstat`](crate::uv_fs_fstat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_ftruncate(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    file: uv_file,
    offset: i64,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        begin(loop_, req, UV_FS_FTRUNCATE, cb, |req| {
            (*req).off = offset;
            keep_file(req, file)
        })
        .run(|request| {
            // The system looks at the length first.
            if request.offset() < 0 {
                return Err(Errno::EINVAL);
            }
            finished(fs::truncate(request.file()?, request.offset()))
        })
    }
}

/// The number of bytes as a result. It is below `isize::MAX`, as all sizes in memory.
fn bytes(moved: Result<usize>) -> Result<isize> {
    Ok(moved? as isize)
}

/// EINVAL for no buffers, and for more than one call of the system's can move: the result could be taken for an error.
///
/// # Safety
/// `bufs` is null or has so many buffers.
unsafe fn check_size(bufs: *const uv_buf_t, nbufs: c_uint) -> Result<()> {
    if bufs.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: not null, so there are as many as the caller says.
    let bufs = unsafe { std::slice::from_raw_parts(bufs, nbufs as usize) };
    let total = bufs.iter().fold(0usize, |total, buf| total.saturating_add(buf.len));
    if total > MAX_BYTES { Err(Errno::EINVAL) } else { Ok(()) }
}
