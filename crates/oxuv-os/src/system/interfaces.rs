//! The network interfaces and their addresses.

use std::ffi::CStr;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr::{NonNull, null_mut};

use crate::Result;

/// What the system told of its interfaces at one time.
#[derive(Debug)]
pub struct Interfaces {
    first: Option<NonNull<libc::ifaddrs>>,
}

/// One address of an interface that is up and running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface<'a> {
    /// The name; an alias has its own: `eth0:1`.
    pub name: &'a CStr,
    /// The address, with port 0.
    pub address: SocketAddr,
    /// The mask of its network, with port 0; none for a link that has no such thing.
    pub netmask: Option<SocketAddr>,
    /// The first six bytes of the address on the link, zero if it has none.
    pub physical: [u8; 6],
    /// It leads nowhere but back.
    pub internal: bool,
}

impl Interfaces {
    /// Asks the system.
    ///
    /// # Errors
    /// ENOMEM, and those of a netlink socket.
    #[doc(alias = "uv_interface_addresses")]
    pub fn read() -> Result<Interfaces> {
        let mut first = null_mut();
        // SAFETY: `first` is a place for the list.
        if unsafe { libc::getifaddrs(&mut first) } != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(Interfaces { first: NonNull::new(first) })
    }

    /// The addresses, in the system's order.
    pub fn iter(&self) -> impl Iterator<Item = Interface<'_>> {
        self.entries().filter(|entry| is_running(entry)).filter_map(|entry| {
            let name = name(entry);
            // SAFETY: the list's pointers are null or to an address as large as its family says.
            let (address, netmask) = unsafe { (address(entry.ifa_addr)?, address(entry.ifa_netmask)) };
            let internal = entry.ifa_flags & libc::IFF_LOOPBACK as u32 != 0;
            Some(Interface { name, address, netmask, physical: self.physical(name), internal })
        })
    }

    /// The address on the link of an interface, or of the one that an alias is of.
    fn physical(&self, of: &CStr) -> [u8; 6] {
        let of = of.to_bytes();
        let mut links = self.entries().filter(|entry| is_running(entry)).filter_map(|entry| {
            // SAFETY: as in `iter`.
            let address = unsafe { link_address(entry.ifa_addr)? };
            let rest = of.strip_prefix(name(entry).to_bytes())?;
            (rest.is_empty() || rest.starts_with(b":")).then_some(address)
        });
        links.next().unwrap_or_default()
    }

    fn entries(&self) -> impl Iterator<Item = &libc::ifaddrs> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            // SAFETY: the list is `getifaddrs`'s own, nobody writes to it, and it lives as long as `self`.
            let entry = unsafe { next?.as_ref() };
            next = NonNull::new(entry.ifa_next);
            Some(entry)
        })
    }
}

impl Drop for Interfaces {
    fn drop(&mut self) {
        if let Some(first) = self.first {
            // SAFETY: the list came from `getifaddrs`, and whatever borrowed it has ended with `self`.
            unsafe { libc::freeifaddrs(first.as_ptr()) }
        }
    }
}

fn is_running(entry: &libc::ifaddrs) -> bool {
    let both = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
    entry.ifa_flags & both == both
}

fn name(entry: &libc::ifaddrs) -> &CStr {
    // SAFETY: each entry of the list has a name, which lives as long as the entry.
    unsafe { CStr::from_ptr(entry.ifa_name) }
}

/// # Safety
/// `place` is null or points to an address as large as its family says.
unsafe fn address(place: *const libc::sockaddr) -> Option<SocketAddr> {
    // SAFETY: the family says which structure it is.
    unsafe {
        match i32::from(place.as_ref()?.sa_family) {
            libc::AF_INET => {
                let v4 = place.cast::<libc::sockaddr_in>().read_unaligned();
                Some(SocketAddrV4::new(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)), 0).into())
            }
            libc::AF_INET6 => {
                let v6 = place.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(SocketAddrV6::new(v6.sin6_addr.s6_addr.into(), 0, v6.sin6_flowinfo, v6.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

/// # Safety
/// As `address`.
unsafe fn link_address(place: *const libc::sockaddr) -> Option<[u8; 6]> {
    // SAFETY: the family says which structure it is.
    unsafe {
        if i32::from(place.as_ref()?.sa_family) != libc::AF_PACKET {
            return None;
        }
        let bytes = place.cast::<libc::sockaddr_ll>().read_unaligned().sll_addr;
        bytes.first_chunk().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_internal_and_without_physical_address() {
        let interfaces = Interfaces::read().unwrap();
        // A container may be without any.
        for interface in interfaces.iter().filter(|interface| interface.address.ip().is_loopback()) {
            assert!(interface.internal);
            assert_eq!(interface.physical, [0; 6]);
            assert_eq!(interface.address.port(), 0);
            assert_eq!(interface.netmask.unwrap().is_ipv4(), interface.address.is_ipv4());
        }
    }

    #[test]
    fn addresses_without_a_family_that_is_known_are_none() {
        let unknown = libc::sockaddr { sa_family: libc::AF_UNIX as _, sa_data: [0; 14] };
        // SAFETY: null, and a structure that no more is read of than its family.
        unsafe {
            assert_eq!(address(std::ptr::null()), None);
            assert_eq!(address(&unknown), None);
            assert_eq!(link_address(std::ptr::null()), None);
            assert_eq!(link_address(&unknown), None);
        }
    }
}
