//! Addresses of sockets of any family, as the system has them.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};

use crate::{Errno, Result};

/// The address of a socket: mostly an internet address, but that of a Unix, netlink or other socket as well.
#[derive(Clone, Copy)]
pub struct Address {
    /// Zero behind the first `len` bytes.
    storage: sockaddr_storage,
    len: socklen_t,
}

impl Address {
    /// The longest address in bytes.
    pub const SIZE: usize = size_of::<sockaddr_storage>();

    /// No address: the unspecified family.
    #[inline]
    pub const fn none() -> Address {
        // SAFETY: integers only; zero is a value of all of them.
        Address { storage: unsafe { std::mem::zeroed() }, len: 0 }
    }

    /// The address that these bytes are.
    ///
    /// # Errors
    /// EINVAL when there are too many of them.
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Result<Address> {
        let mut address = Address::none();
        if bytes.len() > Address::SIZE {
            return Err(Errno::EINVAL);
        }
        // SAFETY: both have so many bytes, and one is borrowed while the other was just made.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (&raw mut address.storage).cast(), bytes.len()) };
        address.len = bytes.len() as socklen_t;
        Ok(address)
    }

    /// The family, `AF_INET` for example; 0 for none.
    #[inline]
    pub fn family(&self) -> i32 {
        self.storage.ss_family.into()
    }

    /// True if it says nothing.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.len == 0
    }

    /// Where C finds it. There are [`Address::SIZE`] bytes there as long as this value does not move.
    #[inline]
    pub fn as_ptr(&self) -> *const sockaddr {
        (&raw const self.storage).cast()
    }

    #[inline]
    pub(crate) fn len(&self) -> socklen_t {
        self.len
    }

    /// For the kernel to write an address to, of at most [`Address::SIZE`] bytes.
    #[inline]
    pub(crate) fn place(&mut self) -> *mut sockaddr_storage {
        &raw mut self.storage
    }

    /// The kernel has written so many bytes of an address.
    #[inline]
    pub(crate) fn set_len(&mut self, len: socklen_t) {
        self.len = len.min(Address::SIZE as socklen_t);
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: `len` is at most the storage's size, and all of the storage is initialised.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.len as usize) }
    }
}

impl From<&SocketAddr> for Address {
    #[inline]
    fn from(address: &SocketAddr) -> Address {
        let mut made = Address::none();
        // SAFETY: the storage is made to hold any of the system's addresses, and aligned for it.
        unsafe {
            match address {
                SocketAddr::V4(v4) => {
                    let place = &mut *made.place().cast::<sockaddr_in>();
                    place.sin_family = libc::AF_INET as _;
                    place.sin_port = v4.port().to_be();
                    place.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
                    made.len = size_of::<sockaddr_in>() as socklen_t;
                }
                SocketAddr::V6(v6) => {
                    let place = &mut *made.place().cast::<sockaddr_in6>();
                    place.sin6_family = libc::AF_INET6 as _;
                    place.sin6_port = v6.port().to_be();
                    place.sin6_flowinfo = v6.flowinfo();
                    place.sin6_addr.s6_addr = v6.ip().octets();
                    place.sin6_scope_id = v6.scope_id();
                    made.len = size_of::<sockaddr_in6>() as socklen_t;
                }
            }
        }
        made
    }
}

impl TryFrom<&Address> for SocketAddr {
    type Error = Errno;

    /// EAFNOSUPPORT when it is not an internet address.
    #[inline]
    fn try_from(address: &Address) -> Result<SocketAddr> {
        // SAFETY: what is larger than the address is zero, and so is its value here.
        unsafe {
            match address.family() {
                libc::AF_INET => {
                    let v4 = &*address.as_ptr().cast::<sockaddr_in>();
                    let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
                    Ok(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
                }
                libc::AF_INET6 => {
                    let v6 = &*address.as_ptr().cast::<sockaddr_in6>();
                    let (ip, port) = (v6.sin6_addr.s6_addr.into(), u16::from_be(v6.sin6_port));
                    Ok(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
                }
                _ => Err(Errno::EAFNOSUPPORT),
            }
        }
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Address) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Address {}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SocketAddr::try_from(self) {
            Ok(address) => address.fmt(f),
            Err(_) => f.debug_tuple("Address").field(&self.bytes()).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internet_addresses_survive() {
        for text in ["1.2.3.4:5", "[1:2::3]:65535", "[fe80::1%7]:8"] {
            let address: SocketAddr = text.parse().unwrap();
            let made = Address::from(&address);
            assert_eq!(SocketAddr::try_from(&made), Ok(address));
            assert_eq!(Address::from_bytes(made.bytes()), Ok(made));
            assert!(!made.is_none());
        }
    }

    #[test]
    fn what_is_no_internet_address_is_kept_as_bytes() {
        let unix = Address::from_bytes(&[1, 0, b'/', b'a', 0]).unwrap();
        assert_eq!((unix.family(), unix.len()), (libc::AF_UNIX, 5));
        assert_eq!(SocketAddr::try_from(&unix), Err(Errno::EAFNOSUPPORT));
        assert_eq!(Address::from_bytes(&[0; Address::SIZE + 1]), Err(Errno::EINVAL));
        assert_eq!((Address::none().family(), Address::none().is_none()), (0, true));
    }
}
