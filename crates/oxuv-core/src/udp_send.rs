//! Sending datagrams.

use std::net::SocketAddr;

use oxuv_os::{AddressRef, AsAddress, Errno, InternetAddress, Result};

use crate::buffers::are_given_back;
use crate::kernel::{Kernel, Readiness, SendOptions, UdpBindFlags};
use crate::slab::Slab;
use crate::slots::flag;
use crate::stream::Stage;
use crate::udp::{Udp, UdpFlags};
use crate::udp_batch::{Outgoing, send_one, send_some};
use crate::udp_queue::{PLAIN, Send};
use crate::udp_segments::{MOST, Segments};
use crate::write::{MAX_BUFFERS, MAX_BYTES};
use crate::{Buffers, Core, Event, Key, Kind, Refused};

/// Where a datagram is sent to, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct Target<'a> {
    /// `None` is the address that the handle is connected to.
    pub address: Option<AddressRef<'a>>,
    /// Its source address, its congestion mark; the size of its segments, if it is several.
    pub options: SendOptions,
}

impl<'a> From<Option<AddressRef<'a>>> for Target<'a> {
    #[inline]
    fn from(address: Option<AddressRef<'a>>) -> Self {
        Target { address, options: SendOptions::PLAIN }
    }
}

/// What few datagrams have that were given to be sent.
#[derive(Debug, Default)]
pub(crate) struct Special {
    /// The bytes of an address that is none of the internet's.
    other: Vec<u8>,
    options: SendOptions,
    /// What of it has gone, if it is several.
    segments: Segments,
}

impl<U, B> Send<U, B> {
    /// Borrowed, to be sent. `None` of one that was sent by its call, or that is several.
    #[inline]
    fn outgoing<'a>(&'a self, specials: &'a Slab<Special>) -> Option<Outgoing<'a, B>> {
        let buffers = self.buffers.as_ref()?;
        if self.special == PLAIN {
            return Some(Outgoing { buffers, to: self.internet_address(), options: None });
        }
        let Target { address, options } = self.target(&specials[self.special]);
        let options = options.segment_size.is_none().then(|| given(&specials[self.special].options))?;
        Some(Outgoing { buffers, to: address, options })
    }

    #[inline]
    fn internet_address(&self) -> Option<AddressRef<'_>> {
        (!self.to.is_none()).then(|| self.to.as_ref())
    }

    /// Where one goes that this is special about, and how.
    fn target<'a>(&'a self, special: &'a Special) -> Target<'a> {
        let other = (!special.other.is_empty()).then(|| AddressRef::new(&special.other));
        Target { address: self.internet_address().or(other), options: special.options }
    }
}

/// The options, if there are any.
#[inline]
fn given(options: &SendOptions) -> Option<&SendOptions> {
    (*options != SendOptions::PLAIN).then_some(options)
}

impl<F, U: Copy, B: Buffers> Udp<F, U, B> {
    /// The number of bytes in `buffers`, if they may be sent there.
    #[inline]
    fn check_send(&self, to: Option<AddressRef<'_>>, buffers: &impl Buffers) -> Result<usize> {
        match (to, self.is(UdpFlags::CONNECTED)) {
            (Some(_), true) => return Err(Errno::EISCONN),
            (None, false) => return Err(Errno::EDESTADDRREQ),
            _ => {}
        }
        if buffers.count() == 0 || buffers.count() > MAX_BUFFERS {
            return Err(Errno::EINVAL);
        }
        buffers.total().filter(|&total| total <= MAX_BYTES).ok_or(Errno::EINVAL)
    }

    /// Queues a datagram, for which there is room. True if nothing else waits to be sent.
    #[inline]
    fn queue(&mut self, send: Send<U, B>) -> bool {
        self.queued += send.total as usize;
        self.sends.push(send)
    }

