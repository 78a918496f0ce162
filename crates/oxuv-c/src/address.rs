//! Addresses: C's structures, and their texts.

use std::ffi::{CStr, c_char, c_int};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr::copy_nonoverlapping;

use libc::{AF_INET, AF_INET6, in_addr, in6_addr, sockaddr, sockaddr_in, sockaddr_in6};
use oxuv_core::{Errno, Result};

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

/// An IPv4 or IPv6 address. UV_EINVAL for another family.
///
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

/// Writes as much of an address as the `*len` bytes at `name` hold; `*len` becomes its whole size.
///
/// # Safety
/// `name` points to `*len` bytes.
pub(crate) unsafe fn write_address(address: &SocketAddr, name: *mut sockaddr, len: *mut c_int) -> Result<()> {
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
