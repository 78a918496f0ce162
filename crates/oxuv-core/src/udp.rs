//! UDP handles: their sockets, names and options, and the steps in which one readiness is worked off.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, Readiness, UdpBindFlags, UdpOption};
use crate::slots::flag;
use crate::stream::{ROUNDS, Stage, Step};
use crate::udp_queue::Sends;
use crate::watch::Watch;
use crate::{Buffers, Core, Event, Key, Kind, Refused};

bitflags::bitflags! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct UdpFlags: u16 {
        /// Between receive start and receive stop.
        const RECEIVING = 0x01;
        /// Connected to an address.
        const CONNECTED = 0x02;
        /// The socket is one of IPv6.
        const IPV6 = 0x04;
        /// Waits for a round of pending.
        const FED = 0x08;
        /// Receives several datagrams at a time.
        const SEVERAL = 0x10;
        /// The kernel was asked to tell more of what is received than its sender.
        const DESCRIBED = 0x20;
        /// The kernel was asked whether it cuts datagrams apart for this socket,
        const PROBED = 0x40;
        /// and it does not.
        const PLAIN = 0x80;
        /// Somebody waits for something to receive, who receives it without the loop.
        const AWAITED = 0x100;
        /// It was waited for so, and came: the kernel is not told that it is no longer, as it mostly is again.
        const KEPT = 0x200;
        /// When it came there was word of failures as well.
        const FAILED = 0x400;
    }
}

#[derive(Debug)]
pub(crate) struct Udp<F, U, B> {
    pub(crate) fd: Option<F>,
    pub(crate) flags: UdpFlags,
    pub(crate) watch: Watch,
    /// Bytes of datagrams whose sending is not reported.
    pub(crate) queued: usize,
    /// Datagrams whose sending is not reported, in their order.
    pub(crate) sends: Sends<U, B>,
    /// Whether datagrams of one size may go as one; `None` is not known yet.
    pub(crate) joins: Option<bool>,
}

impl<F, U, B> Default for Udp<F, U, B> {
    fn default() -> Self {
        Udp {
            fd: None,
            flags: UdpFlags::empty(),
            watch: Watch::default(),
            queued: 0,
            sends: Sends::default(),
            joins: None,
        }
    }
}

impl<F, U: Copy, B: Buffers> Udp<F, U, B> {
    #[inline]
    pub(crate) fn is(&self, flag: UdpFlags) -> bool {
        self.flags.contains(flag)
    }

    /// The datagrams whose sending is not reported.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.sends.len()
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new UDP handle, without a socket: bind, connect, open, sending or receiving give it one.
    ///
    /// With `several` it receives several datagrams at a time, see
    /// [`Core::udp_receive_several_into`].
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_udp_init")]
    pub fn udp_init(&mut self, user: U, several: bool) -> Result<Key> {
        self.slots.reserve()?;
        self.watches.reserve(self.watchers() + 1)?;
        self.pending.reserve(self.streams.bound() + self.udps.bound() + 1)?;
        let flags = if several { UdpFlags::SEVERAL } else { UdpFlags::empty() };
        let state = self.udps.insert(Udp { flags, ..Udp::default() })?;
        Ok(self.add_handle(Kind::Udp, state, user))
    }

    /// As [`Core::udp_init`], with a socket for addresses of this family.
    ///
    /// # Errors
    /// EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM.
    #[doc(alias = "uv_udp_init_ex")]
    pub fn udp_init_with_socket(&mut self, user: U, several: bool, family: IpAddr) -> Result<Key> {
        let fd = self.kernel.udp_socket(family)?;
        self.watches.reserve_number(K::number(&fd))?;
        let key = self.udp_init(user, several)?;
        self.put_udp_socket(key.index, fd, family.is_ipv6());
        Ok(key)
    }

    /// Gives the handle a socket that was made elsewhere, and that may be connected: any that sends and receives
    /// datagrams.
    ///
    /// # Errors
    /// EINVAL when closing, EBUSY when it has a socket, EEXIST when a handle waits for the descriptor; ENOTSOCK; EBADF.
    #[doc(alias = "uv_udp_open")]
    #[doc(alias = "uv_udp_open_ex")]
    pub fn udp_open(&mut self, key: Key, fd: K::Fd, flags: UdpBindFlags) -> Result<(), Refused<K::Fd>> {
        match self.check_udp_open(key, &fd, flags) {
            Ok(index) => {
                let is_ipv6 = self.kernel.local_address(&fd).is_ok_and(|address| address.is_ipv6());
                // One whose peer's address is none of the internet's is connected as well.
                let is_connected = matches!(self.kernel.peer_address(&fd), Ok(_) | Err(Errno::EAFNOSUPPORT));
                self.put_udp_socket(index, fd, is_ipv6);
                self.udps[self.slots[index].state].flags.set(UdpFlags::CONNECTED, is_connected);
                Ok(())
            }
            Err(error) => Err(Refused { error, given: fd }),
        }
    }

