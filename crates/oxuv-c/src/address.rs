//! Addresses: C's structures and their texts.
//!
//! Texts are read by the standard library's parsers, which take exactly the texts that libuv takes.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr::copy_nonoverlapping;
use std::str::FromStr;

use libc::{AF_INET, AF_INET6, in_addr, in6_addr, sockaddr, sockaddr_in, sockaddr_in6};
use oxuv_core::{Address, Errno, Result};
use oxuv_os::interface;

use crate::error::code;

/// Makes an address out of `"127.0.0.1"` and a port, of which 16 bits count.
///
/// UV_EINVAL when `ip` is not four decimal numbers. The address is 0.0.0.0 then, with that port.
///
/// # Safety
/// `ip` is null or a text with a zero at its end; `addr` is null or points to memory for an address.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_ip4_addr(ip: *const c_char, port: c_int, addr: *mut sockaddr_in) -> c_int {
    if addr.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: a text or null, says the caller.
    let parsed = unsafe { text(ip) }.and_then(|text| parse(text.to_bytes()));
    let address = SocketAddrV4::new(parsed.unwrap_or(Ipv4Addr::UNSPECIFIED), port as u16);
    // SAFETY: not null, hence memory for this type.
    unsafe { addr.write_unaligned(ipv4(&address)) };
    code(parsed.map(drop))
}

/// Makes an address out of `"fe80::1%eth0"`, where the interface may be left out, and a port, of which 16 bits count.
/// An interface that is not there is as good as none; numbers are names like all others.
///
/// UV_EINVAL when `ip` is no IPv6 address. The address is :: then, with that port and interface.
///
/// # Safety
/// `ip` is null or a text with a zero at its end; `addr` is null or points to memory for an address.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_ip6_addr(ip: *const c_char, port: c_int, addr: *mut sockaddr_in6) -> c_int {
    if addr.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: a text or null, says the caller.
    let text = unsafe { text(ip) };
    let parsed = text.and_then(|text| parse(without_interface(text.to_bytes())));
    let scope = text.map_or(0, scope);
    let address = SocketAddrV6::new(parsed.unwrap_or(Ipv6Addr::UNSPECIFIED), port as u16, 0, scope);
    // SAFETY: not null, hence memory for this type.
    unsafe { addr.write_unaligned(ipv6(&address)) };
    code(parsed.map(drop))
}

/// Reads the text of an address of family `af`: four bytes for IPv4, 16 for IPv6, where an interface in the text is
/// passed over.
///
/// UV_EINVAL for null or a text that is no such address, UV_EAFNOSUPPORT for another family; `dst` is left alone then.
///
/// # Safety
/// `src` is null or a text with a zero at its end; `dst` is null or points to memory for an address of this family.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_inet_pton(af: c_int, src: *const c_char, dst: *mut c_void) -> c_int {
    if dst.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: a text or null, says the caller.
    let parsed = unsafe { text(src) }.and_then(|text| match af {
        AF_INET => parse(text.to_bytes()).map(IpAddr::V4),
        AF_INET6 => parse(without_interface(text.to_bytes())).map(IpAddr::V6),
        _ => Err(Errno::EAFNOSUPPORT),
    });
    // SAFETY: not null, hence memory for an address of the family that was asked for, however aligned.
    unsafe {
        match parsed {
            Ok(IpAddr::V4(ip)) => dst.cast::<[u8; 4]>().write_unaligned(ip.octets()),
            Ok(IpAddr::V6(ip)) => dst.cast::<[u8; 16]>().write_unaligned(ip.octets()),
            Err(error) => return error.code(),
        }
    }
    0
}

