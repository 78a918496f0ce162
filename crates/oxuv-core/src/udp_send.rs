//! Sending datagrams.

use std::io::IoSlice;
use std::net::SocketAddr;

use oxuv_os::datagram::BATCH;
use oxuv_os::{Address, Errno, Result};

use crate::kernel::{Datagram, Kernel, Readiness, UdpBindFlags};
use crate::slots::flag;
use crate::stream::Stage;
use crate::udp::{Udp, UdpFlags};
use crate::write::{GATHER, MAX_BUFFERS, MAX_BYTES};
use crate::{Buffers, Core, Event, Key, Kind, Refused};

/// A datagram that is not sent yet.
#[derive(Debug)]
pub(crate) struct Send<U, B> {
    user: U,
    to: Option<Address>,
    buffers: B,
    /// Its bytes.
    total: usize,
}

impl<U, B> Send<U, B> {
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

/// So many parts of several datagrams go in one call.
const PARTS: usize = 64;

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Sends a datagram, at once if the kernel takes it, else when it does. `None` is the address that the handle is
    /// connected to. [`Event::Sent`] with `user` comes later, never inside this call, exactly once, in the order of the
    /// calls. A handle without a socket is bound to any address first.
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
    pub fn udp_send<T: Buffers>(
        &mut self,
        key: Key,
        user: U,
        to: Option<&Address>,
        buffers: T,
        keep: impl FnOnce(T) -> B,
    ) -> Result<Option<T>, Refused<T>> {
        match self.prepare_send(key, to, &buffers) {
            Ok(total) => Ok(self.begin_send(key, user, to, buffers, total, keep)),
            Err(error) => Err(Refused { error, given: buffers }),
        }
    }

    /// Everything that a send may be refused for.
    fn prepare_send(&mut self, key: Key, to: Option<&Address>, buffers: &impl Buffers) -> Result<usize> {
        let total = self.check_send(key, to, buffers)?;
        self.bind_to_send(key, to)?;
        let index = key.index;
        self.check_free(self.udps[self.slots[index].state].watch.number, Some(index))?;
        let udp = &mut self.udps[self.slots[index].state];
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
        to: Option<&Address>,
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
        if is_first
            && !is_reporting
            && let Some(fd) = &udp.fd
        {
            let result = send_some(&mut self.kernel, fd, std::iter::once((&buffers, to))).map(drop);
            if result != Err(Errno::EAGAIN) {
                udp.done.push_back(Sent { user, result, total, buffers: None });
                self.feed_udp(index);
                return Some(buffers);
            }
        }
        udp.sends.push_back(Send { user, to: to.copied(), buffers: keep(buffers), total });
        self.want(index, Readiness::WRITE);
        None
    }

    /// Sends a datagram if the kernel takes it at once, and returns its number of bytes.
    ///
    /// # Errors
    /// EAGAIN when it does not, or while there are sends that are not reported; else as [`Core::udp_send`], and what the
    /// kernel says of the datagram.
    #[doc(alias = "uv_udp_try_send")]
    pub fn udp_try_send(&mut self, key: Key, to: Option<&Address>, buffers: &impl Buffers) -> Result<usize> {
        let total = self.check_send(key, to, buffers)?;
        if self.udp(key)?.count() > 0 {
            return Err(Errno::EAGAIN);
        }
        self.bind_to_send(key, to)?;
        let udp = &self.udps[self.slots[key.index].state];
        let fd = udp.fd.as_ref().ok_or(Errno::EBADF)?;
        send_some(&mut self.kernel, fd, std::iter::once((buffers, to)))?;
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
            let datagrams = batch.iter().flatten().map(|(buffers, to)| (buffers, to.as_ref()));
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

    /// Sends what is queued until all is sent, the kernel takes no more, or one fails.
    fn send_queued_datagrams(&mut self, index: u32) {
        let Udp { fd, sends, done, .. } = &mut self.udps[self.slots[index].state];
        let Some(fd) = fd else { return };
        while !sends.is_empty() {
            let datagrams = sends.iter().take(BATCH).map(|send| (&send.buffers, send.to.as_ref()));
            match send_some(&mut self.kernel, fd, datagrams) {
                // `prepare_send` has made room in `done` for all of them.
                Ok(0) | Err(Errno::EAGAIN) => return,
                Ok(sent) => done.extend(sends.drain(..sent).map(|send| send.end(Ok(())))),
                Err(error) => {
                    done.extend(sends.pop_front().map(|send| send.end(Err(error))));
                    if !sends.is_empty() {
                        // The others' turn is in pending's next round.
                        self.feed_udp(index);
                    }
                    return;
                }
            }
        }
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
    mut datagrams: impl Iterator<Item = (&'a T, Option<&'a Address>)>,
) -> Result<usize> {
    let Some((first, to)) = datagrams.next() else { return Ok(0) };
    let sent = match first.count() {
        1 => {
            let mut slices = [IoSlice::new(&[]); PARTS];
            slices[0] = IoSlice::new(first.get(0));
            send_batch(kernel, fd, to, slices, 1, datagrams)
        }
        count if count <= PARTS => {
            let mut slices = [IoSlice::new(&[]); PARTS];
            fill(&mut slices, first);
            send_batch(kernel, fd, to, slices, count, datagrams)
        }
        count if count <= GATHER => {
            let mut slices = [IoSlice::new(&[]); GATHER];
            fill(&mut slices, first);
            kernel.send_datagrams(fd, &[Datagram { to, parts: &slices[..count] }])
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
    first: Option<&'a Address>,
    mut slices: [IoSlice<'a>; PARTS],
    mut used: usize,
    others: impl Iterator<Item = (&'a T, Option<&'a Address>)>,
) -> Result<usize> {
    // For each datagram its address, and where its parts end.
    let mut ends = [(first, used); BATCH];
    let mut count = 1;
    for (buffers, to) in others.take(BATCH - 1) {
        if buffers.count() > PARTS - used {
            break;
        }
        fill(&mut slices[used..], buffers);
        used += buffers.count();
        ends[count] = (to, used);
        count += 1;
    }
    let mut datagrams = [Datagram { to: None, parts: &[] }; BATCH];
    let mut begin = 0;
    for (datagram, &(to, end)) in datagrams.iter_mut().zip(&ends[..count]) {
        *datagram = Datagram { to, parts: &slices[begin..end] };
        begin = end;
    }
    kernel.send_datagrams(fd, &datagrams[..count])
}
