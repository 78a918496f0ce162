//! UDP sockets: how they come to be, are bound and connected, and their options. See [`datagram`](crate::datagram) for
//! what is sent and received.

use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use libc::{c_int, c_void, socklen_t};
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};
use std::os::fd::AsRawFd;

use crate::{Descriptor, Errno, InternetAddress, Result};

/// How a UDP socket is bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UdpBindFlags {
    /// An IPv6 socket that takes no IPv4 datagrams.
    pub ipv6_only: bool,
    /// Several sockets may be bound to the address, if all ask for it; one of them, the last as a rule, gets what comes.
    pub reuse_address: bool,
    /// Several sockets may be bound to the address, if all ask for it; the kernel spreads what comes over them.
    pub reuse_port: bool,
    /// What ICMP tells of failures is kept for the socket: all of it, not only what concerns a connected socket.
    pub receive_errors: bool,
}

/// An option of a UDP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UdpOption {
    /// Whether datagrams may be sent to broadcast addresses.
    Broadcast(bool),
    /// Through how many routers datagrams go: 1 to 255.
    Ttl(u8),
    /// The same for those that are sent to groups: 0 to 255.
    MulticastTtl(u8),
    /// Whether this machine gets what is sent to groups that it is in.
    MulticastLoop(bool),
    /// The interface that datagrams to groups are sent by; `None` is the system's choice.
    MulticastInterface(Option<Interface>),
    /// Whether a group's datagrams are received.
    Membership {
        /// The group.
        group: IpAddr,
        /// Where the group is; `None` is the system's choice.
        interface: Option<Interface>,
        /// Received from this address only; `None` is from any.
        source: Option<IpAddr>,
        /// To join, or to leave.
        join: bool,
    },
    /// Whether datagrams that one sender sends in a row may be received together, which costs less.
    #[doc(alias = "UDP_GRO")]
    Coalesce(bool),
    /// Whether the congestion mark of each datagram received is told.
    #[doc(alias = "IP_RECVTOS")]
    TellEcn(bool),
    /// Whether the local address at which each datagram was received is told.
    #[doc(alias = "IP_PKTINFO")]
    TellLocal(bool),
}

/// An interface, as options about groups name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// By its address: groups of IPv4.
    Address(Ipv4Addr),
    /// By its number: groups of IPv6.
    Index(u32),
}

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// A new UDP socket of the family that `ip` belongs to.
///
/// # Errors
/// EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM.
pub fn socket(ip: IpAddr) -> Result<Descriptor> {
    let family = if ip.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    Ok(net::socket_with(family, SocketType::DGRAM, FLAGS, None)?.into())
}

/// Lets several sockets be bound to an address, in the ways of `flags` that are about that.
///
/// # Errors
/// EBADF, ENOTSOCK, EOPNOTSUPP when this kind of socket cannot.
pub fn reuse(fd: &Descriptor, flags: UdpBindFlags) -> Result<()> {
    if flags.reuse_address {
        sockopt::set_socket_reuseaddr(fd, true)?;
    }
    if flags.reuse_port {
        sockopt::set_socket_reuseport(fd, true)?;
    }
    Ok(())
}

/// Binds a UDP socket.
///
/// # Errors
/// EADDRINUSE, EADDRNOTAVAIL, EACCES, EAFNOSUPPORT, EINVAL when it is bound already.
pub fn bind(fd: &Descriptor, address: &SocketAddr, flags: UdpBindFlags) -> Result<()> {
    if flags.receive_errors {
        let (level, name) = match address {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_RECVERR),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVERR),
        };
        set_option(fd, level, name, &1)?;
    }
    reuse(fd, flags)?;
    if flags.ipv6_only {
        sockopt::set_ipv6_v6only(fd, true)?;
    }
    Ok(net::bind(fd, address)?)
}

