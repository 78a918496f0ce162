//! Addresses of sockets of any family, as the system has them.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};

use crate::{Errno, Result};

/// The address of a socket: mostly an internet address, but that of a Unix, netlink or other socket as well. It has room
/// for all that the system may say; see [`InternetAddress`] for a quarter of that.
#[derive(Clone, Copy)]
pub struct Address {
    /// Zero behind the first `len` bytes: C programs compare all of it.
    storage: sockaddr_storage,
    len: socklen_t,
}

impl Address {
    /// The longest address in bytes.
    pub const SIZE: usize = size_of::<sockaddr_storage>();

    /// No address.
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
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address.place().cast(), bytes.len()) };
        address.len = bytes.len() as socklen_t;
        Ok(address)
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

    /// The address, lent.
    #[inline]
    pub fn as_ref(&self) -> AddressRef<'_> {
        // SAFETY: `len` is at most the storage's size, and all of the storage is initialised.
        AddressRef(unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.len as usize) })
    }

    /// For the kernel to write an address to, of at most [`Address::SIZE`] bytes.
    #[inline]
    pub(crate) fn place(&mut self) -> *mut sockaddr_storage {
        &raw mut self.storage
    }

    /// The kernel has written so many bytes of an address.
    #[inline]
    pub(crate) fn set_len(&mut self, len: socklen_t) {
        let before = std::mem::replace(&mut self.len, len.min(Address::SIZE as socklen_t));
        if self.len < before {
            self.clear_rest();
        }
    }

    /// Behind its end there may be something of a longer one.
    #[cold]
    fn clear_rest(&mut self) {
        let mut address = Address::none();
        // SAFETY: both have so many bytes, and one is borrowed while the other was just made.
        unsafe { std::ptr::copy_nonoverlapping(self.as_ptr().cast::<u8>(), address.place().cast(), self.len as usize) };
        self.storage = address.storage;
    }
}

/// An internet address as the system has it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InternetAddress {
    /// Zero behind the first `len` bytes. Whole words, so that it is moved by words.
    words: [u32; InternetAddress::SIZE / 4],
    len: u32,
}

impl InternetAddress {
    const SIZE: usize = size_of::<sockaddr_in6>();

    /// No address.
    #[inline]
    pub const fn none() -> InternetAddress {
        InternetAddress { words: [0; Self::SIZE / 4], len: 0 }
    }

    /// True if it is none.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.len == 0
    }

    /// A copy of an address; none of one that is none of the internet's.
    #[inline]
    pub fn copied(address: AddressRef<'_>) -> InternetAddress {
        let copy = match address.family() {
            libc::AF_INET => address.0.first_chunk::<{ size_of::<sockaddr_in>() }>().map(InternetAddress::from_bytes),
            libc::AF_INET6 => address.0.first_chunk::<{ size_of::<sockaddr_in6>() }>().map(InternetAddress::from_bytes),
            _ => None,
        };
        copy.unwrap_or(InternetAddress::none())
    }

    /// The address that these bytes are.
    #[inline]
    fn from_bytes<const N: usize>(bytes: &[u8; N]) -> InternetAddress {
        const { assert!(N <= Self::SIZE && N.is_multiple_of(4)) };
        let mut words = [0; Self::SIZE / 4];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        InternetAddress { words, len: N as u32 }
    }

    /// The address, lent.
    #[inline]
    pub fn as_ref(&self) -> AddressRef<'_> {
        // SAFETY: `len` is at most the size of the words.
        AddressRef(unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len as usize) })
    }

    /// The value of one of the system's structures.
    #[inline]
    fn of<T: Copy>(value: T) -> InternetAddress {
        const { assert!(size_of::<T>() <= Self::SIZE) };
        let mut words = [0; Self::SIZE / 4];
        // SAFETY: there is room for it. It is one of two structures, neither of which has padding.
        unsafe { words.as_mut_ptr().cast::<T>().write_unaligned(value) };
        InternetAddress { words, len: size_of::<T>() as u32 }
    }
}

impl From<&SocketAddr> for InternetAddress {
    #[inline]
    fn from(address: &SocketAddr) -> InternetAddress {
        match address {
            SocketAddr::V4(v4) => InternetAddress::of(sockaddr_in {
                sin_family: libc::AF_INET as _,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from(*v4.ip()).to_be() },
                sin_zero: [0; 8],
            }),
            SocketAddr::V6(v6) => InternetAddress::of(sockaddr_in6 {
                sin6_family: libc::AF_INET6 as _,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            }),
        }
    }
}

impl fmt::Debug for InternetAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

/// An address that lies somewhere else: the bytes of the system's structure, however aligned.
#[derive(Clone, Copy)]
pub struct AddressRef<'a>(&'a [u8]);

