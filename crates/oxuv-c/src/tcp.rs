//! TCP handles.

use std::ffi::{c_int, c_uint};

use libc::sockaddr;
use oxuv_core::kernel::BindFlags;

use crate::address::{read_address, write_address};
use crate::handle::key;
use crate::loop_::{User, with};
use crate::stream;
use crate::types::{UV_TCP, UV_TCP_IPV6ONLY, UV_TCP_REUSEPORT, uv_loop_t, uv_tcp_t};

/// Initialises a TCP handle. It has no socket yet.
///
/// # Safety
/// `loop_` was initialised; `tcp` points to memory for a TCP handle, which holds no open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_init(loop_: *mut uv_loop_t, tcp: *mut uv_tcp_t) -> c_int {
    // SAFETY: `loop_` has its core since init; `tcp` is memory for a stream.
    unsafe {
        match with(loop_, |core| core.tcp_init(User::of(tcp))) {
            Ok(key) => stream::init(tcp.cast(), loop_, UV_TCP, key),
            Err(error) => return error.code(),
        }
    }
    0
}

/// Binds a TCP handle to an IPv4 or IPv6 address. Of an address that is in use, `uv_listen` tells.
///
/// UV_EINVAL for an address of another family, a second bind, a closing handle, or UV_TCP_IPV6ONLY with IPv4.
///
/// # Safety
/// `tcp` was initialised on a loop that is not closed; `addr` points to an address as large as its family says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_bind(tcp: *mut uv_tcp_t, addr: *const sockaddr, flags: c_uint) -> c_int {
    let flags = BindFlags { ipv6_only: flags & UV_TCP_IPV6ONLY != 0, reuse_port: flags & UV_TCP_REUSEPORT != 0 };
    // SAFETY: an initialised handle has its loop and key; the address is the caller's word.
    unsafe {
        let key = key(tcp.cast());
        let bound = read_address(addr)
            .and_then(|address| with((*tcp).stream.handle.r#loop, |core| core.tcp_bind(key, &address, flags)));
        // A bind that fails may have made the socket all the same.
        stream::show_descriptor(tcp.cast());
        crate::error::code(bound)
    }
}

/// The address a TCP handle is bound to: as much of it as the `*namelen` bytes at `name` hold. `*namelen` becomes its
/// whole size.
///
/// UV_EBADF without a socket; UV_EADDRINUSE after a bind that found it so.
///
/// # Safety
/// `tcp` was initialised on a loop that is not closed; `name` points to `*namelen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_getsockname(
    tcp: *const uv_tcp_t,
    name: *mut sockaddr,
    namelen: *mut c_int,
) -> c_int {
    // SAFETY: an initialised handle has its loop and key; `name` has room for what `write_address` may write.
    unsafe {
        let key = key(tcp.cast());
        let address = with((*tcp).stream.handle.r#loop, |core| core.tcp_local_address(key));
        crate::error::code(address.and_then(|address| write_address(&address, name, namelen)))
    }
}
