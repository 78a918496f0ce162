//! Streams: their state, and the steps in which one readiness is worked off.
//!
//! The core returns one event at a time, so the work on a stream is a small machine, [`Step`]: what stage it is at is
//! kept between two calls of `next`. A callback may close the stream meanwhile; every stage looks first.

use std::collections::VecDeque;
use std::ffi::CString;

use oxuv_os::{Errno, Result};

use crate::kernel::{Keepalive, Kernel, Medium, Readiness};
use crate::queues::Queue;
use crate::slab::Slab;
use crate::slots::{Slot, Slots, flag};
use crate::watch::Watch;
use crate::{Buffers, Core, Event, Key, Kind};

bitflags::bitflags! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct StreamFlags: u16 {
        /// Connected, and its reading side has not failed.
        const READABLE = 0x01;
        /// Connected, its writing side has not failed, and no shutdown was asked for.
        const WRITABLE = 0x02;
        /// Between read start and read stop.
        const READING = 0x04;
        /// Listens for connections.
        const LISTENING = 0x08;
        /// Waits for a round of pending.
        const FED = 0x20;
        /// TCP_NODELAY was asked for.
        const NODELAY = 0x10;
        /// A pipe by which handles are passed.
        const IPC = 0x80;
        /// A terminal whose descriptor is shared with others, and was left blocking.
        const BLOCKING = 0x40;
        /// A connect is under way.
        const CONNECTING = 0x100;
        /// A shutdown was asked for and is not reported yet.
        const SHUTTING_DOWN = 0x200;
        /// A write was sent whole by its call, with nothing in `done`. That is how most writes end, and they need no entry
        /// there. It is reported first.
        const SENT = 0x400;
        /// Known to be a socket of TCP.
        const TCP = 0x800;
    }
}

#[derive(Debug)]
pub(crate) struct Stream<F, U> {
    /// Whose it is. A state that was freed belongs to nobody.
    pub(crate) key: Key,
    pub(crate) fd: Option<F>,
    pub(crate) medium: Medium,
    pub(crate) flags: StreamFlags,
    pub(crate) watch: Watch,
    /// What is waited for without being read or written by the loop.
    pub(crate) awaited: Readiness,
    /// What was waited for so and came: the kernel is not told that it is no longer, as it mostly is again. What is told by edges (see
    /// `ready.rs`) is here only when the kernel will tell of it.
    pub(crate) kept: Readiness,
    /// A connection that a listener has taken from the kernel and the user has not taken yet.
    pub(crate) accepted: Option<F>,
    /// An error that is told later: EADDRINUSE of a bind by listen or connect, ECONNREFUSED of a connect by its event.
    pub(crate) delayed_error: Option<Errno>,
    /// Where in [`Core::extras`](crate::Core) the rest of it is, or [`NO_EXTRA`].
    pub(crate) extra: u32,
    /// Whose connect, shutdown and write that of [`StreamFlags`] are.
    connect: U,
    shutdown: U,
    sent: U,
    /// Bytes of writes that are not sent, or whose failure is not reported.
    pub(crate) queued: usize,
    /// Writes not yet sent whole, in their order.
    pub(crate) writes: Queue,
    /// Writes whose result is not reported yet, in the order in which they ended.
    pub(crate) done: Queue,
}

/// What few streams have.
#[derive(Debug)]
pub(crate) struct Extra<F> {
    /// Handles that have come along with what was read, and that the user has not taken yet. A stream by which handles are
    /// passed has an extra.
    pub(crate) received: VecDeque<F>,
    /// The path that a pipe was bound to, and whose file it removes.
    pub(crate) bound: Option<CString>,
    /// The keepalive that was asked for before there was a socket.
    pub(crate) keepalive: Option<Keepalive>,
}

impl<F> Default for Extra<F> {
    fn default() -> Self {
        Extra { received: VecDeque::new(), bound: None, keepalive: None }
    }
}

/// No place in a slab.
pub(crate) const NO_EXTRA: u32 = u32::MAX;

impl<F, U: Default> Default for Stream<F, U> {
    fn default() -> Self {
        Stream {
            key: Key::default(),
            fd: None,
            medium: Medium::Socket,
            flags: StreamFlags::empty(),
            watch: Watch::default(),
            awaited: Readiness::empty(),
            kept: Readiness::empty(),
            accepted: None,
            delayed_error: None,
            extra: NO_EXTRA,
            connect: U::default(),
            shutdown: U::default(),
            sent: U::default(),
            queued: 0,
            writes: Queue::default(),
            done: Queue::default(),
        }
    }
}

