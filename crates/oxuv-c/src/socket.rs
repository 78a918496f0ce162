//! Sockets, whatever kind of handle they belong to.

use std::ffi::c_int;
use std::os::fd::{AsRawFd, IntoRawFd};

use oxuv_core::{Errno, Result};
use oxuv_os::socket::{self, Buffer};

use crate::error::code;
use crate::types::{UV_NAMED_PIPE, UV_TCP, uv_handle_t, uv_stream_t};
use crate::udp::{UV_UDP, uv_udp_t};

/// Flag of `uv_socketpair` and others: this end is non-blocking.
pub const UV_NONBLOCK_PIPE: c_int = 0x40;

/// Sets the size of what the kernel keeps to be sent, in bytes; with 0 at `value`, it is asked for. Linux doubles what
/// is set.
///
/// UV_EINVAL for a null pointer; UV_ENOTSUP for a handle that is no socket; UV_EBADF without a socket.
///
/// # Safety
/// `handle` is null or was initialised; `value` is null or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_send_buffer_size(handle: *mut uv_handle_t, value: *mut c_int) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { buffer_size(handle, value, Buffer::Send) })
}

/// As [`uv_send_buffer_size`], for what was received.
///
/// # Safety
/// As for [`uv_send_buffer_size`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_recv_buffer_size(handle: *mut uv_handle_t, value: *mut c_int) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { buffer_size(handle, value, Buffer::Receive) })
}

/// # Safety
/// As for [`uv_send_buffer_size`].
unsafe fn buffer_size(handle: *const uv_handle_t, value: *mut c_int, buffer: Buffer) -> Result<()> {
    // SAFETY: both are looked at when they are not null only, and then they are what the caller says; the handle's type
    // says which kind it is.
    unsafe {
        if handle.is_null() || value.is_null() {
            return Err(Errno::EINVAL);
        }
        let number = match (*handle).r#type {
            UV_TCP | UV_NAMED_PIPE => (*handle.cast::<uv_stream_t>()).io_watcher.fd,
            UV_UDP => (*handle.cast::<uv_udp_t>()).io_watcher.fd,
            _ => return Err(Errno::ENOTSUP),
        };
        match *value {
            0 => *value = socket::buffer_size(number, buffer)?,
            size => socket::set_buffer_size(number, buffer, size)?,
        }
    }
    Ok(())
}

/// Two connected Unix sockets, close-on-exec. `type` and `protocol` are the system's; the flags are UV_NONBLOCK_PIPE or
/// 0, one for each end.
///
/// The system's errors: UV_EMFILE, UV_EPROTONOSUPPORT and others. `fds` is left alone then.
///
/// # Safety
/// `fds` has room for two descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_socketpair(
    r#type: c_int,
    protocol: c_int,
    fds: *mut c_int,
    flags0: c_int,
    flags1: c_int,
) -> c_int {
    let made = socket::pair(r#type, protocol).and_then(|pair| {
        for (fd, flags) in [(&pair.0, flags0), (&pair.1, flags1)] {
            if flags & UV_NONBLOCK_PIPE != 0 {
                oxuv_os::set_nonblocking(fd.as_raw_fd())?;
            }
        }
        Ok(pair)
    });
    match made {
        // SAFETY: room for two, says the caller, who owns them from here on.
        Ok((one, other)) => unsafe { fds.cast::<[c_int; 2]>().write([one.into_raw_fd(), other.into_raw_fd()]) },
        Err(error) => return error.code(),
    }
    0
}
