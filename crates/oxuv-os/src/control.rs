//! What goes along with a datagram beyond its address: sizes of segments, congestion marks and local addresses, as
//! control messages.

use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;

use libc::{c_int, c_void, cmsghdr, msghdr};

use crate::datagram::Received;
use crate::{Address, Errno};

/// The two bits of a datagram by which routers tell of congestion (RFC 3168).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Routers are to drop it rather than to mark it.
    NotCapable = 0b00,
    /// May be marked: ECT(1), which RFC 9331 has given to low latency.
    Ect1 = 0b01,
    /// May be marked: ECT(0), the usual one.
    Ect0 = 0b10,
    /// A router has marked it: there is congestion.
    Congested = 0b11,
}

impl Ecn {
    /// The mark in a type of service or traffic class.
    fn of(byte: u8) -> Ecn {
        match byte & 0b11 {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Congested,
        }
    }
}

/// How a datagram is sent, beyond where to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// The bytes are several datagrams of this size each, the last of which may be smaller: the kernel cuts them apart.
    pub segment_size: Option<NonZeroU16>,
    /// The local address to send from; `None` is the socket's own or the system's choice.
    pub source: Option<IpAddr>,
    /// Its congestion mark. The other bits of its type of service are 0 then; `None` leaves all to the socket.
    pub ecn: Option<Ecn>,
}

impl SendOptions {
    /// Nothing but an address.
    pub const PLAIN: SendOptions = SendOptions { segment_size: None, source: None, ecn: None };
}

/// Memory for control messages: those of a datagram that is sent, those of one that was received, or that of the queue of
/// errors, in which there is a part for the sender of the ICMP message.
#[repr(C, align(8))]
pub(crate) struct Control([MaybeUninit<u8>; 256]);

impl Control {
    pub(crate) const SIZE: usize = size_of::<Control>();

    pub(crate) const fn new() -> Control {
        Control([const { MaybeUninit::uninit() }; 256])
    }

    /// Writes what `options` ask for, and has the header name it.
    #[inline(never)]
    pub(crate) fn attach(&mut self, options: &SendOptions, header: &mut msghdr) {
        let mut used = 0;
        if let Some(size) = options.segment_size {
            self.put(&mut used, libc::SOL_UDP, libc::UDP_SEGMENT, &size.get());
        }
        if let Some(ecn) = options.ecn {
            // The kernel passes over the one that is not the datagram's family's, which only it knows: an IPv6 socket
            // sends IPv4 as well.
            self.put(&mut used, libc::SOL_IP, libc::IP_TOS, &c_int::from(ecn as u8));
            self.put(&mut used, libc::SOL_IPV6, libc::IPV6_TCLASS, &c_int::from(ecn as u8));
        }
        match options.source {
            Some(IpAddr::V4(ip)) => {
                let source = libc::in_addr { s_addr: u32::from(ip).to_be() };
                let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: source, ipi_addr: source };
                self.put(&mut used, libc::SOL_IP, libc::IP_PKTINFO, &info);
            }
            Some(IpAddr::V6(ip)) => {
                let info = libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: ip.octets() }, ipi6_ifindex: 0 };
                self.put(&mut used, libc::SOL_IPV6, libc::IPV6_PKTINFO, &info);
            }
            None => {}
        }
        header.msg_control = self.0.as_mut_ptr().cast();
        header.msg_controllen = used as _;
    }

    /// Adds a message behind the `used` bytes.
    fn put<T: Copy>(&mut self, used: &mut usize, level: c_int, name: c_int, value: &T) {
        // SAFETY: sizes only.
        let (len, space) = unsafe {
            (libc::CMSG_LEN(size_of::<T>() as u32) as usize, libc::CMSG_SPACE(size_of::<T>() as u32) as usize)
        };
        let place = &mut self.0[*used..*used + space];
        place.fill(MaybeUninit::new(0));
        let message = place.as_mut_ptr().cast::<cmsghdr>();
        // SAFETY: there are `space` bytes: for a header, aligned as `used` is a sum of such spaces, and for the value.
        unsafe {
            (*message).cmsg_len = len as _;
            (*message).cmsg_level = level;
            (*message).cmsg_type = name;
            libc::CMSG_DATA(message).cast::<T>().write_unaligned(*value);
        }
        *used += space;
    }
}

