//! Questions to the system's resolver, and its answers.

use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, zeroed};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr::{null, null_mut};

use super::{HostName, error};
use crate::Result;

/// What kind of socket an address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SocketKind {
    /// A stream: TCP.
    Stream,
    /// Datagrams: UDP.
    Datagram,
}

bitflags::bitflags! {
    /// How to look up addresses.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct LookupFlags: i32 {
        /// Without a host, the addresses are to listen at, not to connect to.
        const PASSIVE = libc::AI_PASSIVE;
        /// The host's own name is wanted, too.
        const CANONICAL_NAME = libc::AI_CANONNAME;
        /// The host is an address in text; no name is looked up.
        const NUMERIC_HOST = libc::AI_NUMERICHOST;
        /// The service is a port in text.
        const NUMERIC_SERVICE = libc::AI_NUMERICSERV;
        /// With IPv6 asked for and none found, IPv4 addresses in IPv6's form.
        const V4_MAPPED = libc::AI_V4MAPPED;
        /// With [`LookupFlags::V4_MAPPED`], these as well where there are IPv6 addresses.
        const ALL = libc::AI_ALL;
        /// Only kinds of addresses that this machine has one of.
        const CONFIGURED = libc::AI_ADDRCONFIG;
    }
}

bitflags::bitflags! {
    /// How to look up names.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct NameFlags: i32 {
        /// A host of this domain without the domain.
        const NO_DOMAIN = libc::NI_NOFQDN;
        /// The address in text; no name is looked up.
        const NUMERIC_HOST = libc::NI_NUMERICHOST;
        /// EAI_NONAME for an address without a name, instead of its text.
        const NAME_REQUIRED = libc::NI_NAMEREQD;
        /// The port in text.
        const NUMERIC_SERVICE = libc::NI_NUMERICSERV;
        /// The service of datagrams, where streams have another.
        const DATAGRAM = libc::NI_DGRAM;
    }
}

/// Which addresses are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// `Some(false)` for IPv4 only, `Some(true)` for IPv6 only.
    pub v6: Option<bool>,
    /// For sockets of one kind only. Without it, each address may come several times.
    pub kind: Option<SocketKind>,
    /// How to look up.
    pub flags: LookupFlags,
}

/// An address that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address {
    /// The address, with the service's port.
    pub address: SocketAddr,
    /// What kind of socket it is for; `None` for another one than these.
    pub kind: Option<SocketKind>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// In the order in which to try them.
    pub addresses: Vec<Address>,
    /// The host's own name, if it was asked for.
    pub canonical_name: Option<String>,
}

/// A host and a service. Bytes that are not UTF-8 are replaced by U+FFFD.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Name {
    /// The host's name, or its address in text.
    pub host: String,
    /// The service's name, or its port in text.
    pub service: String,
}

/// Looks up the addresses of a host, of a service, or of a service at a host.
///
/// # Errors
/// EAI_NONAME when there is none, or neither is given; EAI_AGAIN when the resolver does not answer, EAI_SERVICE and others
/// of their kind.
#[doc(alias = "uv_getaddrinfo")]
pub fn look_up(host: Option<&HostName>, service: Option<&CStr>, hints: &Hints) -> Result<Found> {
    let text = |text: Option<&CStr>| text.map_or(null(), CStr::as_ptr);
    // SAFETY: zero is a value for all its fields, and means nothing in particular.
    let mut asked: libc::addrinfo = unsafe { zeroed() };
    asked.ai_flags = hints.flags.bits();
    asked.ai_family = hints.v6.map_or(libc::AF_UNSPEC, |v6| if v6 { libc::AF_INET6 } else { libc::AF_INET });
    asked.ai_socktype = match hints.kind {
        None => 0,
        Some(SocketKind::Stream) => libc::SOCK_STREAM,
        Some(SocketKind::Datagram) => libc::SOCK_DGRAM,
    };
    let mut list = null_mut();
    let host = text(host.map(HostName::as_c_str));
    // SAFETY: each text is null or ends with a zero; the hints are filled in; the result is written to a local.
    let returned = unsafe { libc::getaddrinfo(host, text(service), &raw const asked, &raw mut list) };
    if let Some(error) = error(returned) {
        return Err(error);
    }
    let mut found = Found::default();
    let mut next = list;
    // SAFETY: the list is the resolver's, linked, with null at its end; each address is as large as its family says. It is
    // given back once, after its last use.
    unsafe {
        while let Some(entry) = next.as_ref() {
            next = entry.ai_next;
            if found.canonical_name.is_none() && !entry.ai_canonname.is_null() {
                found.canonical_name = Some(CStr::from_ptr(entry.ai_canonname).to_string_lossy().into_owned());
            }
            let kind = match entry.ai_socktype {
                libc::SOCK_STREAM => Some(SocketKind::Stream),
                libc::SOCK_DGRAM => Some(SocketKind::Datagram),
                _ => None,
            };
            found.addresses.extend(address_at(entry.ai_addr).map(|address| Address { address, kind }));
        }
        libc::freeaddrinfo(list);
    }
    Ok(found)
}

