//! Streams: their state, and the steps in which one readiness is worked off.
//!
//! The core returns one event at a time, so the work on a stream is a small machine, [`Step`]: what stage it is at is
//! kept between two calls of `next`. A callback may close the stream meanwhile; every stage looks first.

use std::collections::VecDeque;
use std::ffi::CString;

use oxuv_os::{Errno, Result};

use crate::kernel::{Keepalive, Kernel, Medium, Readiness};
use crate::slots::flag;
use crate::watch::Watch;
use crate::write::{Done, Write};
use crate::{Buffers, Core, Event, Key, Kind};

bitflags::bitflags! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct StreamFlags: u8 {
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
    }
}

#[derive(Debug)]
pub(crate) struct Stream<F, U, B> {
    pub(crate) fd: Option<F>,
    pub(crate) medium: Medium,
    pub(crate) flags: StreamFlags,
    pub(crate) watch: Watch,
    /// What is waited for without being read or written by the loop.
    pub(crate) awaited: Readiness,
    /// What was waited for so and came: the kernel is not told that it is no longer, as it mostly is again.
    pub(crate) kept: Readiness,
    /// A connection that a listener has taken from the kernel and the user has not taken yet.
    pub(crate) accepted: Option<F>,
    /// Handles that have come along with what was read, and that the user has not taken yet.
    pub(crate) received: VecDeque<F>,
    /// The path that a pipe was bound to, and whose file it removes.
    pub(crate) bound: Option<CString>,
    /// An error that is told later: EADDRINUSE of a bind by listen or connect, ECONNREFUSED of a connect by its event.
    pub(crate) delayed_error: Option<Errno>,
    /// The keepalive that was asked for.
    pub(crate) keepalive: Option<Keepalive>,
    /// The connect that is under way.
    pub(crate) connect: Option<U>,
    /// The shutdown that was asked for and is not reported yet.
    pub(crate) shutdown: Option<U>,
    /// Bytes of writes that are not sent, or whose failure is not reported.
    pub(crate) queued: usize,
    /// Writes not yet sent whole, in their order.
    pub(crate) writes: VecDeque<Write<U, B>>,
    /// A write that was sent whole by its call, with nothing in `done`. That is how most writes end, and they need no
    /// entry there. It is reported first.
    pub(crate) sent: Option<U>,
    /// Writes whose result is not reported yet, in the order in which they ended.
    pub(crate) done: VecDeque<Done<U, B>>,
}

impl<F, U, B> Default for Stream<F, U, B> {
    fn default() -> Self {
        Stream {
            fd: None,
            medium: Medium::Socket,
            flags: StreamFlags::empty(),
            watch: Watch::default(),
            awaited: Readiness::empty(),
            kept: Readiness::empty(),
            accepted: None,
            received: VecDeque::new(),
            bound: None,
            delayed_error: None,
            keepalive: None,
            connect: None,
            shutdown: None,
            queued: 0,
            writes: VecDeque::new(),
            sent: None,
            done: VecDeque::new(),
        }
    }
}

impl<F, U, B> Stream<F, U, B> {
    /// The peer has hung up, in a wait that did not ask whether there is anything to read before that.
    #[inline]
    fn must_look(&self, readiness: Readiness) -> bool {
        readiness.intersects(Readiness::HANG_UP | Readiness::READ_HANG_UP)
            && (!self.watch.watched.contains(Readiness::READ) || self.medium == Medium::Terminal)
    }

    /// True if there is nothing to send, to shut down or to wait for writability for.
    #[inline]
    fn is_drained(&self) -> bool {
        self.writes.is_empty() && self.shutdown.is_none() && !self.watch.wanted.contains(Readiness::WRITE)
    }

    /// The write that was sent by its call, if its report is all that there is to do: the usual case.
    #[inline]
    fn take_only_sent(&mut self) -> Option<U> {
        if self.done.is_empty() && self.connect.is_none() && self.is_drained() { self.sent.take() } else { None }
    }

