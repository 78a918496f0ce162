//! Pipes: stream sockets of the Unix domain, FIFOs, and the ends of pipes.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::{copy_nonoverlapping, null};
use std::slice;

use oxuv_core::kernel::{NAME_SIZE, Name};
use oxuv_core::{Errno, Key, Result};

use crate::error::{code, ignored};
use crate::handle::{READABLE, with_open};
use crate::kinds::uv_guess_handle;
use crate::loop_::{Loop, User, kernel, with};
use crate::poll::{UV_READABLE, UV_WRITABLE};
use crate::socket::UV_NONBLOCK_PIPE;
use crate::stream::{self, is_closing};
use crate::tcp_connect::{UV_CONNECT, uv_connect_cb, uv_connect_t};
use crate::types::{UV_NAMED_PIPE, uv_handle_type, uv_loop_t, uv_pipe_t};

/// Flag of `uv_pipe_bind2` and `uv_pipe_connect2`: a name that is too long is an error, and not cut off.
pub const UV_PIPE_NO_TRUNCATE: c_uint = 1;

/// Initialises a pipe handle. It has no descriptor yet. If `ipc` is not 0, handles can be sent along with its bytes; that
/// is for connections, not for listeners.
///
/// # Safety
/// `loop_` was initialised; `handle` points to memory for a pipe, which holds no open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_init(loop_: *mut uv_loop_t, handle: *mut uv_pipe_t, ipc: c_int) -> c_int {
    // SAFETY: `loop_` has its core since init; `handle` is memory for a pipe.
    unsafe {
        match with(loop_, |core| core.pipe_init(User::of(handle), ipc != 0)) {
            Ok(key) => stream::init(handle.cast(), loop_, UV_NAMED_PIPE, key),
            Err(error) => return error.code(),
        }
        (*handle).ipc = ipc;
        (*handle).pipe_fname = null();
    }
    0
}

/// Gives a pipe a descriptor that was made elsewhere, and with it the duty to close it. It is made non-blocking. The pipe
/// is readable, and writable, as the descriptor was opened for that; readable also if the program has set libuv's flag for
/// that in the handle, as uvloop does.
///
/// UV_EEXIST when a handle of this loop waits for it; UV_EBUSY when the pipe has another descriptor; UV_EBADF; UV_EINVAL
/// when it is closing. The descriptor stays the caller's then.
///
/// # Safety
/// `handle` was initialised, or is zero. If it takes the descriptor, nobody else closes that.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_open(handle: *mut uv_pipe_t, file: c_int) -> c_int {
    if file < 0 {
        return Errno::EBADF.code();
    }
    // SAFETY: the handle was initialised. The descriptor of this number is the handle's, or is let go of unclosed.
    unsafe {
        let opened = with_open(handle.cast(), |core, key| {
            let fd = kernel::own(core.kernel(), file);
            core.pipe_open(key, fd).map_err(|refused| {
                std::mem::forget(refused.given);
                refused.error
            })?;
            if (*handle).stream.handle.flags & READABLE != 0 { core.pipe_read_to_notice(key) } else { Ok(()) }
        });
        stream::show_descriptor(handle.cast());
        code(opened)
    }
}

/// As [`uv_pipe_bind2`] without flags, of a path.
///
/// # Safety
/// As for [`uv_pipe_bind2`]; `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_bind(handle: *mut uv_pipe_t, name: *const c_char) -> c_int {
    // SAFETY: a C string, says the caller.
    unsafe {
        let len = if name.is_null() { 0 } else { CStr::from_ptr(name).count_bytes() };
        uv_pipe_bind2(handle, name, len, 0)
    }
}

/// Binds a pipe to a path, whose file is removed when the pipe is closed; or, with a zero byte in front, to a name of the
/// abstract kind, which may have more zero bytes; of no bytes, to one that the kernel chooses. What is beyond 108 bytes is
/// cut off, or with [`UV_PIPE_NO_TRUNCATE`] an error.
///
/// UV_EINVAL for a null name, a path with a zero byte, a name that is too long, other flags, a pipe that has a descriptor,
/// and a closing one; UV_EADDRINUSE; UV_EACCES, also where there is no such directory.
///
/// # Safety
/// `handle` was initialised, or is zero; `name` points to `namelen` bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_bind2(
    handle: *mut uv_pipe_t,
    name: *const c_char,
    namelen: usize,
    flags: c_uint,
) -> c_int {
    // SAFETY: the name is the caller's word, and the handle was initialised. The path that is shown stays where it is until
    // close, which takes it back.
    unsafe {
        let bound = read_name(name, namelen, flags).and_then(|name| {
            with_open(handle.cast(), |core, key| {
                core.pipe_bind(key, name)?;
                Ok(core.pipe_path(key).map_or(null(), CStr::as_ptr))
            })
        });
        if let Ok(path) = bound {
            (*handle).pipe_fname = path;
            stream::show_descriptor(handle.cast());
        }
        code(bound.map(|_| ()))
    }
}