/// # Safety
/// `place` points to an address as large as its family says.
unsafe fn address_at(place: *const libc::sockaddr) -> Option<SocketAddr> {
    // SAFETY: the family says which structure it is.
    unsafe {
        match i32::from((*place).sa_family) {
            libc::AF_INET => {
                let v4 = &*place.cast::<libc::sockaddr_in>();
                let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
                Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
            }
            libc::AF_INET6 => {
                let v6 = &*place.cast::<libc::sockaddr_in6>();
                let (ip, port) = (v6.sin6_addr.s6_addr.into(), u16::from_be(v6.sin6_port));
                Some(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

/// Looks up the name of an address's host, and of the service at its port.
///
/// # Errors
/// EAI_NONAME when a name is required and there is none; EAI_AGAIN and others of its kind.
#[doc(alias = "uv_getnameinfo")]
pub fn look_up_name(address: &SocketAddr, flags: NameFlags) -> Result<Name> {
    let mut host: [c_char; 1025] = [0; _];
    let mut service: [c_char; 32] = [0; _];
    let mut place = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    let size = match address {
        SocketAddr::V4(v4) => {
            let place: *mut libc::sockaddr_in = place.as_mut_ptr().cast();
            // SAFETY: the storage has room and alignment for every address, and zeros where nothing is written.
            unsafe {
                (*place).sin_family = libc::AF_INET as _;
                (*place).sin_port = v4.port().to_be();
                (*place).sin_addr.s_addr = u32::from(*v4.ip()).to_be();
            }
            size_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            let place: *mut libc::sockaddr_in6 = place.as_mut_ptr().cast();
            // SAFETY: as above.
            unsafe {
                (*place).sin6_family = libc::AF_INET6 as _;
                (*place).sin6_port = v6.port().to_be();
                (*place).sin6_flowinfo = v6.flowinfo();
                (*place).sin6_addr.s6_addr = v6.ip().octets();
                (*place).sin6_scope_id = v6.scope_id();
            }
            size_of::<libc::sockaddr_in6>()
        }
    };
    // SAFETY: an address of that size, and two buffers of the sizes that are told.
    let returned = unsafe {
        libc::getnameinfo(
            place.as_ptr().cast(),
            size as libc::socklen_t,
            host.as_mut_ptr(),
            host.len() as _,
            service.as_mut_ptr(),
            service.len() as _,
            flags.bits(),
        )
    };
    if let Some(error) = error(returned) {
        return Err(error);
    }
    let text = |bytes: &[c_char]| {
        let bytes: Vec<u8> = bytes.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(Name { host: text(&host), service: text(&service) })
}

impl Hints {
    /// Hints for sockets of this kind.
    pub fn of(kind: SocketKind) -> Hints {
        Hints { kind: Some(kind), ..Hints::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(host: &str, service: &CStr) -> Result<Found> {
        let flags = LookupFlags::NUMERIC_HOST | LookupFlags::NUMERIC_SERVICE;
        look_up(
            Some(&HostName::new(host.as_bytes())?),
            Some(service),
            &Hints { flags, ..Hints::of(SocketKind::Stream) },
        )
    }

    #[test]
    fn addresses_in_text_are_found_without_a_network() {
        for (host, expected) in [("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("fe80::1%1", "[fe80::1%1]:80")] {
            let found = numeric(host, c"80").unwrap();
            let address = Address { address: expected.parse().unwrap(), kind: Some(SocketKind::Stream) };
            assert_eq!(found, Found { addresses: vec![address], canonical_name: None });
        }
        assert_eq!(numeric("no-address", c"80").unwrap_err().name(), Some("EAI_NONAME"));
        assert_eq!(numeric("127.0.0.1", c"no-port").unwrap_err().name(), Some("EAI_NONAME"));
    }

    #[test]
    fn hints_say_which_addresses_are_wanted() {
        let flags = LookupFlags::PASSIVE | LookupFlags::NUMERIC_SERVICE;
        let hints = Hints { v6: Some(false), kind: Some(SocketKind::Datagram), flags };
        let found = look_up(None, Some(c"53"), &hints).unwrap();
        let address = Address { address: ([0, 0, 0, 0], 53).into(), kind: Some(SocketKind::Datagram) };
        assert_eq!(found.addresses, [address]);
        let found = look_up(None, Some(c"53"), &Hints { v6: Some(true), ..hints }).unwrap();
        assert_eq!(found.addresses[0].address, "[::]:53".parse().unwrap());
        assert_eq!(look_up(None, None, &hints).unwrap_err().name(), Some("EAI_NONAME"));
    }

    #[test]
    fn addresses_and_ports_have_texts() {
        let flags = NameFlags::NUMERIC_HOST | NameFlags::NUMERIC_SERVICE;
        for (address, host) in [("127.0.0.1:8080", "127.0.0.1"), ("[::1]:8080", "::1")] {
            let name = look_up_name(&address.parse().unwrap(), flags).unwrap();
            assert_eq!((name.host.as_str(), name.service.as_str()), (host, "8080"));
        }
    }
}
