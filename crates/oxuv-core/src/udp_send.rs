//! Sending datagrams.

use std::io::IoSlice;
use std::net::SocketAddr;

use oxuv_os::datagram::BATCH;
use oxuv_os::{Address, Errno, Result};

use crate::kernel::{Datagram, Kernel, Readiness, SendOptions, UdpBindFlags};
use crate::slots::flag;
use crate::stream::Stage;
use crate::udp::{Udp, UdpFlags};
use crate::udp_segments::Segments;
use crate::write::{GATHER, MAX_BUFFERS, MAX_BYTES};
use crate::{Buffers, Core, Event, Key, Kind, Refused};

/// Where a datagram is sent to, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct Target<'a> {
    /// `None` is the address that the handle is connected to.
    pub address: Option<&'a Address>,
    /// Its source address, its congestion mark; the size of its segments, if it is several.
    pub options: SendOptions,
}

impl<'a> From<Option<&'a Address>> for Target<'a> {
    #[inline]
    fn from(address: Option<&'a Address>) -> Self {
        Target { address, options: SendOptions::PLAIN }
    }
}

/// A datagram that is not sent yet.
#[derive(Debug)]
pub(crate) struct Send<U, B> {
    user: U,
    pub(crate) to: Option<Address>,
    pub(crate) options: SendOptions,
    pub(crate) buffers: B,
    /// Its bytes.
    total: usize,
    /// What of it has gone, if it is several.
    pub(crate) segments: Segments,
}

impl<U, B> Send<U, B> {
    /// Borrowed, to be sent.
    fn outgoing(&self) -> Outgoing<'_, B> {
        Outgoing { buffers: &self.buffers, to: self.to.as_ref(), options: given(&self.options) }
    }

    fn end(self, result: Result<()>) -> Sent<U, B> {
        Sent { user: self.user, result, total: self.total, buffers: Some(self.buffers) }
    }
}

/// A datagram of which it is known how its sending ended, but not reported.
#[derive(Debug)]
pub(crate) struct Sent<U, B> {
    user: U,
    result: Result<()>,
    total: usize,
    /// What was kept, to be handed back with the report.
    buffers: Option<B>,
}

/// A datagram as it is handed to the kernel.
struct Outgoing<'a, T> {
    buffers: &'a T,
    to: Option<&'a Address>,
    options: Option<&'a SendOptions>,
}

/// The options, if there are any.
#[inline]
fn given(options: &SendOptions) -> Option<&SendOptions> {
    (*options != SendOptions::PLAIN).then_some(options)
}

