//! UDP handles: their sockets and names. Sending, receiving and options have files of their own.

use std::ffi::{c_int, c_uint};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;

use libc::{AF_INET, AF_INET6, AF_UNSPEC, sockaddr};
use oxuv_core::kernel::{Kernel as _, UdpBindFlags};
use oxuv_core::{Address, Errno, Key, Result};

use crate::address::{read_address, write_address};
use crate::error::code;
use crate::handle::{self, CLOSING, with_open};
use crate::loop_::{Loop, User, kernel, with};
use crate::types::{uv__io_t, uv_alloc_cb, uv_handle_t, uv_handle_type, uv_loop_t};
use crate::udp_recv::uv_udp_recv_cb;

/// A UDP handle.
pub const UV_UDP: uv_handle_type = 15;

/// Flag of `uv_udp_bind`: an IPv6 socket that takes no IPv4 datagrams.
pub const UV_UDP_IPV6ONLY: c_uint = 1;
/// Flag of a receive callback: the buffer was too small, the rest is lost.
pub const UV_UDP_PARTIAL: c_uint = 2;
/// Flag of `uv_udp_bind` and `uv_udp_open_ex`: others may be bound to the address; one of them gets what comes.
pub const UV_UDP_REUSEADDR: c_uint = 4;
/// Flag of a receive callback: the buffer is a part of the one that was given, which is not to be freed yet.
pub const UV_UDP_MMSG_CHUNK: c_uint = 8;
/// Flag of a receive callback: the buffer that was given comes back.
pub const UV_UDP_MMSG_FREE: c_uint = 16;
/// Flag of `uv_udp_bind`: failures that ICMP tells of are received. Flag of a receive callback: this is one.
pub const UV_UDP_LINUX_RECVERR: c_uint = 32;
/// Flag of `uv_udp_bind` and `uv_udp_open_ex`: others may be bound to the address; what comes is spread over them.
pub const UV_UDP_REUSEPORT: c_uint = 64;
/// Flag of `uv_udp_init_ex`: several datagrams are received at a time.
pub const UV_UDP_RECVMMSG: c_uint = 256;

/// Flag of a handle: it receives several datagrams at a time, and says so also when it is closed.
pub(crate) const SEVERAL: c_uint = 4;

/// Sends and receives datagrams.
#[repr(C)]
pub struct uv_udp_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    /// Bytes of datagrams whose send callback is still to come.
    pub send_queue_size: usize,
    /// Datagrams whose send callback is still to come.
    pub send_queue_count: usize,
    pub(crate) alloc_cb: uv_alloc_cb,
    pub(crate) recv_cb: uv_udp_recv_cb,
    /// Private in libuv too, but programs read its `fd`.
    pub io_watcher: uv__io_t,
    _queues: [usize; 4],
}

/// Initialises a UDP handle. It has no socket yet.
///
/// # Safety
/// `loop_` was initialised; `udp` points to memory for a UDP handle, which holds no open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_init(loop_: *mut uv_loop_t, udp: *mut uv_udp_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { uv_udp_init_ex(loop_, udp, AF_UNSPEC as c_uint) }
}

/// Initialises a UDP handle. `flags` is the family of a socket that it gets at once (AF_INET, AF_INET6, or AF_UNSPEC for
/// none yet), with UV_UDP_RECVMMSG or without.
///
/// UV_EINVAL for other flags; UV_EAFNOSUPPORT, UV_EMFILE, UV_ENFILE and others for the socket.
///
/// # Safety
/// As for [`uv_udp_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_init_ex(loop_: *mut uv_loop_t, udp: *mut uv_udp_t, flags: c_uint) -> c_int {
    let several = flags & UV_UDP_RECVMMSG != 0;
    let family = match c_int::try_from(flags & !UV_UDP_RECVMMSG) {
        Ok(AF_UNSPEC) => None,
        Ok(AF_INET) => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        Ok(AF_INET6) => Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
        _ => return Errno::EINVAL.code(),
    };
    // SAFETY: `loop_` has its core since init; `udp` is memory for all the fields written.
    unsafe {
        let made = with(loop_, |core| match family {
            None => core.udp_init(User::of(udp), several),
            Some(family) => core.udp_init_with_socket(User::of(udp), several, family),
        });
        match made {
            Ok(key) => handle::init(udp.cast(), loop_, UV_UDP, key),
            Err(error) => return error.code(),
        }
        if several {
            (*udp).handle.flags |= SEVERAL;
        }
        (*udp).send_queue_size = 0;
        (*udp).send_queue_count = 0;
        (*udp).alloc_cb = None;
        (*udp).recv_cb = None;
        (*udp).io_watcher.fd = -1;
        show_descriptor(udp);
    }
    0
}