    /// The number of writes that have ended and are not reported.
    #[inline]
    pub(crate) fn ended(&self) -> usize {
        usize::from(self.sent.is_some()) + self.done.len()
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

/// How many rounds of reading, and of writing, one readiness gives: enough for throughput, few enough for the others.
pub(crate) const ROUNDS: u8 = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No stream is being worked on.
    None,
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
    /// The only thing there was to do is done: a write's report is out. Unless its callback asks for a shutdown, that
    /// was all.
    Told,
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
    pub(crate) fn stream(&self, key: Key) -> Result<&Stream<K::Fd, U, B>> {
        let index = self.slots.find_stream(key)?;
        Ok(&self.streams[self.slots[index].state])
    }

    /// A new stream without a descriptor.
    pub(crate) fn stream_init(&mut self, kind: Kind, user: U) -> Result<Key> {
        self.stream_reserve()?;
        let state = self.streams.insert(Stream::default())?;
        Ok(self.add_handle(kind, state, user))
    }

    /// Makes sure that the next [`Core::stream_init`] needs no memory.
    pub(crate) fn stream_reserve(&mut self) -> Result<()> {
        self.slots.reserve()?;
        self.watches.reserve(self.watchers() + 1, -1)?;
        self.pending.reserve(self.streams.len() + self.udps.len() + 1)?;
        self.streams.reserve()
    }

    /// What a stream may refuse a descriptor for that was made elsewhere: EEXIST when a handle waits for it, EBUSY when
    /// the stream has another.
    pub(crate) fn check_given(&self, index: u32, fd: &K::Fd) -> Result<()> {
        self.check_free(K::number(fd), None)?;
        let own = self.streams[self.slots[index].state].fd.as_ref();
        if own.is_some_and(|own| K::number(own) != K::number(fd)) { Err(Errno::EBUSY) } else { Ok(()) }
    }

    /// Makes ready for a descriptor that a handle is to have; a TCP socket gets the options that were asked for before.
    pub(crate) fn prepare_descriptor(&mut self, index: u32, fd: &K::Fd) -> Result<()> {
        self.watches.reserve(0, K::number(fd))?;
        let stream = &self.streams[self.slots[index].state];
        if stream.is(StreamFlags::NODELAY) {
            self.kernel.set_nodelay(fd, true)?;
        }
        if stream.keepalive.is_some() {
            self.kernel.set_keepalive(fd, stream.keepalive)?;
        }
        Ok(())
    }

    pub(crate) fn put_descriptor(&mut self, index: u32, fd: K::Fd, medium: Medium) {
        let stream = &mut self.streams[self.slots[index].state];
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
        let stream = &self.streams[state];
        let readiness = ready & (stream.watch.wanted | Readiness::ERROR | Readiness::HANG_UP);
        if stream.watch.wanted.is_empty() || readiness.is_empty() {
            return self.not_wanted(key.index);
        }
        self.poll.events += 1;
        if stream.is(StreamFlags::LISTENING) {
            return self.begin_accept(key.index);
        }
        if stream.connect.is_some() {
            return self.end_connect(key, state);
        }
        let may_read = readiness.intersects(Readiness::READ | Readiness::ERROR) || stream.must_look(readiness);
        let (stage, rounds) = if may_read { (Stage::Read, ROUNDS - 1) } else { (Stage::HangUp, 0) };
        self.step = Step { stage, rounds, readiness, key, state, reports: self.step.reports };
        if may_read && stream.is(StreamFlags::READING) {
            return Some(Event::NeedBuffer { key, user });
        }
        if !(stream.awaited | stream.kept).is_empty() {
            return self.tell_ready(key, state, readiness);
        }
        self.step.stage = Stage::HangUp;
        None
    }

    /// Begins to work on a stream that was fed: something of it has completed.
    #[inline(always)] // As `Core::advance`.
    pub(crate) fn begin_pending_step(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        let stream = &mut self.streams[state];
        if let Some(user) = stream.take_only_sent() {
            (self.step.stage, self.step.key) = (Stage::Told, key);
            return Some(self.report_sent(key, user));
        }
        if stream.connect.is_some() {
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
            Stage::Told => {
                self.step.stage = Stage::None;
                None
            }
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
    pub(crate) fn close_stream(&mut self, index: u32) {
        self.flush_writes();
        self.forget(index);
        if self.slots[index].kind == Kind::Tty {
            self.close_tty(self.slots.key(index));
        }
        let stream = &mut self.streams[self.slots[index].state];
        self.pending.unfeed(stream);
        stream.flags = StreamFlags::empty();
        (stream.awaited, stream.kept) = (Readiness::empty(), Readiness::empty());
        stream.accepted = None;
        stream.received.clear();
        if let Some(path) = stream.bound.take() {
            // Before the socket is closed: after that somebody else may have bound the name.
            self.kernel.unix_remove(&path);
        }
        stream.fd = None;
        stream.watch.number = -1;
    }
}
