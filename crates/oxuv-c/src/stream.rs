//! Streams: listening, accepting and reading. Writing has a file of its own.

use std::ffi::c_int;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

use oxuv_core::{Errno, Key};

use crate::error::code;
use crate::handle::{self, CLOSING, key, with_open};
use crate::types::{uv_alloc_cb, uv_connection_cb, uv_handle_type, uv_loop_t, uv_read_cb, uv_stream_t};
use crate::udp::{UV_UDP, uv_udp_t};

/// Writes what all streams have, except `data`.
///
/// # Safety
/// `stream` points to memory for a stream.
pub(crate) unsafe fn init(stream: *mut uv_stream_t, loop_: *mut uv_loop_t, r#type: uv_handle_type, key: Key) {
    // SAFETY: the caller has memory for all of a stream there; what it holds so far is not looked at.
    unsafe {
        handle::init(stream.cast(), loop_, r#type, key);
        (*stream).write_queue_size = 0;
        (*stream).alloc_cb = None;
        (*stream).read_cb = None;
        (*stream).connect_req = null_mut();
        (*stream).shutdown_req = null_mut();
        (*stream).io_watcher.fd = -1;
        (*stream).connection_cb = None;
    }
}

/// Shows programs the stream's descriptor, where they look for it.
///
/// # Safety
/// `stream` was initialised.
pub(crate) unsafe fn show_descriptor(stream: *mut uv_stream_t) {
    // SAFETY: the handle was initialised.
    unsafe {
        match with_open(stream.cast(), |core, key| core.descriptor(key).map(AsRawFd::as_raw_fd)) {
            Ok(fd) => (*stream).io_watcher.fd = fd,
            Err(Errno::EBADF) => (*stream).io_watcher.fd = -1,
            // It is no stream, whatever the caller thinks; or it is closing, and shows none any more.
            Err(_) => {}
        }
    }
}

/// Listens for connections: `cb` for each that can be taken with [`uv_accept`]. Again sets the new backlog and
/// callback.
///
/// UV_EADDRINUSE also for what [`uv_tcp_bind`](crate::uv_tcp_bind) found so; UV_EINVAL for a closing or connected
/// stream.
///
/// # Safety
/// `stream` was initialised, and stays valid until it is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_listen(stream: *mut uv_stream_t, backlog: c_int, cb: uv_connection_cb) -> c_int {
    // SAFETY: the handle was initialised.
    unsafe {
        let listening = with_open(stream.cast(), |core, key| core.listen(key, backlog));
        if listening.is_ok() {
            (*stream).connection_cb = cb;
        }
        // Without a bind, this has made the socket.
        show_descriptor(stream);
        code(listening)
    }
}

/// Gives a listener's waiting connection to `client`; or, of a pipe, the handle that came first of those that have come
/// along with what was read, to a TCP handle, a pipe or a UDP handle.
///
/// UV_EAGAIN when none waits, or when the listener is closing; UV_EINVAL when `client` is closing, or no stream, or not
/// of the same loop; UV_EBUSY when `client` has a descriptor, UV_ENOTSOCK when it is of the wrong kind: the
/// connection is closed then.
///
/// # Safety
/// Both were initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_accept(server: *mut uv_stream_t, client: *mut uv_stream_t) -> c_int {
    // SAFETY: both were initialised; the keys go to one core only when that is both's.
    unsafe {
        if is_closing(server) {
            return Errno::EAGAIN.code();
        }
        if (*server).handle.r#loop != (*client).handle.r#loop {
            return Errno::EINVAL.code();
        }
        let connection = key(client.cast());
        let accepted = with_open(server.cast(), |core, listener| core.accept_number(listener, connection));
        match accepted {
            Ok(fd) if (*client).handle.r#type == UV_UDP => (*client.cast::<uv_udp_t>()).io_watcher.fd = fd,
            Ok(fd) => (*client).io_watcher.fd = fd,
            Err(_) => {}
        }
        code(accepted.map(|_| ()))
    }
}

/// Starts reading: `alloc_cb` is asked for memory and `read_cb` gets what was read, until stopped, the end of the
/// stream or an error.
///
/// UV_EINVAL without one of the callbacks, or for a closing stream; UV_EALREADY when it is reading; UV_ENOTCONN when
/// it is not connected.
///
/// # Safety
/// `stream` was initialised, and stays valid until it is closed. The memory that `alloc_cb` gives is valid for
/// writing, and nobody else's, until `read_cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_read_start(
    stream: *mut uv_stream_t,
    alloc_cb: uv_alloc_cb,
    read_cb: uv_read_cb,
) -> c_int {
    if stream.is_null() || alloc_cb.is_none() || read_cb.is_none() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the handle was initialised.
    unsafe {
        let reading = with_open(stream.cast(), |core, key| core.read_start(key));
        if reading.is_ok() {
            (*stream).alloc_cb = alloc_cb;
            (*stream).read_cb = read_cb;
        }
        code(reading)
    }
}

/// Stops reading. Stopped is stopped: again does nothing, nor does it for a closed stream.
///
/// UV_EINVAL for a zero handle.
///
/// # Safety
/// `stream` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_read_stop(stream: *mut uv_stream_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { handle::stop(stream.cast(), |core, key| core.read_stop(key)) }
}

/// 1 from the moment the stream connects until its reading side fails or it is closed, else 0.
///
/// # Safety
/// `handle` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_is_readable(handle: *const uv_stream_t) -> c_int {
    // SAFETY: the handle was initialised.
    let readable = unsafe { with_open(handle.cast(), |core, key| Ok(core.is_readable(key))) };
    readable.unwrap_or(false).into()
}

/// 1 from the moment the stream connects until it is shut down, its writing side fails, or it is closed, else 0.
///
/// # Safety
/// `handle` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_is_writable(handle: *const uv_stream_t) -> c_int {
    // SAFETY: the handle was initialised.
    let writable = unsafe { with_open(handle.cast(), |core, key| Ok(core.is_writable(key))) };
    writable.unwrap_or(false).into()
}

/// Makes the stream's descriptor blocking, or non-blocking again. Callbacks come as ever.
///
/// UV_EBADF without a descriptor, and for a closing handle; UV_EINVAL for a zero one.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_stream_set_blocking(handle: *mut uv_stream_t, blocking: c_int) -> c_int {
    // SAFETY: the same is asked of our caller. The descriptor of a zero handle would be the program's standard input.
    let number = unsafe {
        if is_closing(handle) {
            Err(Errno::EBADF)
        } else {
            with_open(handle.cast(), |core, key| core.descriptor_number(key))
        }
    };
    code(number.and_then(|number| match blocking {
        0 => oxuv_os::set_nonblocking(number),
        _ => oxuv_os::set_blocking(number),
    }))
}

/// Bytes of writes that are not sent, or whose failure was not told yet.
///
/// # Safety
/// `stream` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_stream_get_write_queue_size(stream: *const uv_stream_t) -> usize {
    // SAFETY: init has written the field.
    unsafe { (*stream).write_queue_size }
}

/// # Safety
/// `stream` was initialised.
#[inline]
pub(crate) unsafe fn is_closing(stream: *const uv_stream_t) -> bool {
    // SAFETY: init has written the flags.
    unsafe { (*stream).handle.flags & CLOSING != 0 }
}
