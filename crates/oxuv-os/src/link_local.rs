//! Which interface is meant by a link-local IPv6 address that does not say it.

use std::net::Ipv6Addr;
use std::ptr::null_mut;

/// The scope of the first interface with a link-local address, 0 if there is none.
#[cold]
pub(crate) fn scope() -> u32 {
    let mut first = null_mut();
    // SAFETY: the list's place is valid to be written to.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return 0;
    }
    let (mut scope, mut entry) = (0, first);
    // SAFETY: `entry` is null or an entry of the list, which is freed below.
    while let Some(libc::ifaddrs { ifa_next, ifa_addr, .. }) = unsafe { entry.as_ref() } {
        // SAFETY: the address of an entry of the list is null or as large as its family says.
        if let Some(found) = unsafe { scope_of(*ifa_addr) } {
            scope = found;
            break;
        }
        entry = *ifa_next;
    }
    // SAFETY: the list came from `getifaddrs`, and nothing of it is used any more.
    unsafe { libc::freeifaddrs(first) };
    scope
}

/// The scope of a link-local address.
///
/// # Safety
/// `address` is null or points to an address as large as its family says.
unsafe fn scope_of(address: *const libc::sockaddr) -> Option<u32> {
    // SAFETY: says the caller. The library aligns the addresses of its list for any family.
    unsafe {
        if address.is_null() || i32::from((*address).sa_family) != libc::AF_INET6 {
            return None;
        }
        let address = &*address.cast::<libc::sockaddr_in6>();
        Ipv6Addr::from(address.sin6_addr.s6_addr).is_unicast_link_local().then_some(address.sin6_scope_id)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_scope_is_an_interface_of_this_machine() {
        let scope = super::scope();
        // Not every machine has a link-local address.
        assert!(scope == 0 || std::path::Path::new("/sys/class/net").read_dir().unwrap().count() > 0);
    }
}