/// A name as the core takes it.
///
/// # Safety
/// `name` points to `namelen` bytes that stay valid for as long as they are looked at, or is null.
unsafe fn read_name<'a>(name: *const c_char, namelen: usize, flags: c_uint) -> Result<&'a [u8]> {
    let is_too_long = namelen > NAME_SIZE && flags & UV_PIPE_NO_TRUNCATE != 0;
    if name.is_null() || flags & !UV_PIPE_NO_TRUNCATE != 0 || is_too_long {
        return Err(Errno::EINVAL);
    }
    // SAFETY: so many bytes there are, says the caller.
    let whole: &[u8] = unsafe { slice::from_raw_parts(name.cast(), namelen) };
    match whole {
        // What would be cut off is looked at, too.
        [first, ..] if *first != 0 && whole.contains(&0) => Err(Errno::EINVAL),
        _ => Ok(&whole[..namelen.min(NAME_SIZE)]),
    }
}

/// As [`uv_pipe_connect2`] without flags, to a path. Whatever is wrong, `cb` tells.
///
/// # Safety
/// As for [`uv_pipe_connect2`]; `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_connect(
    req: *mut uv_connect_t,
    handle: *mut uv_pipe_t,
    name: *const c_char,
    cb: uv_connect_cb,
) {
    // SAFETY: a C string, says the caller; the same is asked of ours.
    unsafe {
        let len = if name.is_null() { 0 } else { CStr::from_ptr(name).count_bytes() };
        let begun = read_name(name, len, 0).and_then(|name| connect(req, handle, name, cb));
        let Err(error) = begun else { return };
        let failed = with_open(handle.cast(), |core, key| core.pipe_fail_to_connect(key, User::of(req), error));
        match failed {
            Ok(()) => note_connect(req, handle, cb),
            Err(_) => ignored("uv_pipe_connect", "the handle is connecting or closing, or was never initialised"),
        }
    }
}

/// Connects a pipe to the listener of this name, which is as in [`uv_pipe_bind2`]. `cb`, which may be null, is called
/// later, never from here, and tells of everything that goes wrong but bad arguments. What is written until then is sent
/// afterwards.
///
/// UV_EINVAL for a null or empty name, a path with a zero byte, a name that is too long, other flags, and a closing
/// handle; UV_EALREADY while connecting; UV_EEXIST when another handle waits for the descriptor.
///
/// # Safety
/// `handle` was initialised, and stays valid until it is closed; `name` points to `namelen` bytes, or is null; `req` stays
/// valid until `cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_connect2(
    req: *mut uv_connect_t,
    handle: *mut uv_pipe_t,
    name: *const c_char,
    namelen: usize,
    flags: c_uint,
    cb: uv_connect_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { read_name(name, namelen, flags).and_then(|name| connect(req, handle, name, cb)) })
}

/// # Safety
/// As for [`uv_pipe_connect2`].
unsafe fn connect(req: *mut uv_connect_t, handle: *mut uv_pipe_t, name: &[u8], cb: uv_connect_cb) -> Result<()> {
    // SAFETY: the handle was initialised, the request is memory to write to.
    unsafe {
        with_open(handle.cast(), |core, key| core.pipe_connect(key, User::of(req), name))?;
        note_connect(req, handle, cb);
        stream::show_descriptor(handle.cast());
    }
    Ok(())
}

/// # Safety
/// `handle` was initialised, the request is memory to write to.
unsafe fn note_connect(req: *mut uv_connect_t, handle: *mut uv_pipe_t, cb: uv_connect_cb) {
    // SAFETY: says the caller.
    unsafe {
        (*req).req.r#type = UV_CONNECT;
        (*req).cb = cb;
        (*req).handle = handle.cast();
        (*handle).stream.connect_req = req;
    }
}

/// The name a pipe is bound to, empty when it is not. `*size` is the room at `buffer`, and becomes the name's length; a
/// path gets a zero byte behind it, which is not counted.
///
/// UV_ENOBUFS when there is not enough room: `*size` becomes what is needed. UV_EINVAL for null pointers and no room;
/// UV_EBADF without a descriptor; UV_ENOTSOCK.
///
/// # Safety
/// `handle` was initialised, or is zero; `buffer` points to `*size` bytes, or one of the pointers is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_getsockname(
    handle: *const uv_pipe_t,
    buffer: *mut c_char,
    size: *mut usize,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { write_name(handle, buffer, size, |core, key| core.pipe_local_name(key)) })
}