/// Connects a socket: it sends to this address, and receives from it only. With `None` it is connected no more.
///
/// # Errors
/// EAFNOSUPPORT, ENETUNREACH, EADDRNOTAVAIL, EACCES for a broadcast address.
pub fn connect(fd: &Descriptor, address: Option<&SocketAddr>) -> Result<()> {
    loop {
        let connected = match address {
            Some(address) => net::connect(fd, address),
            None => net::connect_unspec(fd),
        };
        match connected {
            Err(rustix::io::Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Sets an option; `is_ipv6` says which family the socket is of.
///
/// # Errors
/// EADDRINUSE for a group that was joined already, EADDRNOTAVAIL for one that was not; ENODEV for an interface that there
/// is not; EINVAL for what is no group, or is of the other family.
pub fn set(fd: &Descriptor, is_ipv6: bool, option: UdpOption) -> Result<()> {
    match option {
        UdpOption::Broadcast(on) => sockopt::set_socket_broadcast(fd, on)?,
        UdpOption::Ttl(ttl) if is_ipv6 => sockopt::set_ipv6_unicast_hops(fd, Some(ttl))?,
        UdpOption::Ttl(ttl) => sockopt::set_ip_ttl(fd, ttl.into())?,
        UdpOption::MulticastTtl(ttl) if is_ipv6 => sockopt::set_ipv6_multicast_hops(fd, ttl.into())?,
        UdpOption::MulticastTtl(ttl) => sockopt::set_ip_multicast_ttl(fd, ttl.into())?,
        UdpOption::MulticastLoop(on) if is_ipv6 => sockopt::set_ipv6_multicast_loop(fd, on)?,
        UdpOption::MulticastLoop(on) => sockopt::set_ip_multicast_loop(fd, on)?,
        UdpOption::MulticastInterface(Some(Interface::Address(ip))) => sockopt::set_ip_multicast_if(fd, &ip)?,
        UdpOption::MulticastInterface(Some(Interface::Index(index))) => sockopt::set_ipv6_multicast_if(fd, index)?,
        UdpOption::MulticastInterface(None) if is_ipv6 => sockopt::set_ipv6_multicast_if(fd, 0)?,
        UdpOption::MulticastInterface(None) => sockopt::set_ip_multicast_if(fd, &Ipv4Addr::UNSPECIFIED)?,
        UdpOption::Coalesce(on) => set_option(fd, libc::SOL_UDP, libc::UDP_GRO, &c_int::from(on))?,
        UdpOption::TellEcn(on) => {
            // What comes to an IPv6 socket by IPv4 has its mark told by that family's option.
            set_option(fd, libc::SOL_IP, libc::IP_RECVTOS, &c_int::from(on))?;
            if is_ipv6 {
                set_option(fd, libc::SOL_IPV6, libc::IPV6_RECVTCLASS, &c_int::from(on))?;
            }
        }
        UdpOption::TellLocal(on) if is_ipv6 => {
            set_option(fd, libc::SOL_IPV6, libc::IPV6_RECVPKTINFO, &c_int::from(on))?;
        }
        UdpOption::TellLocal(on) => set_option(fd, libc::SOL_IP, libc::IP_PKTINFO, &c_int::from(on))?,
        UdpOption::Membership { group: IpAddr::V4(group), interface, source, join } => {
            let interface = address_of(interface)?;
            match source {
                None if join => sockopt::set_ip_add_membership(fd, &group, &interface)?,
                None => sockopt::set_ip_drop_membership(fd, &group, &interface)?,
                Some(IpAddr::V4(source)) if join => {
                    sockopt::set_ip_add_source_membership(fd, &group, &interface, &source)?;
                }
                Some(IpAddr::V4(source)) => {
                    sockopt::set_ip_drop_source_membership(fd, &group, &interface, &source)?;
                }
                Some(IpAddr::V6(_)) => return Err(Errno::EINVAL),
            }
        }
        UdpOption::Membership { group: IpAddr::V6(group), interface, source, join } => {
            let index = index_of(interface)?;
            match source {
                None if join => sockopt::set_ipv6_add_membership(fd, &group, index)?,
                None => sockopt::set_ipv6_drop_membership(fd, &group, index)?,
                Some(IpAddr::V6(source)) => source_membership(fd, group, index, source, join)?,
                Some(IpAddr::V4(_)) => return Err(Errno::EINVAL),
            }
        }
    }
    Ok(())
}

/// True if the kernel cuts apart what this socket sends, given the
/// [size](crate::datagram::SendOptions::segment_size). One that does not know of it sends the bytes as they are.
pub fn can_segment(fd: &Descriptor) -> bool {
    option(fd, libc::SOL_UDP, libc::UDP_SEGMENT).is_ok()
}

/// True if, beyond that, nobody can tell datagrams that were cut apart from others: the socket has not been told to cut
/// apart by itself, or to put datagrams together, or to tell of each that has failed.
pub fn segments_unseen(fd: &Descriptor) -> bool {
    let is_off = |level, name| option(fd, level, name) == Ok(0);
    is_off(libc::SOL_UDP, libc::UDP_SEGMENT)
        && is_off(libc::SOL_UDP, libc::UDP_CORK)
        && is_off(libc::SOL_IP, libc::IP_RECVERR)
        && option(fd, libc::SOL_IPV6, libc::IPV6_RECVERR).unwrap_or(0) == 0
}

fn option(fd: &Descriptor, level: c_int, name: c_int) -> Result<c_int> {
    let mut value: c_int = 0;
    let mut len = size_of::<c_int>() as socklen_t;
    let place: *mut c_void = (&raw mut value).cast();
    // SAFETY: both are ours until the call returns, and `len` is the other's size.
    match unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, place, &raw mut len) } {
        0 => Ok(value),
        _ => Err(std::io::Error::last_os_error().into()),
    }
}

fn address_of(interface: Option<Interface>) -> Result<Ipv4Addr> {
    match interface {
        None => Ok(Ipv4Addr::UNSPECIFIED),
        Some(Interface::Address(ip)) => Ok(ip),
        Some(Interface::Index(_)) => Err(Errno::EINVAL),
    }
}

fn index_of(interface: Option<Interface>) -> Result<u32> {
    match interface {
        None => Ok(0),
        Some(Interface::Index(index)) => Ok(index),
        Some(Interface::Address(_)) => Err(Errno::EINVAL),
    }
}

/// Linux: `linux/in.h`.
const MCAST_JOIN_SOURCE_GROUP: c_int = 46;
const MCAST_LEAVE_SOURCE_GROUP: c_int = 47;

/// Linux: `struct group_source_req`.
#[repr(C)]
struct GroupSource {
    interface: u32,
    /// Named, so that it has a value.
    padding: u32,
    group: libc::sockaddr_storage,
    source: libc::sockaddr_storage,
}

fn source_membership(fd: &Descriptor, group: Ipv6Addr, index: u32, source: Ipv6Addr, join: bool) -> Result<()> {
    let storage = |ip: Ipv6Addr| {
        let address = InternetAddress::from(&SocketAddr::from((ip, 0)));
        let mut storage = MaybeUninit::<libc::sockaddr_storage>::zeroed();
        let bytes = address.as_ref().bytes();
        // SAFETY: it is larger than the address; and it consists of integers, for which zero is a value.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), storage.as_mut_ptr().cast(), bytes.len());
            storage.assume_init()
        }
    };
    let request = GroupSource { interface: index, padding: 0, group: storage(group), source: storage(source) };
    let name = if join { MCAST_JOIN_SOURCE_GROUP } else { MCAST_LEAVE_SOURCE_GROUP };
    set_option(fd, libc::IPPROTO_IPV6, name, &request)
}

fn set_option<T>(fd: &Descriptor, level: c_int, name: c_int, value: &T) -> Result<()> {
    let place: *const c_void = (&raw const *value).cast();
    // SAFETY: `value` is borrowed until the call returns, and as large as is said. The kernel reads it only.
    match unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, place, size_of::<T>() as socklen_t) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().into()),
    }
}
