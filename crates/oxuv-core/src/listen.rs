//! Listening for connections, and taking them.

use std::net::{IpAddr, Ipv4Addr};

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, Medium, Readiness};
use crate::slots::{Slot, flag};
use crate::stream::{Stage, Step, StreamFlags};
use crate::{Buffers, Core, Event, Key, Kind};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Listens for connections: [`Event::Connection`] for each. A TCP handle that is not bound gets a free
    /// port. Again sets the new backlog.
    ///
    /// # Errors
    /// EINVAL when closing or connected, for a pipe that is not bound or that handles are passed by, and for a terminal;
    /// EADDRINUSE; what making a TCP socket may fail with.
    #[doc(alias = "uv_listen")]
    pub fn listen(&mut self, key: Key, backlog: i32) -> Result<()> {
        let index = self.open_stream(key)?;
        if self.slots[index].kind == Kind::Tty {
            return Err(Errno::EINVAL);
        }
        let stream = &mut self.streams[self.slots[index].state];
        if let Some(error) = stream.delayed_error {
            return Err(error);
        }
        if stream.is(StreamFlags::READING) || stream.is(StreamFlags::CONNECTING) {
            return Err(Errno::EINVAL);
        }
        match self.slots[index].kind {
            Kind::Tcp => self.ensure_socket(index, IpAddr::V4(Ipv4Addr::UNSPECIFIED))?,
            Kind::Pipe if stream.fd.is_some() && !stream.is(StreamFlags::IPC) => {}
            _ => return Err(Errno::EINVAL),
        }
        let stream = &self.streams[self.slots[index].state];
        self.check_free(stream.watch.number, Some(index))?;
        let stream = &mut self.streams[self.slots[index].state];
        self.kernel.listen(stream.descriptor()?, backlog)?;
        stream.flags -= StreamFlags::READABLE | StreamFlags::WRITABLE;
        stream.flags |= StreamFlags::LISTENING;
        if stream.accepted.is_none() {
            self.want(index, Readiness::READ);
        }
        self.set_active(index);
        Ok(())
    }

    /// Whether a connection waits on this listener, or a handle that has come along with bytes on this pipe.
    ///
    /// # Errors
    /// EAGAIN when none waits; EINVAL when closing or no stream.
    pub fn check_waiting(&self, listener: Key) -> Result<()> {
        let index = self.open_stream(listener)?;
        let stream = &self.streams[self.slots[index].state];
        if stream.accepted.is_some() || self.pending_handles(listener) > 0 { Ok(()) } else { Err(Errno::EAGAIN) }
    }

    /// Gives a listener's waiting connection to `client`; or, of a pipe, the handle that came first of those that have come
    /// along with bytes. What that is its receiver must know: [`Core::next_pending_handle`] can be asked.
    ///
    /// # Errors
    /// EAGAIN when none waits; EINVAL when either is closing or of a kind that cannot; EBUSY when `client` has a descriptor,
    /// ENOTSOCK when a TCP handle is given something else: the connection is closed then, and the next can come.
    #[doc(alias = "uv_accept")]
    #[inline]
    pub fn accept(&mut self, listener: Key, client: Key) -> Result<()> {
        self.accept_number(listener, client).map(|_| ())
    }

    /// As [`Core::accept`], and gives the number of the descriptor that `client` has now.
    ///
    /// # Errors
    /// As [`Core::accept`].
    #[inline]
    pub fn accept_number(&mut self, listener: Key, client: Key) -> Result<i32> {
        let from = self.open_stream(listener)?;
        let to = self.open_taker(client)?;
        let Slot { kind, state, .. } = self.slots[to];
        let stream = &mut self.streams[self.slots[from].state];
        if stream.accepted.is_some() && !kind.is_stream() {
            return Err(Errno::EINVAL);
        }
        let Some(fd) = stream.accepted.take() else {
            self.accept_received(from, to)?;
            return self.descriptor_number(client);
        };
        let as_listener = stream.flags & StreamFlags::TCP;
        if !stream.watch.wanted.contains(Readiness::READ) {
            self.want(from, Readiness::READ);
        }
        if self.step.stage == Stage::Accept && self.step.key == listener {
            // That it was not taken is what would be looked at next.
            self.step.stage = Stage::None;
        }
        if self.streams[state].fd.is_some() {
            return Err(Errno::EBUSY);
        }
        self.prepare_descriptor_of(state, &fd)?;
        let number = K::number(&fd);
        self.put_descriptor_of(state, fd, Medium::Socket);
        self.streams[state].flags |= StreamFlags::READABLE | StreamFlags::WRITABLE | as_listener;
        Ok(number)
    }

    /// An open handle of a kind that can be given a connection, or a handle that has come along with bytes.
    fn open_taker(&self, key: Key) -> Result<u32> {
        let index = self.slots.find(key)?;
        let slot = &self.slots[index];
        let can_take = matches!(slot.kind, Kind::Tcp | Kind::Pipe | Kind::Udp) && !slot.has(flag::CLOSING);
        if can_take { Ok(index) } else { Err(Errno::EINVAL) }
    }

    /// A listener is ready: takes one connection, and offers it.
    #[inline(never)]
    pub(crate) fn begin_accept(&mut self, key: Key, state: u32, user: U) -> Option<Event<U>> {
        let stream = &mut self.streams[state];
        let fd = stream.fd.as_ref().filter(|_| stream.accepted.is_none())?;
        match self.kernel.accept(fd) {
            Ok(connection) => {
                stream.accepted = Some(connection);
                self.step = Step { stage: Stage::Accept, key, state, ..Step::default() };
                Some(Event::Connection { key, user, result: Ok(()) })
            }
            Err(error) => self.accept_failed(key, state, user, error),
        }
    }

    #[cold]
    fn accept_failed(&mut self, key: Key, state: u32, user: U, error: Errno) -> Option<Event<U>> {
        let slot = key.index;
        match error {
            Errno::EMFILE | Errno::ENFILE => {
                let fd = self.streams[state].fd.as_ref()?;
                if !self.kernel.shed(fd) {
                    self.retry_later(slot);
                }
            }
            // Foreign hands have shut the listener down. It would be ready for ever.
            Errno::EBADF | Errno::EINVAL | Errno::ENOTSOCK => self.unwant(slot, Readiness::READ),
            // Short memory, or somebody who forbids it. It stays so for a while, and the listener is ready meanwhile.
            Errno::ENOMEM | Errno::ENOBUFS | Errno::EPERM | Errno::EACCES | Errno::ENOSYS => self.retry_later(slot),
            // The connection was somebody else's, or is gone; its own errors are no errors of the listener.
            _ => return None,
        }
        Some(Event::Connection { key, user, result: Err(error) })
    }

    /// The connection event is over. If the connection was not taken, no other is until it is.
    pub(crate) fn end_accept(&mut self, slot: u32) {
        if self.streams[self.slots[slot].state].accepted.is_some() {
            self.unwant(slot, Readiness::READ);
        }
    }
}