    fn check_udp_open(&mut self, key: Key, fd: &K::Fd, flags: UdpBindFlags) -> Result<u32> {
        let index = self.open_handle(key, Kind::Udp)?;
        if self.udps[self.slots[index].state].fd.is_some() {
            return Err(Errno::EBUSY);
        }
        self.check_free(K::number(fd), None)?;
        self.kernel.adopt(fd)?;
        self.kernel.udp_reuse(fd, flags)?;
        self.watches.reserve_number(K::number(fd))?;
        Ok(index)
    }

    /// Binds the handle.
    ///
    /// # Errors
    /// EINVAL when closing, for a second bind, for `ipv6_only` with an IPv4 address, or when the socket is of the other
    /// family; EADDRINUSE, EADDRNOTAVAIL, EACCES; EMFILE, ENFILE, ENOBUFS, ENOMEM for the socket.
    #[doc(alias = "uv_udp_bind")]
    pub fn udp_bind(&mut self, key: Key, address: &SocketAddr, flags: UdpBindFlags) -> Result<()> {
        let index = self.open_handle(key, Kind::Udp)?;
        if flags.ipv6_only && address.is_ipv4() {
            return Err(Errno::EINVAL);
        }
        if self.udps[self.slots[index].state].fd.is_none() {
            let fd = self.kernel.udp_socket(address.ip())?;
            self.watches.reserve_number(K::number(&fd))?;
            self.put_udp_socket(index, fd, address.is_ipv6());
        }
        let fd = self.udps[self.slots[index].state].fd.as_ref().ok_or(Errno::EBADF)?;
        self.kernel.udp_bind(fd, address, flags).map_err(|error| match error {
            Errno::EAFNOSUPPORT => Errno::EINVAL,
            error => error,
        })
    }