    /// Refuses what the kernel would pass over: a source address of the other family; and several buffers for segments.
    fn check_options(&self, options: &SendOptions, to: Option<AddressRef<'_>>, buffers: usize) -> Result<()> {
        let is_ipv6 = match (&self.fd, to) {
            // It gets a socket for that address.
            (None, Some(to)) => SocketAddr::try_from(to).is_ok_and(|to| to.is_ipv6()),
            _ => self.is(UdpFlags::IPV6),
        };
        let is_wrong = options.source.is_some_and(|source| source.is_ipv6() != is_ipv6);
        if is_wrong || (options.segment_size.is_some() && buffers != 1) { Err(Errno::EINVAL) } else { Ok(()) }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Sends a datagram, at once if the kernel takes it, else when it does. `None` is the address that the handle is
    /// connected to. [`Event::Sent`] with `user` comes later, never inside this call, exactly once, in the order of the
    /// calls. A handle without a socket is bound to any address first.
    ///
    /// With a [`segment_size`](SendOptions::segment_size) the one buffer is several datagrams, sent in as few calls as the
    /// kernel can; an error is that of the first that was not sent.
    ///
    /// If the datagram has gone with the call, `buffers` are handed back. Otherwise `keep` makes of them what stays with
    /// the core until the event; then [`Core::take_buffers`] has it.
    ///
    /// # Errors
    /// Without effect: EINVAL when closing, for no buffer, more than 2^20 of them or more than 2^31-1 bytes, for an
    /// address that is none of the internet's while there is no socket, or for a source address of the other family; EISCONN for an address when connected,
    /// EDESTADDRREQ without one when not; what binding fails with; EEXIST when another handle waits for the descriptor;
    /// ENOMEM. What the kernel says of the datagram comes by the event: EMSGSIZE, ECONNREFUSED, ENETUNREACH.
    #[doc(alias = "uv_udp_send")]
    #[inline]
    pub fn udp_send<'a, T: Buffers>(
        &mut self,
        key: Key,
        user: U,
        to: impl Into<Target<'a>>,
        buffers: T,
        keep: impl FnOnce(T) -> B,
    ) -> Result<Option<T>, Refused<T>> {
        let to = to.into();
        let (state, total) = match self.check_to_send(key, &to, &buffers) {
            Ok(checked) => checked,
            Err(error) => return Err(Refused { error, given: buffers }),
        };
        let mut udp = &mut self.udps[state];
        if !udp.sends.has_room() || udp.watch.wanted.is_empty() {
            if let Err(error) = self.prepare_to_send(key, state, to.address) {
                return Err(Refused { error, given: buffers });
            }
            udp = &mut self.udps[state];
        }
        // What a report's callback sends follows when all reports are told.
        if udp.sends.is_empty() && !(self.step.stage == Stage::UdpReport && self.step.key == key) {
            return self.send_first(key, state, user, to, buffers, total, keep);
        }
        let short = to.address.map_or(InternetAddress::none(), InternetAddress::copied);
        if given(&to.options).is_some() || (short.is_none() && to.address.is_some()) {
            return self.queue_special(key, state, user, to, Segments::default(), buffers, total, keep);
        }
        let (buffers, bytes) = (Some(keep(buffers)), total as u32);
        let send = Send { user, buffers, to: short, total: bytes, result: Ok(()), special: PLAIN };
        self.requests += 1;
        if udp.queue(send) {
            self.begin_sending(key.index, state);
        }
        Ok(None)
    }

    /// Everything that a send may be refused for, but for a socket to send by and for memory to remember it. Returns the handle's
    /// state, and the number of bytes.
    #[inline]
    fn check_to_send(&self, key: Key, to: &Target<'_>, buffers: &impl Buffers) -> Result<(u32, usize)> {
        let index = self.open_handle(key, Kind::Udp)?;
        let state = self.slots[index].state;
        let udp = &self.udps[state];
        let total = udp.check_send(to.address, buffers)?;
        if let Some(options) = given(&to.options) {
            udp.check_options(options, to.address, buffers.count())?;
        }
        Ok((state, total))
    }

    /// Makes sure that one more can be queued, and that the handle has a socket that no other waits for.
    #[cold]
    fn prepare_to_send(&mut self, key: Key, state: u32, to: Option<AddressRef<'_>>) -> Result<()> {
        let udp = &mut self.udps[state];
        if !udp.sends.has_room() {
            udp.sends.reserve()?;
        }
        if udp.watch.wanted.is_empty() {
            self.bind_to_send(key, to)?;
            self.check_free(self.udps[state].watch.number, Some(key.index))?;
        }
        Ok(())
    }

    /// A handle without a socket gets one for the family of the address that is sent to.
    #[inline(never)]
    fn bind_to_send(&mut self, key: Key, to: Option<AddressRef<'_>>) -> Result<()> {
        match to {
            Some(to) if self.udps[self.slots[key.index].state].fd.is_none() => {
                let address = SocketAddr::try_from(to).map_err(|_| Errno::EINVAL)?;
                self.udp_bind_to_any(key, address.ip(), UdpBindFlags::default())
            }
            _ => Ok(()),
        }
    }

