//! TCP handles and their addresses.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr::copy_nonoverlapping;

use libc::{AF_INET, AF_INET6, AF_UNSPEC, in_addr, in6_addr, sockaddr, sockaddr_in, sockaddr_in6};
use oxuv_core::kernel::BindFlags;
use oxuv_core::{Errno, Key, Result};

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
    // SAFETY: the same is asked of our caller.
    unsafe { uv_tcp_init_ex(loop_, tcp, AF_UNSPEC as c_uint) }
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
        Ok(AF_UNSPEC) => None,
        Ok(AF_INET) => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        Ok(AF_INET6) => Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
        _ => return Errno::EINVAL.code(),
    };
    // SAFETY: `loop_` has its core since init; `tcp` is memory for a stream.
    unsafe {
        let made = with(loop_, |core| match family {
            None => core.tcp_init(User::of(tcp)),
            Some(family) => core.tcp_init_with_socket(User::of(tcp), family),
        });
        match made {
            Ok(key) => stream::init(tcp.cast(), loop_, UV_TCP, key),
            Err(error) => return error.code(),
        }
        if family.is_some() {
            stream::show_descriptor(tcp.cast());
        }
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
                std::mem::forget(refused.given);
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
    code(unsafe { write_name(tcp, name, namelen, |core, key| core.tcp_local_address(key)) })
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
    code(unsafe { write_name(tcp, name, namelen, |core, key| core.tcp_peer_address(key)) })
}

/// # Safety
/// As for [`uv_tcp_getsockname`].
unsafe fn write_name(
    tcp: *const uv_tcp_t,
    name: *mut sockaddr,
    namelen: *mut c_int,
    ask: impl FnOnce(&mut Loop, Key) -> Result<SocketAddr>,
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

/// Makes an address out of `"127.0.0.1"` and a port.
///
/// UV_EINVAL when `ip` is not four decimal numbers.
///
/// # Safety
/// `ip` is a text with a zero at its end; `addr` points to memory for an address.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_ip4_addr(ip: *const c_char, port: c_int, addr: *mut sockaddr_in) -> c_int {
    // SAFETY: a text with a zero at its end, says the caller.
    let text = unsafe { CStr::from_ptr(ip) };
    let parsed = text.to_str().ok().and_then(|text| text.parse::<Ipv4Addr>().ok());
    // As in libuv, the rest of the address is good also when the numbers are not. The port is cut to 16 bits.
    let address = SocketAddrV4::new(parsed.unwrap_or(Ipv4Addr::UNSPECIFIED), port as u16);
    // SAFETY: memory for this type, says the caller.
    unsafe { addr.write_unaligned(ipv4(&address)) };
    if parsed.is_some() { 0 } else { Errno::EINVAL.code() }
}

/// # Safety
/// `addr` points to an address as large as its family says.
pub(crate) unsafe fn read_address(addr: *const sockaddr) -> Result<SocketAddr> {
    // SAFETY: the family, at the same place in all addresses, says which structure it is. Programs keep addresses in
    // memory of lesser alignment, too.
    unsafe {
        match c_int::from((&raw const (*addr).sa_family).read_unaligned()) {
            AF_INET => {
                let v4 = addr.cast::<sockaddr_in>().read_unaligned();
                let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
                Ok(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
            }
            AF_INET6 => {
                let v6 = addr.cast::<sockaddr_in6>().read_unaligned();
                let port = u16::from_be(v6.sin6_port);
                let ip = v6.sin6_addr.s6_addr.into();
                // The flow label is passed on as it lies there, like the standard library does.
                Ok(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
            }
            _ => Err(Errno::EINVAL),
        }
    }
}

/// # Safety
/// `name` points to `*len` bytes.
unsafe fn write_address(address: &SocketAddr, name: *mut sockaddr, len: *mut c_int) -> Result<()> {
    // SAFETY: each copy ends where the shorter of both ends: the caller's bytes, or the structure.
    unsafe {
        let room = usize::try_from(*len).map_err(|_| Errno::EINVAL)?;
        let size = match address {
            SocketAddr::V4(address) => {
                let v4 = ipv4(address);
                copy_nonoverlapping((&raw const v4).cast::<u8>(), name.cast(), room.min(size_of_val(&v4)));
                size_of_val(&v4)
            }
            SocketAddr::V6(address) => {
                let v6 = ipv6(address);
                copy_nonoverlapping((&raw const v6).cast::<u8>(), name.cast(), room.min(size_of_val(&v6)));
                size_of_val(&v6)
            }
        };
        *len = size as c_int;
    }
    Ok(())
}

fn ipv4(address: &SocketAddrV4) -> sockaddr_in {
    sockaddr_in {
        sin_family: AF_INET as _,
        sin_port: address.port().to_be(),
        sin_addr: in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

fn ipv6(address: &SocketAddrV6) -> sockaddr_in6 {
    sockaddr_in6 {
        sin6_family: AF_INET6 as _,
        sin6_port: address.port().to_be(),
        sin6_flowinfo: address.flowinfo(),
        sin6_addr: in6_addr { s6_addr: address.ip().octets() },
        sin6_scope_id: address.scope_id(),
    }
}