impl PartialEq for AddressRef<'_> {
    #[inline]
    fn eq(&self, other: &AddressRef<'_>) -> bool {
        const IPV4: usize = size_of::<sockaddr_in>();
        // Who sends many to one address mostly has it in one place.
        if std::ptr::eq(self.0, other.0) {
            return true;
        }
        match (self.0.as_array::<IPV4>(), other.0.as_array::<IPV4>()) {
            // The usual case, in which two instructions will do.
            (Some(one), Some(other)) => one == other,
            _ => self.0 == other.0,
        }
    }
}

impl Eq for AddressRef<'_> {}

impl<'a> AddressRef<'a> {
    /// The address that these bytes are.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> AddressRef<'a> {
        AddressRef(bytes)
    }

    /// The bytes.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The family, `AF_INET` for example; 0 for none.
    #[inline]
    pub fn family(self) -> i32 {
        // In all of them it comes first.
        self.0.first_chunk().map_or(0, |&family| u16::from_ne_bytes(family).into())
    }

    /// The system's structure that this is, if it is as large.
    ///
    /// # Safety
    /// `T` has a value for all bytes.
    #[inline]
    unsafe fn read<T>(self) -> Result<T> {
        if self.0.len() < size_of::<T>() {
            return Err(Errno::EAFNOSUPPORT);
        }
        // SAFETY: so many bytes there are, and the caller says that they are a value.
        Ok(unsafe { self.0.as_ptr().cast::<T>().read_unaligned() })
    }
}

/// What is an address for the system, or holds one.
pub trait AsAddress {
    /// The address, lent.
    fn as_address(&self) -> AddressRef<'_>;
}

impl AsAddress for AddressRef<'_> {
    #[inline]
    fn as_address(&self) -> AddressRef<'_> {
        *self
    }
}

impl AsAddress for InternetAddress {
    #[inline]
    fn as_address(&self) -> AddressRef<'_> {
        self.as_ref()
    }
}

impl From<&SocketAddr> for Address {
    #[inline]
    fn from(address: &SocketAddr) -> Address {
        let short = InternetAddress::from(address);
        let mut made = Address::none();
        let bytes = short.as_ref().bytes();
        // SAFETY: the one is made to hold any address, the other is one.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), made.place().cast(), bytes.len()) };
        made.len = bytes.len() as socklen_t;
        made
    }
}

impl TryFrom<AddressRef<'_>> for SocketAddr {
    type Error = Errno;

    /// EAFNOSUPPORT when it is not an internet address.
    #[inline]
    fn try_from(address: AddressRef<'_>) -> Result<SocketAddr> {
        match address.family() {
            libc::AF_INET => {
                // SAFETY: integers only.
                let v4: sockaddr_in = unsafe { address.read()? };
                let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
                Ok(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
            }
            libc::AF_INET6 => {
                // SAFETY: integers only.
                let v6: sockaddr_in6 = unsafe { address.read()? };
                let (ip, port) = (v6.sin6_addr.s6_addr.into(), u16::from_be(v6.sin6_port));
                Ok(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
            }
            _ => Err(Errno::EAFNOSUPPORT),
        }
    }
}

impl TryFrom<&Address> for SocketAddr {
    type Error = Errno;

    /// EAFNOSUPPORT when it is not an internet address.
    #[inline]
    fn try_from(address: &Address) -> Result<SocketAddr> {
        SocketAddr::try_from(address.as_ref())
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Address) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Address {}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl fmt::Debug for AddressRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SocketAddr::try_from(*self) {
            Ok(address) => address.fmt(f),
            Err(_) => f.debug_tuple("Address").field(&self.0).finish(),
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
            assert_eq!(Address::from_bytes(made.as_ref().bytes()), Ok(made));
            assert!(!made.is_none());
            let short = InternetAddress::from(&address);
            assert_eq!(short.as_ref(), made.as_ref());
            assert_eq!(InternetAddress::copied(made.as_ref()), short);
        }
    }

    #[test]
    fn what_is_no_internet_address_is_kept_as_bytes() {
        let unix = Address::from_bytes(&[1, 0, b'/', b'a', 0]).unwrap();
        assert_eq!((unix.as_ref().family(), unix.as_ref().bytes().len()), (libc::AF_UNIX, 5));
        assert_eq!(SocketAddr::try_from(&unix), Err(Errno::EAFNOSUPPORT));
        assert!(InternetAddress::copied(unix.as_ref()).is_none());
        assert_eq!(Address::from_bytes(&[0; Address::SIZE + 1]), Err(Errno::EINVAL));
        assert_eq!((Address::none().as_ref().family(), Address::none().is_none()), (0, true));
    }

    #[test]
    fn one_that_is_cut_short_is_none_of_the_internets() {
        let whole = InternetAddress::from(&"[1:2::3]:65535".parse::<SocketAddr>().unwrap());
        let short = AddressRef::new(&whole.as_ref().bytes()[..27]);
        assert_eq!(SocketAddr::try_from(short), Err(Errno::EAFNOSUPPORT));
        assert!(InternetAddress::copied(short).is_none());
        assert_eq!(AddressRef::new(&[2]).family(), 0);
    }
}