    /// Sends a datagram that nothing is ahead of, or several as one; what the kernel does not take now is queued.
    #[inline(never)] // Where many are queued, the registers are theirs.
    #[expect(clippy::too_many_arguments)] // The second half of `udp_send`, with what the first has found out.
    fn send_first<T: Buffers>(
        &mut self,
        key: Key,
        state: u32,
        user: U,
        to: Target<'_>,
        buffers: T,
        total: usize,
        keep: impl FnOnce(T) -> B,
    ) -> Result<Option<T>, Refused<T>> {
        let mut segments = Segments::default();
        let Some(result) = self.send_at_once(state, &to, &buffers, &mut segments) else {
            return self.queue_special(key, state, user, to, segments, buffers, total, keep);
        };
        let udp = &mut self.udps[state];
        let (to, total) = (InternetAddress::none(), total as u32);
        udp.queue(Send { user, buffers: None, to, total, result, special: PLAIN });
        udp.sends.end(1);
        self.pending.feed_udp(&mut udp.flags, key);
        self.requests += 1;
        self.set_active(key.index);
        Ok(Some(buffers))
    }

    /// Queues a datagram that there may be something special about.
    #[inline(never)] // As a rule there is not.
    #[expect(clippy::too_many_arguments)] // As `send_first`.
    fn queue_special<T: Buffers>(
        &mut self,
        key: Key,
        state: u32,
        user: U,
        to: Target<'_>,
        segments: Segments,
        buffers: T,
        total: usize,
        keep: impl FnOnce(T) -> B,
    ) -> Result<Option<T>, Refused<T>> {
        let short = to.address.map_or(InternetAddress::none(), InternetAddress::copied);
        let mut special = PLAIN;
        if given(&to.options).is_some() || (short.is_none() && to.address.is_some()) {
            special = match self.keep_special(&to, short.is_none(), segments) {
                Ok(special) => special,
                Err(error) => return Err(Refused { error, given: buffers }),
            };
        }
        let (buffers, total) = (Some(keep(buffers)), total as u32);
        self.requests += 1;
        if self.udps[state].queue(Send { user, buffers, to: short, total, result: Ok(()), special }) {
            self.begin_sending(key.index, state);
        }
        Ok(None)
    }

    /// Something is to be sent.
    #[inline(never)]
    fn begin_sending(&mut self, index: u32, state: u32) {
        self.set_active(index);
        self.want_unsaid(index, Readiness::WRITE);
        // If it was fed it is sent in pending, and as a rule nobody has to wait for it.
        if !self.udps[state].is(UdpFlags::FED) {
            self.mark_unsynced(index);
        }
    }

    /// Keeps what is special about a datagram: how it is sent, or that its address is none of the internet's.
    #[cold]
    fn keep_special(&mut self, to: &Target<'_>, is_other: bool, segments: Segments) -> Result<u32> {
        let mut other = Vec::new();
        if let Some(address) = to.address.filter(|_| is_other) {
            other.try_reserve_exact(address.bytes().len())?;
            other.extend_from_slice(address.bytes());
        }
        self.specials.insert(Special { other, options: to.options, segments })
    }

    /// Sends a datagram that nothing is ahead of, or several as one. `None` when the kernel does not take it now.
    #[inline]
    fn send_at_once(
        &mut self,
        state: u32,
        to: &Target<'_>,
        buffers: &impl Buffers,
        segments: &mut Segments,
    ) -> Option<Result<()>> {
        let Udp { fd, flags, .. } = &mut self.udps[state];
        let fd = fd.as_ref()?;
        let result = match to.options.segment_size {
            None => {
                let datagram = Outgoing { buffers, to: to.address, options: given(&to.options) };
                send_one(&mut self.kernel, fd, &datagram)
            }
            Some(_) => segments.send(&mut self.kernel, fd, flags, to, buffers.get(0)),
        };
        (result != Err(Errno::EAGAIN)).then_some(result)
    }

