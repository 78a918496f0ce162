//! Streams: listening, accepting and reading. Writing has a file of its own.

use std::ffi::c_int;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

use oxuv_core::{Errno, Key};

use crate::error::code;
use crate::handle::{self, key};
use crate::loop_::with;
use crate::types::{uv_alloc_cb, uv_connection_cb, uv_handle_type, uv_loop_t, uv_read_cb, uv_stream_t};

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
        (*stream).shutdown_req = null_mut();
        (*stream).io_watcher.fd = -1;
        (*stream).connection_cb = None;
    }
}

/// Shows programs the stream's descriptor, where they look for it.
///
/// # Safety
/// `stream` was initialised on a loop that is not closed.
pub(crate) unsafe fn show_descriptor(stream: *mut uv_stream_t) {
    // SAFETY: an initialised stream has its loop and key.
    unsafe {
        let key = key(stream.cast());
        let fd = with((*stream).handle.r#loop, |core| core.descriptor(key).map(AsRawFd::as_raw_fd)).unwrap_or(-1);
        (*stream).io_watcher.fd = fd;
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
    // SAFETY: an initialised stream has its loop and key.
    unsafe {
        let key = key(stream.cast());
        let listening = with((*stream).handle.r#loop, |core| core.listen(key, backlog));
        if listening.is_ok() {
            (*stream).connection_cb = cb;
        }
        // Without a bind, this has made the socket.
        show_descriptor(stream);
        code(listening)
    }
}

/// Gives a listener's waiting connection to `client`.
///
/// UV_EAGAIN when none waits; UV_EINVAL when either is closing or they are not of one loop; UV_EBUSY when `client` has
/// a socket.
///
/// # Safety
/// Both were initialised on loops that are not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_accept(server: *mut uv_stream_t, client: *mut uv_stream_t) -> c_int {
    // SAFETY: initialised streams have their loops and keys; the keys go to one core only when that is both's.
    unsafe {
        if (*server).handle.r#loop != (*client).handle.r#loop {
            return Errno::EINVAL.code();
        }
        let (listener, connection) = (key(server.cast()), key(client.cast()));
        let accepted = with((*server).handle.r#loop, |core| core.accept(listener, connection));
        if accepted.is_ok() {
            show_descriptor(client);
        }
        code(accepted)
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
    // SAFETY: an initialised stream has its loop and key.
    unsafe {
        let key = key(stream.cast());
        let reading = with((*stream).handle.r#loop, |core| core.read_start(key));
        if reading.is_ok() {
            (*stream).alloc_cb = alloc_cb;
            (*stream).read_cb = read_cb;
        }
        code(reading)
    }
}

/// Stops reading. Stopped is stopped: again does nothing.
///
/// # Safety
/// `stream` was initialised on a loop that is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_read_stop(stream: *mut uv_stream_t) -> c_int {
    // SAFETY: an initialised stream has its loop and key. A stale key is a closed stream, which does not read.
    unsafe {
        let key = key(stream.cast());
        let _ = with((*stream).handle.r#loop, |core| core.read_stop(key));
    }
    0
}