impl<F, U: Copy> Stream<F, U> {
    /// The peer has hung up, in a wait that did not ask whether there is anything to read before that.
    #[inline]
    fn must_look(&self, readiness: Readiness) -> bool {
        readiness.intersects(Readiness::HANG_UP | Readiness::READ_HANG_UP)
            && (!self.watch.watched.contains(Readiness::READ) || self.medium == Medium::Terminal)
    }

    /// True if there is nothing to send, to shut down or to wait for writability for.
    #[inline]
    fn is_drained(&self) -> bool {
        self.writes.is_empty() && !self.is(StreamFlags::SHUTTING_DOWN) && !self.watch.wanted.contains(Readiness::WRITE)
    }

    /// Of a stream that is fed the write that was sent by its call, if its report is all that there is to do: the usual case. It is
    /// fed no longer then.
    #[inline]
    pub(crate) fn take_only_sent(&mut self) -> Option<U> {
        const FED_BY_SENT: StreamFlags = StreamFlags::SENT.union(StreamFlags::FED);
        let is_only = self.flags & REQUESTS.union(StreamFlags::FED) == FED_BY_SENT
            && self.done.len() | self.writes.len() == 0
            && !self.watch.wanted.contains(Readiness::WRITE);
        if !is_only {
            return None;
        }
        self.flags -= FED_BY_SENT;
        Some(self.sent)
    }

    /// A connect begins.
    pub(crate) fn put_connect(&mut self, user: U) {
        self.flags |= StreamFlags::CONNECTING;
        self.connect = user;
    }

    /// The connect that is under way is over.
    pub(crate) fn take_connect(&mut self) -> Option<U> {
        self.take(StreamFlags::CONNECTING).then_some(self.connect)
    }

    /// A shutdown is asked for.
    pub(crate) fn put_shutdown(&mut self, user: U) {
        self.flags |= StreamFlags::SHUTTING_DOWN;
        self.shutdown = user;
    }

    /// The shutdown that was asked for is over.
    pub(crate) fn take_shutdown(&mut self) -> Option<U> {
        self.take(StreamFlags::SHUTTING_DOWN).then_some(self.shutdown)
    }

    /// A write was sent whole by its call, with no other that has ended.
    #[inline]
    pub(crate) fn put_sent(&mut self, user: U) {
        self.flags |= StreamFlags::SENT;
        self.sent = user;
    }

    /// That write, to be reported.
    #[inline]
    pub(crate) fn take_sent(&mut self) -> Option<U> {
        self.take(StreamFlags::SENT).then_some(self.sent)
    }

    /// Whether it had the flag, which it has no longer.
    #[inline]
    fn take(&mut self, flag: StreamFlags) -> bool {
        let had = self.is(flag);
        self.flags -= flag;
        had
    }

    /// True if there are requests whose event is still to come.
    #[inline]
    pub(crate) fn owes(&self) -> bool {
        self.flags.intersects(REQUESTS) || !self.writes.is_empty() || !self.done.is_empty()
    }

    /// The number of writes that have ended and are not reported.
    #[inline]
    pub(crate) fn ended(&self) -> usize {
        usize::from(self.is(StreamFlags::SENT)) + self.done.len()
    }

    /// The descriptor, EBADF when there is none (yet).
    pub(crate) fn descriptor(&self) -> Result<&F> {
        self.fd.as_ref().ok_or(Errno::EBADF)
    }

    #[inline]
    pub(crate) fn is(&self, flag: StreamFlags) -> bool {
        self.flags.contains(flag)
    }
}

/// The requests whose event is still to come, also of a stream that is closed.
const REQUESTS: StreamFlags = StreamFlags::CONNECTING.union(StreamFlags::SHUTTING_DOWN).union(StreamFlags::SENT);

/// How many rounds of reading, and of writing, one readiness gives: enough for throughput, few enough for the others.
pub(crate) const ROUNDS: u8 = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// No stream is being worked on.
    None,
    /// The only thing there was to do is done: a write's report is out. Unless its callback asks for a shutdown, that
    /// was all.
    Told,
    /// A listener's connection event is out.
    Accept,
    /// A connect has failed, and its event is out.
    ConnectFailed,
    /// To read, while rounds are left.
    Read,
    /// A read has failed, and its event is out.
    ReadFailed,
    /// Nothing (more) to read: has the peer hung up?
    HangUp,
    /// To send what is queued.
    Write,
    /// To report the writes that have ended.
    Report,
    /// Everything is written: is a shutdown waiting?
    Drain,
    /// To receive datagrams, while rounds are left.
    UdpReceive,
    /// The same of what is told of failures.
    UdpReceiveErrors,
    /// To send the datagrams that are queued.
    UdpSend,
    /// To report the datagrams that were sent.
    UdpReport,
}