/// The name of the other end, in the same way as [`uv_pipe_getsockname`].
///
/// UV_ENOTCONN; and as [`uv_pipe_getsockname`].
///
/// # Safety
/// As for [`uv_pipe_getsockname`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_getpeername(
    handle: *const uv_pipe_t,
    buffer: *mut c_char,
    size: *mut usize,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { write_name(handle, buffer, size, |core, key| core.pipe_peer_name(key)) })
}

/// # Safety
/// As for [`uv_pipe_getsockname`].
unsafe fn write_name(
    handle: *const uv_pipe_t,
    buffer: *mut c_char,
    size: *mut usize,
    ask: impl FnOnce(&mut Loop, Key) -> Result<Name>,
) -> Result<()> {
    // SAFETY: the handle was initialised; what is written is no more than `*size`.
    unsafe {
        if buffer.is_null() || size.is_null() || *size == 0 {
            return Err(Errno::EINVAL);
        }
        let asked = if is_closing(handle.cast()) { Err(Errno::EBADF) } else { with_open(handle.cast(), ask) };
        let room = std::mem::take(&mut *size);
        let name = asked?;
        let bytes = name.as_bytes();
        // A zero byte in front says that none ends it.
        let end = usize::from(bytes.first() != Some(&0));
        *size = bytes.len();
        if bytes.len() + end > room {
            *size += end;
            return Err(Errno::ENOBUFS);
        }
        copy_nonoverlapping(bytes.as_ptr(), buffer.cast(), bytes.len());
        if end == 1 {
            *buffer.add(bytes.len()) = 0;
        }
    }
    Ok(())
}

/// Does nothing: it is for systems where a listener has a number of instances.
///
/// # Safety
/// None; the handle is not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_pending_instances(_handle: *mut uv_pipe_t, _count: c_int) {}

/// How many handles have come along with what was read, and wait for `uv_accept`.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_pending_count(handle: *mut uv_pipe_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    let count = unsafe { with_open(handle.cast(), |core, key| Ok(core.pending_handles(key))) };
    count.unwrap_or(0).try_into().unwrap_or(c_int::MAX)
}

/// The kind of the handle that `uv_accept` takes next of those that have come; UV_UNKNOWN_HANDLE when there is none.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_pending_type(handle: *mut uv_pipe_t) -> uv_handle_type {
    // SAFETY: the same is asked of our caller.
    let next =
        unsafe { with_open(handle.cast(), |core, key| Ok(core.next_pending_handle(key).map(AsRawFd::as_raw_fd))) };
    uv_guess_handle(next.unwrap_or(None).unwrap_or(-1))
}

/// Lets all users read (UV_READABLE), write (UV_WRITABLE) or both through the file of a bound pipe.
///
/// UV_EINVAL for another mode; UV_EBADF for null and without a descriptor; UV_ENOENT without a path; UV_ENOTSOCK when
/// something else has taken the file's place.
///
/// # Safety
/// `handle` was initialised, or is zero, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe_chmod(handle: *mut uv_pipe_t, flags: c_int) -> c_int {
    // SAFETY: the handle was initialised.
    unsafe {
        if handle.is_null() || is_closing(handle.cast()) || (*handle).stream.io_watcher.fd < 0 {
            return Errno::EBADF.code();
        }
        if !(UV_READABLE..=UV_READABLE | UV_WRITABLE).contains(&flags) {
            return Errno::EINVAL.code();
        }
        let (readable, writable) = (flags & UV_READABLE != 0, flags & UV_WRITABLE != 0);
        code(with_open(handle.cast(), |core, key| core.pipe_chmod(key, readable, writable)))
    }
}

/// A pipe: what is written to `fds[1]` is read from `fds[0]`. Both are close-on-exec; the flags are UV_NONBLOCK_PIPE or 0,
/// one for each end.
///
/// UV_EMFILE, UV_ENFILE. `fds` is left alone then.
///
/// # Safety
/// `fds` has room for two descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_pipe(fds: *mut c_int, read_flags: c_int, write_flags: c_int) -> c_int {
    let made = oxuv_os::unix::pipe().and_then(|pipe| {
        for (fd, flags) in [(&pipe.0, read_flags), (&pipe.1, write_flags)] {
            if flags & UV_NONBLOCK_PIPE != 0 {
                oxuv_os::set_nonblocking(fd.as_raw_fd())?;
            }
        }
        Ok(pipe)
    });
    match made {
        // SAFETY: room for two, says the caller, who owns them from here on.
        Ok((reader, writer)) => unsafe { fds.cast::<[c_int; 2]>().write([reader.into_raw_fd(), writer.into_raw_fd()]) },
        Err(error) => return error.code(),
    }
    0
}
