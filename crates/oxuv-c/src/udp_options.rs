//! Options of UDP handles.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use oxuv_core::kernel::{Interface, UdpOption};
use oxuv_core::{Errno, Result};

use crate::address::{parse, scope, text, without_interface};
use crate::error::code;
use crate::udp::{show_descriptor, uv_udp_t, with_socket};

/// `uv_membership`: whether to join a group or to leave it.
pub type uv_membership = c_uint;
/// To leave a group.
pub const UV_LEAVE_GROUP: uv_membership = 0;
/// To join a group.
pub const UV_JOIN_GROUP: uv_membership = 1;

/// Joins or leaves a group. `interface_addr` says where the group is: the address of an interface for a group of IPv4,
/// one like `"::%eth0"` for a group of IPv6, or null for the system's choice. A handle without a socket is bound first.
///
/// UV_EINVAL for texts that are no addresses, for what is no group, for another `membership`; UV_EADDRINUSE for a group
/// that was joined already, UV_EADDRNOTAVAIL for one that was not; UV_ENODEV for an interface that there is not.
///
/// # Safety
/// `udp` was initialised; the addresses are texts with a zero at their end, `interface_addr` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_set_membership(
    udp: *mut uv_udp_t,
    multicast_addr: *const c_char,
    interface_addr: *const c_char,
    membership: uv_membership,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { set_membership(udp, multicast_addr, interface_addr, None, membership) })
}

/// As [`uv_udp_set_membership`], for what comes from the address `source_addr` only.
///
/// UV_EINVAL also for a `source_addr` that is no address of the group's family.
///
/// # Safety
/// As for [`uv_udp_set_membership`]; `source_addr` is a text with a zero at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_set_source_membership(
    udp: *mut uv_udp_t,
    multicast_addr: *const c_char,
    interface_addr: *const c_char,
    source_addr: *const c_char,
    membership: uv_membership,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    code(unsafe { set_membership(udp, multicast_addr, interface_addr, Some(source_addr), membership) })
}

/// # Safety
/// As for [`uv_udp_set_source_membership`].
unsafe fn set_membership(
    udp: *mut uv_udp_t,
    group: *const c_char,
    interface: *const c_char,
    source: Option<*const c_char>,
    membership: uv_membership,
) -> Result<()> {
    // SAFETY: texts, or null, says the caller, who does not change them meanwhile.
    let (group, interface, source) = unsafe { (text(group)?, optional(interface)?, source.map(|it| text(it))) };
    let group = address(group)?;
    let source = source.transpose()?.map(address).transpose()?;
    if source.is_some_and(|source| source.is_ipv4() != group.is_ipv4()) {
        return Err(Errno::EINVAL);
    }
    let interface = match (interface, group) {
        (None, _) => None,
        (Some(interface), IpAddr::V4(_)) => Some(Interface::Address(parse(interface.to_bytes())?)),
        (Some(interface), IpAddr::V6(_)) => Some(index(interface)?),
    };
    let join = match membership {
        UV_JOIN_GROUP => true,
        UV_LEAVE_GROUP => false,
        _ => return Err(Errno::EINVAL),
    };
    // SAFETY: the handle was initialised.
    unsafe {
        let set = set(udp, UdpOption::Membership { group, interface, source, join });
        // It may have been bound for this.
        show_descriptor(udp);
        set
    }
}

/// Whether this machine gets what the handle sends to groups that it is in.
///
/// UV_EBADF without a socket.
///
/// # Safety
/// `udp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_set_multicast_loop(udp: *mut uv_udp_t, on: c_int) -> c_int {
    let loops = u8::try_from(on).map_err(|_| Errno::EINVAL).map(|on| UdpOption::MulticastLoop(on != 0));
    // SAFETY: the handle was initialised.
    code(loops.and_then(|option| unsafe { set(udp, option) }))
}

/// Through how many routers datagrams to groups go: 0 to 255.
///
/// UV_EINVAL for another number; UV_EBADF without a socket.
///
/// # Safety
/// `udp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_set_multicast_ttl(udp: *mut uv_udp_t, ttl: c_int) -> c_int {
    let ttl = u8::try_from(ttl).map_err(|_| Errno::EINVAL).map(UdpOption::MulticastTtl);
    // SAFETY: the handle was initialised.
    code(ttl.and_then(|option| unsafe { set(udp, option) }))
}

/// The interface that datagrams to groups are sent by: by its address, or for IPv6 one like `"::%eth0"`; null for the
/// system's choice.
///
/// UV_EINVAL for a text that is no address; UV_EADDRNOTAVAIL, UV_ENODEV when there is no such interface; UV_EBADF without
/// a socket.
///
/// # Safety
/// `udp` was initialised; `interface_addr` is null or a text with a zero at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_set_multicast_interface(
    udp: *mut uv_udp_t,
    interface_addr: *const c_char,
) -> c_int {
    // SAFETY: the handle was initialised; a text or null, says the caller.
    unsafe {
        let interface = optional(interface_addr).and_then(|name| {
            let by_address = |name: &CStr| parse::<Ipv4Addr>(name.to_bytes()).map(Interface::Address);
            name.map(|name| by_address(name).or_else(|_| index(name))).transpose()
        });
        code(interface.and_then(|interface| set(udp, UdpOption::MulticastInterface(interface))))
    }
}

/// Whether datagrams may be sent to broadcast addresses.
///
/// UV_EBADF without a socket.
///
/// # Safety
/// `udp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_set_broadcast(udp: *mut uv_udp_t, on: c_int) -> c_int {
    // SAFETY: the handle was initialised.
    code(unsafe { set(udp, UdpOption::Broadcast(on != 0)) })
}

/// Through how many routers datagrams go: 1 to 255.
///
/// UV_EINVAL for another number; UV_EBADF without a socket.
///
/// # Safety
/// `udp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_set_ttl(udp: *mut uv_udp_t, ttl: c_int) -> c_int {
    let ttl = u8::try_from(ttl).map_err(|_| Errno::EINVAL).map(UdpOption::Ttl);
    // SAFETY: the handle was initialised.
    code(ttl.and_then(|option| unsafe { set(udp, option) }))
}

/// # Safety
/// `udp` was initialised.
unsafe fn set(udp: *mut uv_udp_t, option: UdpOption) -> Result<()> {
    // SAFETY: the same is asked of our caller.
    unsafe { with_socket(udp, |core, key| core.udp_set(key, option)) }
}

/// # Safety
/// `name` is null or a text with a zero at its end, and stays as it is for the lifetime that the caller chooses.
unsafe fn optional<'a>(name: *const c_char) -> Result<Option<&'a CStr>> {
    // SAFETY: the same is asked of our caller.
    if name.is_null() { Ok(None) } else { unsafe { text(name).map(Some) } }
}

fn address(text: &CStr) -> Result<IpAddr> {
    let v4 = parse::<Ipv4Addr>(text.to_bytes()).map(IpAddr::V4);
    v4.or_else(|_| parse::<Ipv6Addr>(without_interface(text.to_bytes())).map(IpAddr::V6))
}

/// The interface that stands behind an IPv6 address.
fn index(text: &CStr) -> Result<Interface> {
    parse::<Ipv6Addr>(without_interface(text.to_bytes())).map(|_| Interface::Index(scope(text)))
}