/// The messages that the kernel has put to a header: their level, type and bytes.
///
/// # Safety
/// The kernel has filled the header in, whose control part is valid for as long as the messages are used.
unsafe fn messages(header: &msghdr) -> impl Iterator<Item = (c_int, c_int, &[u8])> {
    // SAFETY: the library's functions walk over the control part as the kernel has filled it, says the caller.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    std::iter::from_fn(move || {
        // SAFETY: it is null, or a message in the control part, which has as many bytes of data as it says.
        unsafe {
            let &cmsghdr { cmsg_level, cmsg_type, cmsg_len, .. } = next.as_ref()?;
            let data = libc::CMSG_DATA(next);
            let len = cmsg_len.saturating_sub(data.addr() - next.addr());
            next = libc::CMSG_NXTHDR(header, next);
            Some((cmsg_level, cmsg_type, std::slice::from_raw_parts(data, len)))
        }
    })
}

/// The value at the beginning of a message; `None` when that is too short.
fn value<const SIZE: usize>(data: &[u8]) -> Option<[u8; SIZE]> {
    data.first_chunk().copied()
}

/// Takes over what the kernel tells of a datagram that was received.
///
/// # Safety
/// The kernel has filled the header in, whose control part is valid.
#[inline(never)]
pub(crate) unsafe fn describe(header: &msghdr, received: &mut Received<'_>) {
    // SAFETY: says the caller.
    for (level, name, data) in unsafe { messages(header) } {
        match (level, name) {
            (libc::SOL_UDP, libc::UDP_GRO) => {
                let size = value(data).and_then(|size| u16::try_from(c_int::from_ne_bytes(size)).ok());
                received.segment_size = size.and_then(NonZeroU16::new);
            }
            (libc::SOL_IP, libc::IP_TOS) => received.ecn = data.first().map(|&byte| Ecn::of(byte)),
            (libc::SOL_IPV6, libc::IPV6_TCLASS) => {
                received.ecn = value(data).map(|class| Ecn::of(c_int::from_ne_bytes(class) as u8));
            }
            // An index, the address to answer from, and the one in the datagram, which may be a group's.
            (libc::SOL_IP, libc::IP_PKTINFO) => {
                received.local = value::<12>(data).map(|[_, _, _, _, a, b, c, d, ..]| Ipv4Addr::new(a, b, c, d).into());
            }
            (libc::SOL_IPV6, libc::IPV6_PKTINFO) => {
                received.local = value::<16>(data).map(|octets| Ipv6Addr::from(octets).into());
            }
            _ => {}
        }
    }
}

/// Looks for the error among what came with a message of the queue of errors.
///
/// # Safety
/// As for [`describe`].
#[cold]
pub(crate) unsafe fn take_error(header: &msghdr, received: &mut Received<'_>) {
    // SAFETY: says the caller.
    for (level, name, data) in unsafe { messages(header) } {
        let is_error = matches!((level, name), (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR));
        // An extended error begins with its number, and is followed by the address of who has told of it.
        if is_error && let Some(number) = value(data) {
            let teller = data.get(size_of::<libc::sock_extended_err>()..).unwrap_or_default();
            received.error = Some(Errno::from_raw(u32::from_ne_bytes(number) as i32));
            received.from = Address::from_bytes(teller).unwrap_or(Address::none());
            return;
        }
    }
}

/// What is put to a header to be told by [`describe`] or [`take_error`].
pub(crate) fn make_room(header: &mut msghdr, control: *mut c_void) {
    header.msg_control = control;
    header.msg_controllen = Control::SIZE as _;
}