/// The stream being worked on.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) stage: Stage,
    /// Rounds of reading left.
    pub(crate) rounds: u8,
    pub(crate) readiness: Readiness,
    /// The stream's key and state. They stay what they are while there is a stage: slots are freed in closing.
    pub(crate) key: Key,
    pub(crate) state: u32,
    /// Ended writes to report: those that are there when reporting begins, and no later ones.
    pub(crate) reports: usize,
}

impl Default for Step {
    fn default() -> Self {
        Step { stage: Stage::None, rounds: 0, readiness: Readiness::empty(), key: Key::default(), state: 0, reports: 0 }
    }
}

/// The stream with this key, and where its state is. The one that is worked on is the one that its callback asks about, as a rule: to
/// find that takes no slot.
#[inline(always)] // What is found goes through registers.
pub(crate) fn find_mut<'a, F, U: Copy + Default>(
    streams: &'a mut Slab<Stream<F, U>>,
    slots: &Slots<U>,
    step: &Step,
    key: Key,
) -> Option<(u32, &'a mut Stream<F, U>)> {
    let number = key.to_u64();
    if streams.get(step.state).is_some_and(|stream| stream.key.to_u64() == number) {
        return Some((step.state, &mut streams[step.state]));
    }
    let &Slot { state, .. } = slots.get_stream(key)?;
    Some((state, &mut streams[state]))
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// True from the moment it connects until its reading side fails.
    #[doc(alias = "uv_is_readable")]
    pub fn is_readable(&self, key: Key) -> bool {
        self.stream(key).is_ok_and(|stream| stream.is(StreamFlags::READABLE))
    }

    /// True from the moment it connects until shutdown is asked for or the writing side fails.
    #[doc(alias = "uv_is_writable")]
    pub fn is_writable(&self, key: Key) -> bool {
        self.stream(key).is_ok_and(|stream| stream.is(StreamFlags::WRITABLE))
    }

    /// Bytes of writes that are not sent, or whose failure is not reported.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_stream_get_write_queue_size")]
    #[inline]
    pub fn write_queue_size(&self, key: Key) -> Result<usize> {
        Ok(self.stream(key)?.queued)
    }

    /// The stream's descriptor.
    ///
    /// # Errors
    /// EBADF when it has none (yet, or any more); EINVAL for a stale key.
    #[doc(alias = "uv_fileno")]
    pub fn descriptor(&self, key: Key) -> Result<&K::Fd> {
        self.stream(key)?.descriptor()
    }

    #[inline]
    pub(crate) fn stream(&self, key: Key) -> Result<&Stream<K::Fd, U>> {
        let index = self.slots.find_stream(key)?;
        Ok(&self.streams[self.slots[index].state])
    }

    /// A new stream without a descriptor.
    #[inline(always)] // The door that makes one has its own, without a call.
    pub(crate) fn stream_init(&mut self, kind: Kind, user: U) -> Result<Key> {
        self.stream_reserve()?;
        let state = self.streams.insert_default()?;
        let key = self.add_handle(kind, state, user);
        self.streams[state].key = key;
        Ok(key)
    }

    /// Makes sure that the next [`Core::stream_init`] needs no memory.
    #[inline]
    pub(crate) fn stream_reserve(&mut self) -> Result<()> {
        self.slots.reserve()?;
        self.watches.reserve(self.watchers() + 1)?;
        self.pending.reserve(self.streams.bound() + self.udps.bound() + 1)?;
        self.streams.reserve()
    }

    /// What few streams have, for one that is to have it.
    pub(crate) fn extra_mut(&mut self, index: u32) -> Result<&mut Extra<K::Fd>> {
        let stream = &mut self.streams[self.slots[index].state];
        if stream.extra == NO_EXTRA {
            stream.extra = self.extras.insert(Extra::default())?;
        }
        Ok(&mut self.extras[stream.extra])
    }

    /// A stream refuses a descriptor that was made elsewhere when it has another: EBUSY. Of what is no descriptor it says that first.
    pub(crate) fn check_unused(&self, index: u32, fd: &K::Fd) -> Result<()> {
        let own = self.streams[self.slots[index].state].fd.as_ref();
        if own.is_some_and(|own| K::number(own) != K::number(fd)) { Err(Errno::EBUSY) } else { Ok(()) }
    }

    /// Makes ready for a descriptor that a handle is to have; a TCP socket gets the options that were asked for before.
    #[inline]
    pub(crate) fn prepare_descriptor(&mut self, index: u32, fd: &K::Fd) -> Result<()> {
        self.prepare_descriptor_of(self.slots[index].state, fd)
    }

    /// As [`Core::prepare_descriptor`], by the handle's state.
    #[inline]
    pub(crate) fn prepare_descriptor_of(&mut self, state: u32, fd: &K::Fd) -> Result<()> {
        self.watches.reserve_number(K::number(fd))?;
        let stream = &self.streams[state];
        let has_options = stream.is(StreamFlags::NODELAY) || stream.extra != NO_EXTRA;
        if has_options { self.set_options(state, fd) } else { Ok(()) }
    }

    #[cold]
    fn set_options(&mut self, state: u32, fd: &K::Fd) -> Result<()> {
        let stream = &self.streams[state];
        if stream.is(StreamFlags::NODELAY) {
            self.kernel.set_nodelay(fd, true)?;
        }
        if let Some(Extra { keepalive: Some(keepalive), .. }) = self.extras.get(stream.extra) {
            self.kernel.set_keepalive(fd, Some(*keepalive))?;
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn put_descriptor(&mut self, index: u32, fd: K::Fd, medium: Medium) {
        self.put_descriptor_of(self.slots[index].state, fd, medium);
    }

    /// As [`Core::put_descriptor`], by the handle's state.
    #[inline]
    pub(crate) fn put_descriptor_of(&mut self, state: u32, fd: K::Fd, medium: Medium) {
        let stream = &mut self.streams[state];
        stream.watch.number = K::number(&fd);
        let passes_handles = medium == Medium::Socket && stream.is(StreamFlags::IPC);
        stream.medium = if passes_handles { Medium::Ipc } else { medium };
        if let Some(same) = stream.fd.replace(fd) {
            // To drop it would close the one just put there.
            K::let_go(same);
        }
    }

    /// Begins to work on a stream that is ready.
    #[inline(always)] // As `Core::advance`.
    pub(crate) fn begin_step(&mut self, key: Key, state: u32, user: U, ready: Readiness) -> Option<Event<U>> {
        if self.begin_reading(key, state, ready) {
            return Some(Event::NeedBuffer { key, user });
        }
        let stream = &self.streams[state];
        let readiness = ready & (stream.watch.wanted | Readiness::ERROR | Readiness::HANG_UP);
        if stream.watch.wanted.is_empty() || readiness.is_empty() {
            return self.not_wanted(key.index);
        }
        self.poll.events += 1;
        if stream.is(StreamFlags::LISTENING) {
            return self.begin_accept(key, state, user);
        }
        if stream.is(StreamFlags::CONNECTING) {
            return self.end_connect(key, state);
        }
        let may_read = readiness.intersects(Readiness::READ | Readiness::ERROR) || stream.must_look(readiness);
        let (stage, rounds) = if may_read { (Stage::Read, ROUNDS - 1) } else { (Stage::HangUp, 0) };
        self.step = Step { stage, rounds, readiness, key, state, reports: self.step.reports };
        if may_read && stream.is(StreamFlags::READING) {
            return Some(Event::NeedBuffer { key, user });
        }
        if !(stream.awaited | stream.kept | stream.watch.wanted & Readiness::EDGE).is_empty() {
            return self.tell_ready(key, state, user, readiness);
        }
        self.step.stage = Stage::HangUp;
        None
    }

    /// Begins to work on a stream that is ready, if it is to be read: the usual case. False, with nothing done, if it is another.
    #[inline(always)] // As `Core::advance`.
    pub(crate) fn begin_reading(&mut self, key: Key, state: u32, ready: Readiness) -> bool {
        let stream = &self.streams[state];
        let readiness = ready & (stream.watch.wanted | Readiness::ERROR | Readiness::HANG_UP);
        let does = stream.flags & (StreamFlags::READING | StreamFlags::LISTENING | StreamFlags::CONNECTING);
        if does != StreamFlags::READING || !readiness.intersects(Readiness::READ | Readiness::ERROR) {
            return false;
        }
        self.poll.events += 1;
        let (stage, rounds) = (Stage::Read, ROUNDS - 1);
        self.step = Step { stage, rounds, readiness, key, state, reports: self.step.reports };
        true
    }

    /// Begins to work on a stream that was fed: something of it has completed.
    #[inline(never)] // Mostly that is a write, and then there is less to do.
    pub(crate) fn begin_pending_step(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        let stream = &mut self.streams[state];
        if stream.is(StreamFlags::CONNECTING) {
            // Only an error is known before the kernel says so.
            return stream.delayed_error.and_then(|_| self.end_connect(key, state));
        }
        self.step = Step { stage: Stage::Write, key, state, ..Step::default() };
        if stream.writes.is_empty() { self.begin_report() } else { None }
    }

    /// Goes on with the stream being worked on. `None` when that is over.
    #[inline]
    pub(crate) fn next_step(&mut self) -> Option<Event<U>> {
        match self.step.stage {
            Stage::Report if self.step.reports == 0 && self.streams[self.step.state].is_drained() => {
                self.step.stage = Stage::None;
                None
            }
            _ => self.go_on(),
        }
    }

    #[inline(never)]
    fn go_on(&mut self) -> Option<Event<U>> {
        loop {
            let event = match self.step.stage {
                Stage::None | Stage::Told => return None,
                Stage::Accept => {
                    self.step.stage = Stage::None;
                    self.end_accept(self.step.key.index);
                    return None;
                }
                Stage::ConnectFailed => self.step_connect_failed(),
                Stage::Read => self.step_read(),
                Stage::ReadFailed => self.step_read_failed(),
                Stage::HangUp => self.step_hang_up(),
                Stage::Write => self.step_write(),
                Stage::Report => self.step_report(),
                Stage::Drain => self.step_drain(),
                Stage::UdpReceive | Stage::UdpReceiveErrors | Stage::UdpSend | Stage::UdpReport => self.step_udp(),
            };
            if event.is_some() {
                return event;
            }
        }
    }

    /// Work on a stream is left behind: what was not read or sent is still ready, and reports are still queued.
    pub(crate) fn abandon_step(&mut self) {
        let Step { stage, key, .. } = std::mem::take(&mut self.step);
        let slot = key.index;
        match stage {
            Stage::None | Stage::Told | Stage::Read | Stage::HangUp => {}
            Stage::UdpReceive | Stage::UdpReceiveErrors => {}
            Stage::UdpSend | Stage::UdpReport => self.abandon_udp_step(slot),
            Stage::Accept => self.end_accept(slot),
            Stage::ReadFailed => self.stop_reading(slot),
            Stage::ConnectFailed | Stage::Write | Stage::Report | Stage::Drain => {
                if !self.slots[slot].has(flag::CLOSING) {
                    self.feed(slot);
                }
            }
        }
    }

    /// Stops everything about a stream that is being closed, and closes its descriptor.
    #[inline]
    pub(crate) fn close_stream(&mut self, key: Key, kind: Kind, state: u32) {
        self.flush_writes();
        let stream = &mut self.streams[state];
        // As `forget`.
        stream.watch.wanted = Readiness::empty();
        if let Some(number) = stream.watch.take_watched() {
            self.kernel.unwatch(number);
        }
        stream.watch.number = -1;
        self.pending.unfeed(stream);
        stream.flags &= REQUESTS;
        (stream.awaited, stream.kept) = (Readiness::empty(), Readiness::empty());
        stream.accepted = None;
        let fd = stream.fd.take();
        if stream.extra != NO_EXTRA || kind == Kind::Tty {
            self.close_extra(key, kind, state);
        }
        drop(fd);
    }

    #[cold]
    fn close_extra(&mut self, key: Key, kind: Kind, state: u32) {
        if kind == Kind::Tty {
            self.close_tty(key);
        }
        if self.streams[state].extra != NO_EXTRA {
            self.drop_extra(state);
        }
    }

    fn drop_extra(&mut self, state: u32) {
        let stream = &mut self.streams[state];
        let Extra { received, bound, .. } = self.extras.remove(std::mem::replace(&mut stream.extra, NO_EXTRA));
        drop(received);
        if let Some(path) = bound {
            // Before the socket is closed: after that somebody else may have bound the name.
            self.kernel.unix_remove(&path);
        }
    }
}