/// As [`uv_udp_open_ex`] with UV_UDP_REUSEADDR.
///
/// # Safety
/// As for [`uv_udp_open_ex`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_open(udp: *mut uv_udp_t, sock: c_int) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { uv_udp_open_ex(udp, sock, UV_UDP_REUSEADDR) }
}

/// Gives a UDP handle a socket that was made elsewhere, of any kind that sends and receives datagrams, and with it the
/// duty to close it. It is made non-blocking. `flags` are UV_UDP_REUSEADDR and UV_UDP_REUSEPORT.
///
/// UV_EINVAL for other flags, or when `udp` is closing; UV_EBUSY when it has a socket; UV_EEXIST when a handle of this loop
/// waits for the descriptor; UV_ENOTSOCK; UV_EBADF. The socket stays the caller's then.
///
/// # Safety
/// `udp` was initialised. If it takes the socket, nobody else closes that.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_open_ex(udp: *mut uv_udp_t, sock: c_int, flags: c_uint) -> c_int {
    if flags & !(UV_UDP_REUSEADDR | UV_UDP_REUSEPORT) != 0 {
        return Errno::EINVAL.code();
    }
    if sock < 0 {
        // SAFETY: the handle was initialised.
        let has_socket = unsafe { (*udp).io_watcher.fd >= 0 };
        return if has_socket { Errno::EBUSY } else { Errno::EBADF }.code();
    }
    // SAFETY: the handle was initialised. The descriptor of this number is the handle's, or is let go of unclosed.
    unsafe {
        let opened = with_open(udp.cast(), |core, key| {
            let socket = kernel::own(core.kernel(), sock);
            core.udp_open(key, socket, bind_flags(flags)).map_err(|refused| {
                kernel::Kernel::let_go(refused.given);
                refused.error
            })
        });
        show_descriptor(udp);
        code(opened)
    }
}

/// Binds a UDP handle to an IPv4 or IPv6 address.
///
/// UV_EINVAL for other flags than UV_UDP_IPV6ONLY, UV_UDP_REUSEADDR, UV_UDP_REUSEPORT and UV_UDP_LINUX_RECVERR, for an
/// address of another family, for UV_UDP_IPV6ONLY with IPv4, for a second bind and a closing handle; UV_EADDRINUSE.
///
/// # Safety
/// `udp` was initialised; `addr` points to an address as large as its family says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_bind(udp: *mut uv_udp_t, addr: *const sockaddr, flags: c_uint) -> c_int {
    const KNOWN: c_uint = UV_UDP_IPV6ONLY | UV_UDP_REUSEADDR | UV_UDP_REUSEPORT | UV_UDP_LINUX_RECVERR;
    if flags & !KNOWN != 0 {
        return Errno::EINVAL.code();
    }
    // SAFETY: the handle was initialised; the address is the caller's word.
    unsafe {
        let bound = read_address(addr)
            .and_then(|address| with_open(udp.cast(), |core, key| core.udp_bind(key, &address, bind_flags(flags))));
        // A bind that fails may have made the socket all the same.
        show_descriptor(udp);
        code(bound)
    }
}

fn bind_flags(flags: c_uint) -> UdpBindFlags {
    UdpBindFlags {
        ipv6_only: flags & UV_UDP_IPV6ONLY != 0,
        reuse_address: flags & UV_UDP_REUSEADDR != 0,
        reuse_port: flags & UV_UDP_REUSEPORT != 0,
        receive_errors: flags & UV_UDP_LINUX_RECVERR != 0,
    }
}

