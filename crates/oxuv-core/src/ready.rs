//! Readiness of streams and of UDP handles, for a front that reads, writes and receives when its user comes to it, and not when the
//! loop does.
//!
//! What the kernel tells of as long as it lasts it looks for in each wait, once more when it is over, too. So a TCP stream that is only
//! waited for to be read is told of by *edges*: when something new comes. Then
//!
//! * what has been told of is not told again, so who waits without having taken all has the kernel look anew ([`Core::want_ready`]);
//! * all is taken when a read finds nothing, or brings less than there was room for: [`Stream::kept`] says so;
//! * at the end of a connection, and with out-of-band data, a short read says nothing: that is told of as long as it lasts, or, when it
//!   comes while nobody waits, asked for anew by who does next;
//! * so is all when anybody waits for room, or the loop is to read or write itself ([`Stream::leave_edges`]).

use std::net::{IpAddr, Ipv4Addr};

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, MAX_HANDLES, Medium, Queue, Readiness, Received, Room, UdpBindFlags};
use crate::read::receive;
use crate::slots::Slot;
use crate::stream::{Stage, Step, Stream, StreamFlags};
use crate::udp::UdpFlags;
use crate::{Buffers, Core, Event, Key, Kind};

/// What can be waited for.
const BOTH: Readiness = Readiness::READ.union(Readiness::WRITE);

/// A stream of which the loop itself waits for something.
const ELSEWISE: StreamFlags = StreamFlags::READING.union(StreamFlags::LISTENING).union(StreamFlags::CONNECTING);

/// What the kernel is to tell of a stream by edges: that there is something to read, and whatever makes a short read say nothing.
const BY_EDGES: Readiness =
    Readiness::READ.union(Readiness::READ_HANG_UP).union(Readiness::PRIORITY).union(Readiness::EDGE);

impl<F, U> Stream<F, U> {
    #[inline]
    fn is_told_by_edges(&self) -> bool {
        self.watch.wanted.contains(Readiness::EDGE)
    }

    /// All that could be read has been.
    #[inline]
    fn note_taken(&mut self) {
        if self.is_told_by_edges() {
            self.kept = Readiness::READ;
        }
    }