    /// Sends a datagram if the kernel takes it at once, and returns its number of bytes.
    ///
    /// # Errors
    /// EAGAIN when it does not, or while there are sends that are not reported; else as [`Core::udp_send`], and what the
    /// kernel says of the datagram.
    #[doc(alias = "uv_udp_try_send")]
    pub fn udp_try_send<'a>(&mut self, key: Key, to: impl Into<Target<'a>>, buffers: &impl Buffers) -> Result<usize> {
        let Target { address: to, options } = to.into();
        let index = self.open_handle(key, Kind::Udp)?;
        let udp = &self.udps[self.slots[index].state];
        let total = udp.check_send(to, buffers)?;
        if let Some(options) = given(&options) {
            udp.check_options(options, to, buffers.count())?;
        }
        if udp.count() > 0 {
            return Err(Errno::EAGAIN);
        }
        if udp.fd.is_none() {
            self.bind_to_send(key, to)?;
        }
        let udp = &self.udps[self.slots[index].state];
        let fd = udp.fd.as_ref().ok_or(Errno::EBADF)?;
        send_one(&mut self.kernel, fd, &Outgoing { buffers, to, options: given(&options) })?;
        Ok(total)
    }

    /// Sends as many of `count` datagrams as the kernel takes at once, in their order, and returns how many that was.
    /// `get` gives the datagram of a number, the same whenever it is asked.
    ///
    /// # Errors
    /// When none was sent: as [`Core::udp_try_send`]. When any of the datagrams would be refused without asking the
    /// kernel, none is sent.
    #[doc(alias = "uv_udp_try_send2")]
    pub fn udp_try_send_several<T: Buffers, A: AsAddress>(
        &mut self,
        key: Key,
        count: usize,
        get: impl Fn(usize) -> Result<(T, Option<A>)>,
    ) -> Result<usize> {
        // What does not fit into the first batch is looked at twice.
        match count {
            0..=MOST => self.try_send_batches::<MOST, T, A>(key, count, get),
            _ => self.try_send_batches::<{ 2 * MOST }, T, A>(key, count, get),
        }
    }

    /// The same, so many in a batch.
    fn try_send_batches<const N: usize, T: Buffers, A: AsAddress>(
        &mut self,
        key: Key,
        count: usize,
        get: impl Fn(usize) -> Result<(T, Option<A>)>,
    ) -> Result<usize> {
        let index = self.open_handle(key, Kind::Udp)?;
        let state = self.slots[index].state;
        let checked = |udp: &Udp<K::Fd, U, B>, nth| {
            let (buffers, to) = get(nth)?;
            udp.check_send(to.as_ref().map(A::as_address), &buffers).map(|_| (buffers, to))
        };
        // Those of the first batch are checked when it is made.
        (N..count).try_for_each(|nth| checked(&self.udps[state], nth).map(drop))?;
        let mut sent = 0;
        loop {
            // Where they are made they stay. What there is none of is no datagram to be sent.
            let mut batch = [const { Err(Errno::EINVAL) }; N];
            let made = N.min(count - sent);
            for (place, nth) in batch.iter_mut().zip(sent..count) {
                *place = Ok(checked(&self.udps[state], nth)?);
            }
            let (_, first) = batch[0].as_ref().map_err(|&none| none)?;
            if self.udps[state].count() > 0 {
                return Err(Errno::EAGAIN);
            }
            if self.udps[state].fd.is_none() {
                self.bind_to_send(key, first.as_ref().map(A::as_address))?;
            }
            match self.send_gathered(state, &batch[..made]) {
                Ok(more) => sent += more,
                Err(error) if sent == 0 => return Err(error),
                Err(_) => return Ok(sent),
            }
            if sent == count {
                return Ok(sent);
            }
        }
    }

    /// Sends the first of these datagrams, as many as the kernel takes at once, or returns the error of the very first.
    fn send_gathered<T: Buffers, A: AsAddress>(
        &mut self,
        state: u32,
        datagrams: &[Result<(T, Option<A>)>],
    ) -> Result<usize> {
        let Udp { fd, joins, .. } = &mut self.udps[state];
        let fd = fd.as_ref().ok_or(Errno::EBADF)?;
        let mut sent = 0;
        loop {
            let rest = datagrams[sent..].iter().map_while(|datagram| datagram.as_ref().ok());
            let outgoing =
                rest.map(|(buffers, to)| Outgoing { buffers, to: to.as_ref().map(A::as_address), options: None });
            match send_some(&mut self.kernel, fd, joins, outgoing) {
                Ok(0) => return Ok(sent),
                Ok(more) => sent += more,
                Err(error) if sent == 0 => return Err(error),
                Err(_) => return Ok(sent),
            }
        }
    }

    /// The datagrams whose sending was not told yet, and their bytes.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_udp_get_send_queue_count")]
    #[doc(alias = "uv_udp_get_send_queue_size")]
    #[inline]
    pub fn udp_send_queue(&self, key: Key) -> Result<(usize, usize)> {
        let udp = self.udp(key)?;
        Ok((udp.count(), udp.queued))
    }

    pub(crate) fn step_send(&mut self) -> Option<Event<U>> {
        let index = self.step.key.index;
        if self.slots[index].has(flag::CLOSING) || !self.step.readiness.contains(Readiness::WRITE) {
            self.step.stage = Stage::None;
            return None;
        }
        self.send_queued_datagrams(index);
        self.step.stage = Stage::UdpReport;
        self.step.reports = self.udps[self.step.state].sends.ended();
        self.step_report_sent()
    }

    /// Sends what is queued until all is sent, the kernel takes no more, or one fails. But for the second, what is queued
    /// by then, also by the reports' callbacks, has its turn in pending's next round.
    #[inline]
    fn send_queued_datagrams(&mut self, index: u32) {
        if self.udps[self.step.state].sends.is_all_sent() {
            return;
        }
        if self.send_all_queued() {
            self.feed_udp(index);
        } else {
            self.mark_unsynced(index);
        }
    }

    /// False when the kernel takes no more.
    fn send_all_queued(&mut self) -> bool {
        let Udp { fd: Some(fd), flags, joins, sends, .. } = &mut self.udps[self.step.state] else {
            return false;
        };
        while let Some(first) = sends.waiting().first() {
            let special = self.specials.get(first.special).filter(|special| special.options.segment_size.is_some());
            let sent = if let Some(special) = special {
                let Some(buffers) = &first.buffers else { return false };
                let mut segments = special.segments;
                let to = first.target(special);
                let sent = segments.send(&mut self.kernel, fd, flags, &to, buffers.get(0)).map(|()| 1);
                self.specials[first.special].segments = segments;
                sent
            } else {
                let datagrams = sends.waiting().iter().map_while(|send| send.outgoing(&self.specials));
                send_some(&mut self.kernel, fd, joins, datagrams)
            };
            match sent {
                Ok(0) | Err(Errno::EAGAIN) => return false,
                Ok(sent) => sends.end(sent),
                Err(error) => {
                    sends.end_first(Err(error));
                    break;
                }
            }
        }
        true
    }

    /// Reports what had been sent when this began, also if one of the callbacks closes the handle.
    #[inline]
    pub(crate) fn step_report_sent(&mut self) -> Option<Event<U>> {
        if self.step.reports > 0 {
            self.step.reports -= 1;
            return self.report_datagram(self.step.key, self.step.state);
        }
        self.end_reports();
        None
    }

    /// All that had been sent is reported.
    fn end_reports(&mut self) {
        self.step.stage = Stage::None;
        let index = self.step.key.index;
        let udp = &self.udps[self.step.state];
        if udp.sends.is_all_sent() && !self.slots[index].has(flag::CLOSING) {
            self.end_sending(index);
        }
    }

    /// Everything that was to be sent is.
    #[inline]
    pub(crate) fn end_sending(&mut self, index: u32) {
        let udp = &self.udps[self.slots[index].state];
        if udp.watch.wanted.contains(Readiness::WRITE) {
            self.unwant(index, Readiness::WRITE);
        }
        if self.udp_rests(index) {
            self.set_inactive(index);
        }
    }

    /// Reports the datagram whose sending ended first.
    #[inline]
    pub(crate) fn report_datagram(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        let (user, result) = self.take_ended(state)?;
        Some(Event::Sent { key, user, result })
    }

    /// Takes it out of the queue.
    #[inline(always)] // Where many are reported, this is most of it.
    fn take_ended(&mut self, state: u32) -> Option<(U, Result<()>)> {
        let udp = &mut self.udps[state];
        let (user, result, total, special, buffers) = udp.sends.take_ended(|send| {
            let Send { user, result, total, special, .. } = *send;
            (user, result, total, special, if are_given_back::<B>() { send.buffers.take() } else { None })
        })?;
        udp.queued -= total as usize;
        if special != PLAIN {
            self.forget_special(special);
        }
        self.put_spent(buffers);
        self.requests -= 1;
        Some((user, result))
    }

    #[cold]
    fn forget_special(&mut self, special: u32) {
        self.specials.remove(special);
    }

    /// What [`Core::next`] would give, if that is again an event of the same kind and handle as the last one,
    /// [`Event::Sent`]: `user` and `result` of it. It gets there quicker, and where many datagrams are sent it is most of
    /// what there is to tell.
    #[inline]
    pub fn next_sent(&mut self) -> Option<(U, Result<()>)> {
        if self.step.stage != Stage::UdpReport || self.is_observed() {
            return None;
        }
        if self.step.reports > 0 {
            self.step.reports -= 1;
            return self.take_ended(self.step.state);
        }
        self.end_reports();
        None
    }

    /// Ends the sends that have not gone, of a handle that is closed.
    pub(crate) fn cancel_sends(&mut self, state: u32) {
        self.udps[state].sends.cancel();
    }
}
