//! TCP handles.

use std::ffi::{c_int, c_uint};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use libc::{AF_INET, AF_INET6, AF_UNSPEC, sockaddr};
use oxuv_core::kernel::{BindFlags, Kernel};
use oxuv_core::{Address, Errno, Key, Result};

use crate::address::{read_address, write_address};
use crate::error::code;
use crate::handle::{uv_close, with_open};
use crate::loop_::{Loop, User, kernel, with};
use crate::stream;
use crate::types::{UV_TCP, UV_TCP_IPV6ONLY, UV_TCP_REUSEPORT, uv_close_cb, uv_loop_t, uv_tcp_t};

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

/// Initialises a TCP handle. `flags` is the family of a socket that it gets at once: AF_INET, AF_INET6, or AF_UNSPEC for
/// none yet.
///
/// UV_EINVAL for other flags; UV_EAFNOSUPPORT, UV_EMFILE, UV_ENFILE and others for the socket.
///
/// # Safety
/// As for [`uv_tcp_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_init_ex(loop_: *mut uv_loop_t, tcp: *mut uv_tcp_t, flags: c_uint) -> c_int {
    let family = match c_int::try_from(flags) {
        // SAFETY: the same is asked of our caller.
        Ok(AF_UNSPEC) => return unsafe { uv_tcp_init(loop_, tcp) },
        Ok(AF_INET) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        Ok(AF_INET6) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        _ => return Errno::EINVAL.code(),
    };
    // SAFETY: `loop_` has its core since init; `tcp` is memory for a stream.
    unsafe {
        match with(loop_, |core| core.tcp_init_with_socket(User::of(tcp), family)) {
            Ok(key) => stream::init(tcp.cast(), loop_, UV_TCP, key),
            Err(error) => return error.code(),
        }
        stream::show_descriptor(tcp.cast());
    }
    0
}

/// Gives a TCP handle a socket that was made elsewhere, and with it the duty to close it. It is made non-blocking.
///
/// UV_EEXIST when a handle of this loop waits for it; UV_EBUSY when `tcp` has another socket; UV_ENOTSOCK; UV_EBADF;
/// UV_EINVAL when `tcp` is closing. The socket stays the caller's then.
///
/// # Safety
/// `tcp` was initialised. If it takes the socket, nobody else closes that.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_open(tcp: *mut uv_tcp_t, sock: c_int) -> c_int {
    if sock < 0 {
        return Errno::EBADF.code();
    }
    // SAFETY: the handle was initialised. The descriptor of this number is the handle's, or is let go of unclosed.
    unsafe {
        let opened = with_open(tcp.cast(), |core, key| {
            let socket = kernel::own(core.kernel(), sock);
            core.tcp_open(key, socket).map_err(|refused| {
                kernel::Kernel::let_go(refused.given);
                refused.error
            })
        });
        stream::show_descriptor(tcp.cast());
        code(opened)
    }
}

/// Binds a TCP handle to an IPv4 or IPv6 address. Of an address that is in use, `uv_listen` tells.
///
/// UV_EINVAL for an address of another family, a second bind, a closing handle, or UV_TCP_IPV6ONLY with IPv4.
///
/// # Safety
/// `tcp` was initialised; `addr` points to an address as large as its family says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_bind(tcp: *mut uv_tcp_t, addr: *const sockaddr, flags: c_uint) -> c_int {
    let flags = BindFlags { ipv6_only: flags & UV_TCP_IPV6ONLY != 0, reuse_port: flags & UV_TCP_REUSEPORT != 0 };
    // SAFETY: the handle was initialised; the address is the caller's word.
    unsafe {
        let bound = read_address(addr)
            .and_then(|address| with_open(tcp.cast(), |core, key| core.tcp_bind(key, &address, flags)));
        // A bind that fails may have made the socket all the same.
        stream::show_descriptor(tcp.cast());
        code(bound)
    }
}

/// The address a TCP handle is bound to: as much of it as the `*namelen` bytes at `name` hold. `*namelen` becomes its
/// whole size.
///
/// UV_EBADF without a socket; UV_EADDRINUSE after a bind that found it so.
///
/// # Safety
/// `tcp` was initialised; `name` points to `*namelen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_getsockname(
    tcp: *const uv_tcp_t,
    name: *mut sockaddr,
    namelen: *mut c_int,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { write_name(tcp, name, namelen, local_name) })
}

/// The address of the other end, in the same way as [`uv_tcp_getsockname`].
///
/// UV_ENOTCONN; and as [`uv_tcp_getsockname`].
///
/// # Safety
/// As for [`uv_tcp_getsockname`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_getpeername(
    tcp: *const uv_tcp_t,
    name: *mut sockaddr,
    namelen: *mut c_int,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { write_name(tcp, name, namelen, peer_name) })
}

fn local_name(core: &mut Loop, key: Key) -> Result<Address> {
    match core.tcp_local_address(key) {
        // Programs may have opened any socket.
        Err(Errno::EAFNOSUPPORT) => kernel::local_name(core.descriptor(key)?),
        address => address.map(|address| Address::from(&address)),
    }
}

fn peer_name(core: &mut Loop, key: Key) -> Result<Address> {
    match core.tcp_peer_address(key) {
        Err(Errno::EAFNOSUPPORT) => kernel::peer_name(core.descriptor(key)?),
        address => address.map(|address| Address::from(&address)),
    }
}

/// # Safety
/// As for [`uv_tcp_getsockname`].
unsafe fn write_name(
    tcp: *const uv_tcp_t,
    name: *mut sockaddr,
    namelen: *mut c_int,
    ask: impl FnOnce(&mut Loop, Key) -> Result<Address>,
) -> Result<()> {
    // SAFETY: the handle was initialised; `name` has room for what `write_address` may write.
    unsafe {
        if stream::is_closing(tcp.cast()) {
            return Err(Errno::EBADF);
        }
        with_open(tcp.cast(), ask).and_then(|address| write_address(&address, name, namelen))
    }
}

/// Closes the handle as [`uv_close`] does, and resets the connection: what is not sent is dropped, and the peer gets an
/// error.
///
/// UV_EINVAL while a shutdown is under way, UV_EBADF without a socket or when it is closing: nothing happens then.
///
/// # Safety
/// As for [`uv_close`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_close_reset(tcp: *mut uv_tcp_t, close_cb: uv_close_cb) -> c_int {
    // SAFETY: the handle was initialised, and its memory stays valid until `close_cb`.
    unsafe {
        if stream::is_closing(tcp.cast()) {
            return Errno::EBADF.code();
        }
        let prepared = with_open(tcp.cast(), |core, key| core.tcp_reset_on_close(key));
        if prepared.is_ok() {
            uv_close(tcp.cast(), close_cb);
        }
        code(prepared)
    }
}