    /// What can be read is told of as long as it lasts from now on.
    #[inline]
    pub(crate) fn leave_edges(&mut self) {
        if self.is_told_by_edges() {
            self.watch.wanted = Readiness::READ;
            self.kept = Readiness::READ - self.awaited;
        }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Waits until the stream is ready to be read or written, as `interest` says, besides what it waits for already: then
    /// [`Event::Ready`] comes, once. Until then the handle is active. A stream that has failed or ended is ready for all.
    ///
    /// # Errors
    /// EINVAL when closing, or for another interest; EALREADY when it is read by [`Core::read_start`]; ENOTCONN when it is not
    /// connected; EEXIST when another handle waits for the descriptor.
    #[inline]
    pub fn wait_ready(&mut self, key: Key, interest: Readiness) -> Result<()> {
        let index = self.open_stream(key)?;
        let state = self.slots[index].state;
        let stream = &self.streams[state];
        if !stream.kept.contains(interest) || stream.flags.intersects(ELSEWISE) || interest.is_empty() {
            self.check_ready(index, state, interest)?;
            self.want_ready(index, state, interest);
        }
        let stream = &mut self.streams[state];
        stream.kept -= interest;
        stream.awaited |= interest;
        self.set_active(index);
        Ok(())
    }

    /// Nobody waits for the stream's readiness any more, whatever was asked for: it may be read by [`Core::read_start`].
    ///
    /// # Errors
    /// EINVAL for a stale key, or when closing.
    pub fn wait_no_more(&mut self, key: Key) -> Result<()> {
        let index = self.open_stream(key)?;
        let stream = &mut self.streams[self.slots[index].state];
        let awaited = std::mem::take(&mut stream.awaited);
        if awaited.is_empty() {
            return Ok(());
        }
        stream.kept |= awaited & Readiness::READ;
        if stream.writes.is_empty() {
            self.unwant_writing(index);
        }
        self.set_inactive(index);
        Ok(())
    }

    /// Everything that a wait may be refused for.
    #[inline(never)]
    fn check_ready(&mut self, index: u32, state: u32, interest: Readiness) -> Result<()> {
        let stream = &self.streams[state];
        if interest.is_empty() || !BOTH.contains(interest) {
            return Err(Errno::EINVAL);
        }
        if stream.is(StreamFlags::READING) {
            return Err(Errno::EALREADY);
        }
        if stream.fd.is_none() || stream.flags.intersects(ELSEWISE) {
            return Err(Errno::ENOTCONN);
        }
        self.check_free(stream.watch.number, Some(index))
    }

    /// Has the kernel look, and tell of what is waited for: by edges, if that is all that is wanted of the stream.
    #[inline(never)]
    fn want_ready(&mut self, index: u32, state: u32, interest: Readiness) {
        let is_tcp = self.is_tcp(index, state);
        let stream = &mut self.streams[state];
        if !is_tcp || !BY_EDGES.contains(interest | stream.watch.wanted) {
            stream.leave_edges();
            return self.want(index, interest);
        }
        if !stream.is_told_by_edges() || !stream.awaited.contains(Readiness::READ) {
            stream.watch.be_told_again();
        }
        self.want(index, BY_EDGES);
    }

    /// True if the stream is a socket of TCP, which may have to be found out.
    fn is_tcp(&mut self, index: u32, state: u32) -> bool {
        let stream = &mut self.streams[state];
        if stream.is(StreamFlags::TCP) || self.slots[index].kind != Kind::Tcp {
            return stream.is(StreamFlags::TCP);
        }
        let is_tcp = stream.fd.as_ref().is_some_and(|fd| self.kernel.is_tcp(fd));
        stream.flags.set(StreamFlags::TCP, is_tcp);
        is_tcp
    }

    /// An event of this stream's was dropped: if it was an edge, it is to be told again.
    pub(crate) fn tell_again(&mut self, key: Key) {
        let Some(&Slot { kind, state, .. }) = self.slots.get(key) else { return };
        if kind.is_stream() && self.streams[state].is_told_by_edges() {
            self.streams[state].watch.be_told_again();
            self.mark_unsynced(key.index);
        }
    }

    /// Receives what is there, once.
    ///
    /// # Errors
    /// EAGAIN when there is nothing; EOF at the end of the stream. EALREADY when it is read by [`Core::read_start`]; ENOTCONN when it is
    /// not connected, or has failed before; EINVAL when closing, ENOBUFS for no room, ENOMEM. Any other: the connection has
    /// failed, and is neither readable nor writable any more.
    #[inline]
    pub fn try_read<'a>(&mut self, key: Key, room: Room<'a>) -> Result<&'a mut [u8]> {
        let index = self.open_stream(key)?;
        let stream = &mut self.streams[self.slots[index].state];
        if stream.is(StreamFlags::READING) {
            return Err(Errno::EALREADY);
        }
        // While it is being connected, a receive would take the error that tells how that has ended.
        let is_connected = stream.is(StreamFlags::READABLE) && !stream.is(StreamFlags::CONNECTING);
        let (Some(fd), true) = (&stream.fd, is_connected) else { return Err(Errno::ENOTCONN) };
        if room.is_empty() {
            return Err(Errno::ENOBUFS);
        }
        if stream.medium == Medium::Ipc {
            self.extras[stream.extra].received.try_reserve(MAX_HANDLES)?;
        }
        let size = room.len();
        let received = receive(&mut self.kernel, &mut self.extras, stream, fd, room);
        match received {
            Ok([]) => Err(Errno::EOF),
            Err(error) if error != Errno::EAGAIN => {
                if self.is_end_of_pipe(index, error) {
                    return Err(Errno::EOF);
                }
                self.streams[self.slots[index].state].flags -= StreamFlags::READABLE | StreamFlags::WRITABLE;
                Err(error)
            }
            Ok(bytes) if bytes.len() == size => Ok(bytes),
            received => {
                stream.note_taken();
                received
            }
        }
    }

    /// A stream is ready, and perhaps for what is waited for.
    #[inline(never)]
    pub(crate) fn tell_ready(&mut self, key: Key, state: u32, user: U, readiness: Readiness) -> Option<Event<U>> {
        let stream = &mut self.streams[state];
        if readiness == Readiness::READ && stream.awaited == Readiness::READ && stream.kept.is_empty() {
            // The usual one: that it can be read is all there is to be said of it.
            stream.kept = if stream.is_told_by_edges() { Readiness::empty() } else { Readiness::READ };
            stream.awaited = Readiness::empty();
            self.step.stage = Stage::None;
            self.set_inactive(key.index);
            self.let_it_be_done();
            return Some(Event::Ready { key, user, readiness });
        }
        self.tell_all(key, state, user, readiness)
    }

    #[inline(never)]
    fn tell_all(&mut self, key: Key, state: u32, user: U, readiness: Readiness) -> Option<Event<U>> {
        if self.streams[state].is_told_by_edges() {
            return self.tell_edge(key, state, user, readiness);
        }
        let stream = &mut self.streams[state];
        // If it can be read, and nothing more, that is all there is to be said of it.
        self.step.stage = if readiness == Readiness::READ { Stage::None } else { Stage::HangUp };
        let ended = readiness.intersects(Readiness::ERROR | Readiness::HANG_UP);
        let ready = if ended { BOTH } else { readiness };
        if stream.kept.intersects(ready) {
            self.give_up(key.index, state, ready);
        }
        let stream = &mut self.streams[state];
        let told = ready & stream.awaited;
        if told.is_empty() {
            return None;
        }
        stream.awaited -= told;
        // There is room most of the time: that it is waited for again is less likely.
        stream.kept |= told & Readiness::READ;
        let is_over = stream.awaited.is_empty();
        if told.contains(Readiness::WRITE) && stream.writes.is_empty() {
            self.unwant_writing(key.index);
        }
        if is_over {
            self.set_inactive(key.index);
        }
        self.let_it_be_done();
        Some(Event::Ready { key, user, readiness: told })
    }

    /// As [`Core::tell_all`], of a stream that is told of by edges.
    fn tell_edge(&mut self, key: Key, state: u32, user: U, readiness: Readiness) -> Option<Event<U>> {
        self.step.stage = Stage::None;
        let stream = &mut self.streams[state];
        stream.kept = Readiness::empty();
        if stream.awaited.is_empty() {
            // Who comes for it has the kernel look again: where a short read says nothing, whatever has been read by then.
            if readiness != Readiness::READ {
                stream.watch.wanted = Readiness::empty();
            }
            return None;
        }
        stream.awaited = Readiness::empty();
        if readiness != Readiness::READ {
            stream.leave_edges();
            self.mark_unsynced(key.index);
        }
        self.set_inactive(key.index);
        self.let_it_be_done();
        Some(Event::Ready { key, user, readiness: Readiness::READ })
    }

    /// What is told of is done when this phase is over. Another wait in it, after a full batch, would tell of it again, and take
    /// it for something that nobody waits for any more.
    #[inline]
    fn let_it_be_done(&mut self) {
        self.poll.batches = 0;
    }

    /// What came before has come again, and nobody has waited for it since: the kernel shall say no more of it.
    #[cold]
    fn give_up(&mut self, index: u32, state: u32, ready: Readiness) {
        let stream = &mut self.streams[state];
        let kept = stream.kept & ready;
        stream.kept -= kept;
        self.unwant(index, kept);
        self.not_wanted(index);
    }

    /// As [`Core::wait_ready`], of a UDP handle, until there is something to receive. One without a socket is bound to any IPv4
    /// address first.
    ///
    /// # Errors
    /// EINVAL when closing; EALREADY when the loop receives; EEXIST when another handle waits for the descriptor; what binding
    /// fails with.
    pub fn udp_wait_ready(&mut self, key: Key) -> Result<()> {
        let index = self.open_handle(key, Kind::Udp)?;
        let state = self.slots[index].state;
        if self.udps[state].is(UdpFlags::RECEIVING) {
            return Err(Errno::EALREADY);
        }
        if !self.udps[state].is(UdpFlags::KEPT) {
            self.udp_bind_to_any(key, IpAddr::V4(Ipv4Addr::UNSPECIFIED), UdpBindFlags::default())?;
            self.check_free(self.udps[state].watch.number, Some(index))?;
            self.want(index, Readiness::READ);
        }
        let udp = &mut self.udps[state];
        udp.flags = (udp.flags - UdpFlags::KEPT) | UdpFlags::AWAITED;
        self.set_active(index);
        Ok(())
    }

    /// Receives what is there, once; `received`, which is [`Received::none`] before, tells of it.
    ///
    /// # Errors
    /// EAGAIN when there is nothing; EALREADY when the loop receives; EINVAL when closing. Any other: a datagram sent before
    /// has failed. There may be more.
    pub fn udp_try_receive<'a>(&mut self, key: Key, room: Room<'a>, received: &mut Received<'a>) -> Result<()> {
        let index = self.open_handle(key, Kind::Udp)?;
        let udp = &mut self.udps[self.slots[index].state];
        if udp.is(UdpFlags::RECEIVING) {
            return Err(Errno::EALREADY);
        }
        // It is bound when it is waited for.
        let Some(fd) = &udp.fd else { return Err(Errno::EAGAIN) };
        let queue = if udp.is(UdpFlags::DESCRIBED) { Queue::Described } else { Queue::Datagrams };
        match self.kernel.receive_datagram(fd, room, queue, received) {
            Err(Errno::EAGAIN) if udp.is(UdpFlags::FAILED) => {}
            result => return result,
        }
        // Left alone, what is told of failures would have the handle ready for ever.
        let mut told = Received::none();
        let taken = self.kernel.receive_datagram(fd, Room::from(&mut [0; 0][..]), Queue::Errors, &mut told);
        if taken == Err(Errno::EAGAIN) {
            udp.flags -= UdpFlags::FAILED;
        }
        Err(taken.err().or(told.error).unwrap_or(Errno::EAGAIN))
    }

    /// Whether several datagrams may be received as one ([`UdpOption::Coalesce`](crate::kernel::UdpOption::Coalesce)).
    pub fn udp_may_coalesce(&self, key: Key) -> bool {
        self.udp(key).is_ok_and(|udp| udp.is(UdpFlags::DESCRIBED))
    }

    /// A UDP handle is ready to be received from, by somebody who waits for it, or has.
    pub(crate) fn tell_udp_ready(&mut self, key: Key, state: u32, readiness: Readiness) -> Option<Event<U>> {
        let stage = if readiness.contains(Readiness::WRITE) { Stage::UdpSend } else { Stage::None };
        self.step = Step { stage, readiness, key, state, ..Step::default() };
        let udp = &mut self.udps[state];
        if !udp.is(UdpFlags::AWAITED) {
            // As in `give_up`.
            udp.flags -= UdpFlags::KEPT;
            self.unwant(key.index, Readiness::READ);
            return self.not_wanted(key.index);
        }
        udp.flags = (udp.flags - UdpFlags::AWAITED) | UdpFlags::KEPT;
        udp.flags.set(UdpFlags::FAILED, readiness.contains(Readiness::ERROR));
        if self.udp_rests(key.index) {
            self.set_inactive(key.index);
        }
        self.let_it_be_done();
        Some(Event::Ready { key, user: self.slots[key.index].user, readiness: Readiness::READ })
    }

    /// Something waits to be written.
    pub(crate) fn want_room(&mut self, index: u32, state: u32) {
        self.streams[state].leave_edges();
        self.want(index, Readiness::WRITE);
    }

    /// Nothing is to be written any more. Somebody may wait for room all the same.
    #[inline]
    pub(crate) fn unwant_writing(&mut self, index: u32) {
        let stream = &mut self.streams[self.slots[index].state];
        if stream.awaited.contains(Readiness::WRITE) || !stream.watch.wanted.contains(Readiness::WRITE) {
            return;
        }
        if stream.is(StreamFlags::TCP) && (stream.awaited | stream.kept).contains(Readiness::READ) {
            // Nobody but tasks wants something of it now.
            stream.watch.wanted = BY_EDGES;
            stream.watch.be_told_again();
            return self.mark_unsynced(index);
        }
        self.unwant(index, Readiness::WRITE);
    }
}