/// So many parts of several datagrams go in one call.
const PARTS: usize = 64;

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
    /// Without effect: EINVAL when closing, for no buffer, more than 2^20 of them or more than 2^31-1 bytes, or for an
    /// address that is none of the internet's while there is no socket; EISCONN for an address when connected,
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
        match self.prepare_send(key, &to, &buffers) {
            Ok(total) => Ok(self.begin_send(key, user, to, buffers, total, keep)),
            Err(error) => Err(Refused { error, given: buffers }),
        }
    }

    /// Everything that a send may be refused for.
    fn prepare_send(&mut self, key: Key, to: &Target<'_>, buffers: &impl Buffers) -> Result<usize> {
        let total = self.check_send(key, to.address, buffers)?;
        if to.options.segment_size.is_some() && buffers.count() != 1 {
            return Err(Errno::EINVAL);
        }
        self.bind_to_send(key, to.address)?;
        let index = key.index;
        let state = self.slots[index].state;
        let watch = &self.udps[state].watch;
        if watch.wanted.is_empty() {
            self.check_free(watch.number, Some(index))?;
        }
        let udp = &mut self.udps[state];
        // Each that is queued is to be reported, and that must not need memory.
        udp.done.try_reserve(udp.sends.len() + 1)?;
        udp.sends.try_reserve(1)?;
        Ok(total)
    }

    /// The number of bytes in `buffers`, if they may be sent there.
    fn check_send(&self, key: Key, to: Option<&Address>, buffers: &impl Buffers) -> Result<usize> {
        let index = self.open_handle(key, Kind::Udp)?;
        match (to, self.udps[self.slots[index].state].is(UdpFlags::CONNECTED)) {
            (Some(_), true) => return Err(Errno::EISCONN),
            (None, false) => return Err(Errno::EDESTADDRREQ),
            _ => {}
        }
        if buffers.count() == 0 || buffers.count() > MAX_BUFFERS {
            return Err(Errno::EINVAL);
        }
        buffers.total().filter(|&total| total <= MAX_BYTES).ok_or(Errno::EINVAL)
    }

    /// A handle without a socket gets one for the family of the address that is sent to.
    fn bind_to_send(&mut self, key: Key, to: Option<&Address>) -> Result<()> {
        match to {
            Some(to) if self.udps[self.slots[key.index].state].fd.is_none() => {
                let address = SocketAddr::try_from(to).map_err(|_| Errno::EINVAL)?;
                self.udp_bind_to_any(key, address.ip(), UdpBindFlags::default())
            }
            _ => Ok(()),
        }
    }

    fn begin_send<T: Buffers>(
        &mut self,
        key: Key,
        user: U,
        to: Target<'_>,
        buffers: T,
        total: usize,
        keep: impl FnOnce(T) -> B,
    ) -> Option<T> {
        let index = key.index;
        let udp = &mut self.udps[self.slots[index].state];
        let is_first = udp.count() == 0;
        udp.queued += total;
        self.requests += 1;
        self.set_active(index);
        let udp = &mut self.udps[self.slots[index].state];
        // What a report's callback sends follows when all reports are told.
        let is_reporting = self.step.stage == Stage::UdpReport && self.step.key == key;
        let mut segments = Segments::default();
        if is_first
            && !is_reporting
            && let Some(fd) = &udp.fd
        {
            let result = match to.options.segment_size {
                None => {
                    let datagram = Outgoing { buffers: &buffers, to: to.address, options: given(&to.options) };
                    send_some(&mut self.kernel, fd, std::iter::once(datagram)).map(drop)
                }
                Some(_) => segments.send(&mut self.kernel, fd, &mut udp.flags, &to, buffers.get(0)),
            };
            if result != Err(Errno::EAGAIN) {
                udp.done.push_back(Sent { user, result, total, buffers: None });
                self.feed_udp(index);
                return Some(buffers);
            }
        }
        let Target { address, options } = to;
        let is_wanted = !udp.sends.is_empty();
        udp.sends.push_back(Send { user, to: address.copied(), options, buffers: keep(buffers), total, segments });
        if !is_wanted {
            self.want(index, Readiness::WRITE);
        }
        None
    }

    /// Sends a datagram if the kernel takes it at once, and returns its number of bytes.
    ///
    /// # Errors
    /// EAGAIN when it does not, or while there are sends that are not reported; else as [`Core::udp_send`], and what the
    /// kernel says of the datagram.
    #[doc(alias = "uv_udp_try_send")]
    pub fn udp_try_send<'a>(&mut self, key: Key, to: impl Into<Target<'a>>, buffers: &impl Buffers) -> Result<usize> {
        let Target { address, options } = to.into();
        let total = self.check_send(key, address, buffers)?;
        if self.udp(key)?.count() > 0 {
            return Err(Errno::EAGAIN);
        }
        self.bind_to_send(key, address)?;
        let udp = &self.udps[self.slots[key.index].state];
        let fd = udp.fd.as_ref().ok_or(Errno::EBADF)?;
        let datagram = Outgoing { buffers, to: address, options: given(&options) };
        send_some(&mut self.kernel, fd, std::iter::once(datagram))?;
        Ok(total)
    }

    /// Sends as many of `count` datagrams as the kernel takes at once, in their order, and returns how many that was.
    /// `get` gives the datagram of a number, the same whenever it is asked.
    ///
    /// # Errors
    /// When none was sent: as [`Core::udp_try_send`]. When any of the datagrams would be refused without asking the
    /// kernel, none is sent.
    #[doc(alias = "uv_udp_try_send2")]
    pub fn udp_try_send_several<T: Buffers>(
        &mut self,
        key: Key,
        count: usize,
        get: impl Fn(usize) -> Result<(T, Option<Address>)>,
    ) -> Result<usize> {
        for nth in 0..count {
            let (buffers, to) = get(nth)?;
            self.check_send(key, to.as_ref(), &buffers)?;
        }
        if count == 0 {
            return Err(Errno::EINVAL);
        }
        if self.udp(key)?.count() > 0 {
            return Err(Errno::EAGAIN);
        }
        let (_, first) = get(0)?;
        self.bind_to_send(key, first.as_ref())?;
        let udp = &self.udps[self.slots[key.index].state];
        let fd = udp.fd.as_ref().ok_or(Errno::EBADF)?;
        let mut sent = 0;
        while sent < count {
            let mut batch = [const { None }; BATCH];
            for (nth, place) in (sent..count).zip(&mut batch) {
                *place = Some(get(nth)?);
            }
            let datagrams =
                batch.iter().flatten().map(|(buffers, to)| Outgoing { buffers, to: to.as_ref(), options: None });
            match send_some(&mut self.kernel, fd, datagrams) {
                Ok(0) => break,
                Ok(more) => sent += more,
                Err(error) if sent == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(sent)
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
        self.step.reports = self.udps[self.step.state].done.len();
        self.step_report_sent()
    }

    /// Sends what is queued until all is sent, the kernel takes no more, or one fails. But for the second, what is queued
    /// by then, also by the reports' callbacks, has its turn in pending's next round.
    fn send_queued_datagrams(&mut self, index: u32) {
        let Udp { fd, flags, sends, done, .. } = &mut self.udps[self.slots[index].state];
        let Some(fd) = fd else { return };
        if sends.is_empty() {
            return;
        }
        while let Some(first) = sends.front_mut() {
            let sent = if first.options.segment_size.is_some() {
                let Send { to, options, buffers, segments, .. } = first;
                let to = Target { address: to.as_ref(), options: *options };
                segments.send(&mut self.kernel, fd, flags, &to, buffers.get(0)).map(|()| 1)
            } else {
                let single = sends.iter().take(BATCH).take_while(|send| send.options.segment_size.is_none());
                send_some(&mut self.kernel, fd, single.map(Send::outgoing))
            };
            match sent {
                // `prepare_send` has made room in `done` for all of them.
                Ok(0) | Err(Errno::EAGAIN) => return,
                Ok(sent) => done.extend(sends.drain(..sent).map(|send| send.end(Ok(())))),
                Err(error) => {
                    done.extend(sends.pop_front().map(|send| send.end(Err(error))));
                    break;
                }
            }
        }
        self.feed_udp(index);
    }

    /// Reports what had been sent when this began, also if one of the callbacks closes the handle.
    pub(crate) fn step_report_sent(&mut self) -> Option<Event<U>> {
        if self.step.reports > 0 {
            self.step.reports -= 1;
            return self.report_datagram(self.step.key, self.step.state);
        }
        self.step.stage = Stage::None;
        let index = self.step.key.index;
        if !self.slots[index].has(flag::CLOSING) && self.udps[self.step.state].sends.is_empty() {
            self.end_sending(index);
        }
        None
    }

    /// Everything that was to be sent is.
    pub(crate) fn end_sending(&mut self, index: u32) {
        self.unwant(index, Readiness::WRITE);
        if self.udp_rests(index) {
            self.set_inactive(index);
        }
    }

    /// Reports the datagram whose sending ended first.
    pub(crate) fn report_datagram(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        let udp = &mut self.udps[state];
        let Sent { user, result, total, buffers } = udp.done.pop_front()?;
        udp.queued -= total;
        self.spent = buffers;
        self.requests -= 1;
        Some(Event::Sent { key, user, result })
    }

    /// Ends the sends that have not gone, of a handle that is closed.
    pub(crate) fn cancel_sends(&mut self, state: u32) {
        let Udp { sends, done, .. } = &mut self.udps[state];
        done.extend(sends.drain(..).map(|send| send.end(Err(Errno::ECANCELED))));
    }
}

/// One system call: sends the first of the datagrams, as many as the kernel takes and one call can hold. ENOBUFS is
/// EAGAIN: the kernel is short of memory now, and will say when it is writable.
fn send_some<'a, K: Kernel, T: Buffers + 'a>(
    kernel: &mut K,
    fd: &K::Fd,
    mut datagrams: impl Iterator<Item = Outgoing<'a, T>>,
) -> Result<usize> {
    let Some(outgoing) = datagrams.next() else { return Ok(0) };
    let Outgoing { buffers: first, to, options } = outgoing;
    let sent = match first.count() {
        1 => {
            let mut slices = [IoSlice::new(&[]); PARTS];
            slices[0] = IoSlice::new(first.get(0));
            send_batch(kernel, fd, (to, options), slices, 1, datagrams)
        }
        count if count <= PARTS => {
            let mut slices = [IoSlice::new(&[]); PARTS];
            fill(&mut slices, first);
            send_batch(kernel, fd, (to, options), slices, count, datagrams)
        }
        count if count <= GATHER => {
            let mut slices = [IoSlice::new(&[]); GATHER];
            fill(&mut slices, first);
            kernel.send_datagrams(fd, &[Datagram { to, parts: &slices[..count], options }])
        }
        // More than the system takes for one datagram.
        _ => Err(Errno::EMSGSIZE),
    };
    match sent {
        Err(Errno::ENOBUFS) => Err(Errno::EAGAIN),
        sent => sent,
    }
}

fn fill<'a>(slices: &mut [IoSlice<'a>], buffers: &'a impl Buffers) {
    for (nth, slice) in slices[..buffers.count()].iter_mut().enumerate() {
        *slice = IoSlice::new(buffers.get(nth));
    }
}

/// Sends a datagram of `used` parts together with those behind it that there is room for.
fn send_batch<'a, K: Kernel, T: Buffers + 'a>(
    kernel: &mut K,
    fd: &K::Fd,
    first: (Option<&'a Address>, Option<&'a SendOptions>),
    mut slices: [IoSlice<'a>; PARTS],
    mut used: usize,
    others: impl Iterator<Item = Outgoing<'a, T>>,
) -> Result<usize> {
    // For each datagram where it goes and how, and where its parts end.
    let mut ends = [(first, used); BATCH];
    let mut count = 1;
    for Outgoing { buffers, to, options } in others.take(BATCH - 1) {
        if buffers.count() > PARTS - used {
            break;
        }
        fill(&mut slices[used..], buffers);
        used += buffers.count();
        ends[count] = ((to, options), used);
        count += 1;
    }
    let mut datagrams = [Datagram { to: None, parts: &[], options: None }; BATCH];
    let mut begin = 0;
    for (datagram, &((to, options), end)) in datagrams.iter_mut().zip(&ends[..count]) {
        *datagram = Datagram { to, parts: &slices[begin..end], options };
        begin = end;
    }
    kernel.send_datagrams(fd, &datagrams[..count])
}