/// Writes an address of family `af`, four or 16 bytes, as a text with a zero at its end.
///
/// UV_ENOSPC when the `size` bytes at `dst` are too few, which are left alone then; UV_EAFNOSUPPORT for another
/// family.
///
/// # Safety
/// `src` is null or points to an address of this family; `dst` is null or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_inet_ntop(af: c_int, src: *const c_void, dst: *mut c_char, size: usize) -> c_int {
    if src.is_null() && matches!(af, AF_INET | AF_INET6) {
        return Errno::EINVAL.code();
    }
    // SAFETY: an address of this family, however aligned; and `size` bytes.
    unsafe {
        let ip = match af {
            AF_INET => IpAddr::from(src.cast::<[u8; 4]>().read_unaligned()),
            AF_INET6 => IpAddr::from(src.cast::<[u8; 16]>().read_unaligned()),
            _ => return Errno::EAFNOSUPPORT.code(),
        };
        code(write_text(ip, dst, size))
    }
}

/// [`uv_inet_ntop`] of an IPv4 address with a port, which is left out. The family is not looked at.
///
/// # Safety
/// `src` is null or points to an IPv4 address; `dst` is null or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_ip4_name(src: *const sockaddr_in, dst: *mut c_char, size: usize) -> c_int {
    if src.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: not null, hence an address; the rest is the caller's word.
    unsafe { uv_inet_ntop(AF_INET, (&raw const (*src).sin_addr).cast(), dst, size) }
}

/// [`uv_inet_ntop`] of an IPv6 address with port and interface, which are left out. The family is not looked at.
///
/// # Safety
/// `src` is null or points to an IPv6 address; `dst` is null or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_ip6_name(src: *const sockaddr_in6, dst: *mut c_char, size: usize) -> c_int {
    if src.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: not null, hence an address; the rest is the caller's word.
    unsafe { uv_inet_ntop(AF_INET6, (&raw const (*src).sin6_addr).cast(), dst, size) }
}

/// [`uv_ip4_name`] or [`uv_ip6_name`], as the family says.
///
/// UV_EAFNOSUPPORT for another family.
///
/// # Safety
/// `src` is null or points to an address as large as its family says; `dst` is null or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_ip_name(src: *const sockaddr, dst: *mut c_char, size: usize) -> c_int {
    if src.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: not null, hence an address of the structure that its family says.
    unsafe {
        match family(src) {
            AF_INET => uv_ip4_name(src.cast(), dst, size),
            AF_INET6 => uv_ip6_name(src.cast(), dst, size),
            _ => Errno::EAFNOSUPPORT.code(),
        }
    }
}

/// # Safety
/// `text` is null or has a zero at its end, and stays as it is for the lifetime that the caller chooses.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a CStr> {
    // SAFETY: not null, hence a text.
    if text.is_null() { Err(Errno::EINVAL) } else { Ok(unsafe { CStr::from_ptr(text) }) }
}

pub(crate) fn parse<T: FromStr>(text: &[u8]) -> Result<T> {
    let text = str::from_utf8(text).map_err(|_| Errno::EINVAL)?;
    text.parse().map_err(|_| Errno::EINVAL)
}

/// What stands before the first %.
pub(crate) fn without_interface(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'%').next().unwrap_or(text)
}

/// The number of the interface whose name stands behind the first %; 0 if there is none.
pub(crate) fn scope(text: &CStr) -> u32 {
    let percent = text.to_bytes().iter().position(|&byte| byte == b'%');
    let name = percent.map(|at| &text.to_bytes_with_nul()[at + 1..]);
    name.and_then(|name| CStr::from_bytes_with_nul(name).ok()).map_or(0, interface::index)
}

/// # Safety
/// `dst` is null or points to `size` bytes.
unsafe fn write_text(ip: IpAddr, dst: *mut c_char, size: usize) -> Result<()> {
    // Longer than any text: a zero is always behind it.
    let mut memory = [0; 64];
    let mut rest = &mut memory[..];
    write!(rest, "{}", Text(ip)).map_err(|_| Errno::ENOSPC)?;
    let length = 64 - rest.len();
    if length >= size {
        return Err(Errno::ENOSPC);
    }
    if dst.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: the text and its zero are `size` bytes at most.
    unsafe { copy_nonoverlapping(memory.as_ptr(), dst.cast(), length + 1) };
    Ok(())
}