    /// Binds a handle that has no socket to any address of this family, at a free port.
    pub(crate) fn udp_bind_to_any(&mut self, key: Key, family: IpAddr, flags: UdpBindFlags) -> Result<()> {
        if self.udps[self.slots[key.index].state].fd.is_some() {
            return Ok(());
        }
        let ip: IpAddr = match family {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        self.udp_bind(key, &(ip, 0).into(), flags)
    }

    /// Connects the handle: it sends to this address, and receives from it only. With `None` it is connected no more.
    /// A handle without a socket is bound to any address first.
    ///
    /// # Errors
    /// EINVAL when closing; EISCONN when it is connected, ENOTCONN when it is to be no more and was not; what the kernel
    /// says, and what binding fails with.
    #[doc(alias = "uv_udp_connect")]
    pub fn udp_connect(&mut self, key: Key, address: Option<&SocketAddr>) -> Result<()> {
        let index = self.open_handle(key, Kind::Udp)?;
        let is_connected = self.udps[self.slots[index].state].is(UdpFlags::CONNECTED);
        match address {
            None if !is_connected => return Err(Errno::ENOTCONN),
            Some(_) if is_connected => return Err(Errno::EISCONN),
            None => {}
            Some(address) => self.udp_bind_to_any(key, address.ip(), UdpBindFlags::default())?,
        }
        let udp = &mut self.udps[self.slots[index].state];
        self.kernel.udp_connect(udp.fd.as_ref().ok_or(Errno::EBADF)?, address)?;
        udp.flags.set(UdpFlags::CONNECTED, address.is_some());
        Ok(())
    }

    /// True while the handle is connected to an address.
    pub fn udp_is_connected(&self, key: Key) -> bool {
        self.udp(key).is_ok_and(|udp| udp.is(UdpFlags::CONNECTED))
    }

    /// Sets an option. To join or leave a group, a handle without a socket is bound to any address first, so that others
    /// may be bound to the same. Where the kernel cannot coalesce, [`UdpOption::Coalesce`] has no effect.
    ///
    /// # Errors
    /// EINVAL when closing, or for a ttl of 0; EBADF without a socket; EADDRINUSE for a group that was joined already,
    /// EADDRNOTAVAIL for one that was not; ENODEV for an interface that there is not.
    pub fn udp_set(&mut self, key: Key, option: UdpOption) -> Result<()> {
        let index = self.open_handle(key, Kind::Udp)?;
        if option == UdpOption::Ttl(0) {
            return Err(Errno::EINVAL);
        }
        if let UdpOption::Membership { group, .. } = option {
            self.udp_bind_to_any(key, group, UdpBindFlags { reuse_address: true, ..UdpBindFlags::default() })?;
        }
        let udp = &mut self.udps[self.slots[index].state];
        match self.kernel.udp_set(udp.fd.as_ref().ok_or(Errno::EBADF)?, udp.is(UdpFlags::IPV6), option) {
            Err(Errno::ENOPROTOOPT | Errno::EOPNOTSUPP) if matches!(option, UdpOption::Coalesce(_)) => Ok(()),
            Err(error) => Err(error),
            Ok(()) => {
                // What is told stays told: there may be other reasons for it, and it costs little.
                if let UdpOption::Coalesce(true) | UdpOption::TellEcn(true) | UdpOption::TellLocal(true) = option {
                    udp.flags |= UdpFlags::DESCRIBED;
                }
                Ok(())
            }
        }
    }

    /// The address the handle is bound to.
    ///
    /// # Errors
    /// EBADF without a socket; EAFNOSUPPORT when it is not an internet address; EINVAL for a stale key.
    #[doc(alias = "uv_udp_getsockname")]
    pub fn udp_local_address(&self, key: Key) -> Result<SocketAddr> {
        self.kernel.local_address(self.udp_descriptor(key)?)
    }

    /// The address the handle is connected to.
    ///
    /// # Errors
    /// ENOTCONN; as [`Core::udp_local_address`].
    #[doc(alias = "uv_udp_getpeername")]
    pub fn udp_peer_address(&self, key: Key) -> Result<SocketAddr> {
        self.kernel.peer_address(self.udp_descriptor(key)?)
    }

    /// The handle's socket.
    ///
    /// # Errors
    /// EBADF when it has none (yet, or any more); EINVAL for a stale key.
    #[doc(alias = "uv_fileno")]
    pub fn udp_descriptor(&self, key: Key) -> Result<&K::Fd> {
        self.udp(key)?.fd.as_ref().ok_or(Errno::EBADF)
    }

    #[inline]
    pub(crate) fn udp(&self, key: Key) -> Result<&Udp<K::Fd, U, B>> {
        let index = self.slots.find_kind(key, Kind::Udp)?;
        Ok(&self.udps[self.slots[index].state])
    }

    fn put_udp_socket(&mut self, index: u32, fd: K::Fd, is_ipv6: bool) {
        let udp = &mut self.udps[self.slots[index].state];
        udp.watch.number = K::number(&fd);
        udp.flags.set(UdpFlags::IPV6, is_ipv6);
        udp.fd = Some(fd);
    }

    /// Begins to work on a handle that is ready.
    #[inline(never)]
    pub(crate) fn begin_udp_step(&mut self, key: Key, state: u32, ready: Readiness) -> Option<Event<U>> {
        let wanted = self.udps[state].watch.wanted;
        let mut readiness = ready & (wanted | Readiness::ERROR | Readiness::HANG_UP);
        if wanted.is_empty() || readiness.is_empty() {
            return self.not_wanted(key.index);
        }
        self.poll.events += 1;
        if readiness.contains(Readiness::ERROR) {
            // Whoever receives, and whoever sends, is to find out about it by trying.
            readiness |= Readiness::READ | Readiness::WRITE;
        }
        if readiness.contains(Readiness::READ) && self.udps[state].flags.intersects(UdpFlags::AWAITED | UdpFlags::KEPT)
        {
            return self.tell_udp_ready(key, state, readiness);
        }
        let stage = if readiness.contains(Readiness::READ) { Stage::UdpReceive } else { Stage::UdpSend };
        self.step = Step { stage, rounds: ROUNDS, readiness, key, state, reports: 0 };
        self.next_step()
    }

    /// Begins to work on a handle that was fed: the sending of a datagram has ended.
    #[inline(never)]
    pub(crate) fn begin_pending_udp_step(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        self.step = Step { stage: Stage::UdpSend, readiness: Readiness::WRITE, key, state, ..Step::default() };
        self.step_send()
    }

    /// The next event of a stage that is about a UDP handle.
    pub(crate) fn step_udp(&mut self) -> Option<Event<U>> {
        match self.step.stage {
            Stage::UdpReceive | Stage::UdpReceiveErrors => self.step_receive(),
            Stage::UdpSend => self.step_send(),
            _ => self.step_report_sent(),
        }
    }

    /// True while the handle neither receives nor has anything to report.
    pub(crate) fn udp_rests(&self, index: u32) -> bool {
        let udp = &self.udps[self.slots[index].state];
        !udp.flags.intersects(UdpFlags::RECEIVING | UdpFlags::AWAITED) && udp.count() == 0
    }

    /// Has the handle worked on in the next round of pending, once.
    pub(crate) fn feed_udp(&mut self, index: u32) {
        self.pending.feed_udp(&mut self.udps[self.slots[index].state].flags, self.slots.key(index));
    }

    /// Stops everything about a handle that is being closed, and closes its socket.
    pub(crate) fn close_udp(&mut self, index: u32) {
        self.forget(index);
        let udp = &mut self.udps[self.slots[index].state];
        self.pending.unfeed_udp(&mut udp.flags);
        udp.flags -= UdpFlags::RECEIVING | UdpFlags::CONNECTED | UdpFlags::AWAITED | UdpFlags::KEPT;
        udp.fd = None;
        udp.watch.number = -1;
    }

    /// Work on a handle is left behind: what was not received is still ready, and reports are still queued.
    pub(crate) fn abandon_udp_step(&mut self, index: u32) {
        if self.slots[index].has(flag::CLOSING) {
            return;
        }
        if self.udps[self.slots[index].state].count() > 0 {
            self.feed_udp(index);
        } else {
            self.end_sending(index);
        }
    }
}

#[cfg(test)]
#[path = "udp_tests.rs"]
mod tests;