/// Connects a UDP handle: it sends to this address, and receives from it only. With a null address it is connected no
/// more.
///
/// UV_EISCONN when it is connected, UV_ENOTCONN when it is to be no more and was not; UV_EINVAL for an address of another
/// family and a closing handle; what the system says.
///
/// # Safety
/// `udp` was initialised; `addr` is null or points to an address as large as its family says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_connect(udp: *mut uv_udp_t, addr: *const sockaddr) -> c_int {
    // SAFETY: the handle was initialised; the address is the caller's word.
    unsafe {
        let address = if addr.is_null() { Ok(None) } else { read_address(addr).map(Some) };
        let connected =
            address.and_then(|address| with_open(udp.cast(), |core, key| core.udp_connect(key, address.as_ref())));
        show_descriptor(udp);
        code(connected)
    }
}

/// The address a UDP handle is bound to: as much of it as the `*namelen` bytes at `name` hold. `*namelen` becomes its
/// whole size.
///
/// UV_EBADF without a socket.
///
/// # Safety
/// `udp` was initialised; `name` points to `*namelen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_getsockname(
    udp: *const uv_udp_t,
    name: *mut sockaddr,
    namelen: *mut c_int,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { write_name(udp, name, namelen, local_name) })
}

/// The address a UDP handle is connected to, in the same way as [`uv_udp_getsockname`].
///
/// UV_ENOTCONN; and as [`uv_udp_getsockname`].
///
/// # Safety
/// As for [`uv_udp_getsockname`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_getpeername(
    udp: *const uv_udp_t,
    name: *mut sockaddr,
    namelen: *mut c_int,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { write_name(udp, name, namelen, peer_name) })
}

fn local_name(core: &mut Loop, key: Key) -> Result<Address> {
    match core.udp_local_address(key) {
        // Programs may have opened any socket.
        Err(Errno::EAFNOSUPPORT) => kernel::local_name(core.udp_descriptor(key)?),
        address => address.map(|address| Address::from(&address)),
    }
}

fn peer_name(core: &mut Loop, key: Key) -> Result<Address> {
    match core.udp_peer_address(key) {
        Err(Errno::EAFNOSUPPORT) => kernel::peer_name(core.udp_descriptor(key)?),
        address => address.map(|address| Address::from(&address)),
    }
}

/// # Safety
/// As for [`uv_udp_getsockname`].
unsafe fn write_name(
    udp: *const uv_udp_t,
    name: *mut sockaddr,
    namelen: *mut c_int,
    ask: impl FnOnce(&mut Loop, Key) -> Result<Address>,
) -> Result<()> {
    // SAFETY: the handle was initialised; `name` has room for what `write_address` may write.
    unsafe { with_socket(udp, ask).and_then(|address| write_address(&address, name, namelen)) }
}

/// Calls into the core about the socket of a handle, of which a closing one has none.
///
/// # Safety
/// `udp` was initialised, or is zero.
pub(crate) unsafe fn with_socket<R>(udp: *const uv_udp_t, call: impl FnOnce(&mut Loop, Key) -> Result<R>) -> Result<R> {
    // SAFETY: the same is asked of our caller.
    unsafe {
        if (*udp).handle.flags & CLOSING != 0 {
            return Err(Errno::EBADF);
        }
        with_open(udp.cast(), call)
    }
}

/// Shows programs the handle's descriptor, where they look for it.
///
/// # Safety
/// `udp` was initialised.
pub(crate) unsafe fn show_descriptor(udp: *mut uv_udp_t) {
    // SAFETY: the handle was initialised.
    if let Ok(fd) = unsafe { with_open(udp.cast(), |core, key| core.udp_descriptor(key).map(AsRawFd::as_raw_fd)) } {
        // SAFETY: it is an open UDP handle.
        unsafe { (*udp).io_watcher.fd = fd };
    }
}