/// An address in libuv's words. They are the standard library's, but for IPv6 addresses that consist of nothing but an
/// IPv4 address (::1.2.3.4), as they once were used.
struct Text(IpAddr);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V6(ip) if (1 << 16..1 << 32).contains(&ip.to_bits()) => {
                write!(f, "::{}", Ipv4Addr::from_bits(ip.to_bits() as u32))
            }
            ip => ip.fmt(f),
        }
    }
}

/// An IPv4 or IPv6 address. UV_EINVAL for another family.
///
/// # Safety
/// `addr` points to an address as large as its family says.
pub(crate) unsafe fn read_address(addr: *const sockaddr) -> Result<SocketAddr> {
    if addr.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: the family says which structure it is. Programs keep addresses in memory of lesser alignment, too.
    unsafe {
        match family(addr) {
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

/// The family of an address.
///
/// # Safety
/// `addr` points to an address.
pub(crate) unsafe fn family(addr: *const sockaddr) -> c_int {
    // SAFETY: the family is at the same place in all addresses.
    c_int::from(unsafe { (&raw const (*addr).sa_family).read_unaligned() })
}

/// Writes as much of an address as the `*len` bytes at `name` hold; `*len` becomes its whole size.
///
/// # Safety
/// `name` points to `*len` bytes.
pub(crate) unsafe fn write_address(address: &Address, name: *mut sockaddr, len: *mut c_int) -> Result<()> {
    // SAFETY: the copy ends where the shorter of both ends: the caller's bytes, or the address.
    unsafe {
        let room = usize::try_from(*len).map_err(|_| Errno::EINVAL)?;
        let bytes = address.as_ref().bytes();
        copy_nonoverlapping(bytes.as_ptr(), name.cast(), room.min(bytes.len()));
        *len = bytes.len() as c_int;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_libuvs_texts() {
        let texts = [
            "::",
            "::1",
            "::ffff",
            "::0.1.0.0",
            "::255.255.255.255",
            "::1:0:0",
            "::ffff:1.2.3.4",
            "::ffff:0.0.0.0",
            "::fffe:102:304",
            "1::",
            "1:0:0:2::",
            "1::2:0:0:3:4",
            "64:ff9b::102:304",
            "1:0:2:3:4:5:6:7",
            "fe80::1",
            "abcd:ef01:2345:6789:abcd:ef01:2345:6789",
        ];
        for text in texts {
            let ip: IpAddr = text.parse().unwrap();
            assert_eq!(Text(ip).to_string(), text);
        }
        assert_eq!(Text("255.255.255.255".parse().unwrap()).to_string(), "255.255.255.255");
    }

    #[test]
    fn a_scope_is_what_stands_behind_the_first_percent() {
        assert_eq!(without_interface(b"fe80::1%a%b"), b"fe80::1");
        assert_eq!(without_interface(b"fe80::1"), b"fe80::1");
        assert_eq!(without_interface(b""), b"");
        let loopback = interface::index(c"lo");
        assert_eq!(scope(c"fe80::1%lo"), loopback);
        for nothing in [c"", c"%", c"fe80::1", c"fe80::1%", c"fe80::1%%lo", c"%lo%", c"%no-such-device"] {
            assert_eq!(scope(nothing), 0);
        }
    }

    #[test]
    fn addresses_survive_the_way_through_c() {
        for address in ["1.2.3.4:5", "[1:2::3]:65535", "[fe80::1%7]:8"] {
            let address: SocketAddr = address.parse().unwrap();
            let mut memory = [0u8; 33];
            // The odd address: no alignment is asked for.
            let name = (&raw mut memory[1]).cast::<sockaddr>();
            let mut size = 32;
            // SAFETY: there are 32 bytes behind the first.
            unsafe {
                assert_eq!(write_address(&Address::from(&address), name, &raw mut size), Ok(()));
                assert_eq!(size as usize, if address.is_ipv4() { 16 } else { 28 });
                assert_eq!(read_address(name), Ok(address));
            }
        }
    }
}
