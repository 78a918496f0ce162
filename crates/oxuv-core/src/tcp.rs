//! TCP handles.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use oxuv_os::{Errno, Result};

use crate::kernel::{BindFlags, Keepalive, Kernel, Readiness};
use crate::slots::flag;
use crate::stream::{Stage, Step, Stream, StreamFlags};
use crate::{Buffers, Core, Event, Key, Kind, Refused};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new TCP handle, without a socket: bind, listen, open or accept give it one.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_tcp_init")]
    pub fn tcp_init(&mut self, user: U) -> Result<Key> {
        self.slots.reserve()?;
        self.watches.reserve(self.watchers() + 1, -1)?;
        self.pending.reserve(self.streams.len() + self.udps.len() + 1)?;
        let state = self.streams.insert(Stream::default())?;
        Ok(self.slots.insert(Kind::Tcp, state, user))
    }

    /// As [`Core::tcp_init`], with a socket for addresses of this family.
    ///
    /// # Errors
    /// EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM.
    #[doc(alias = "uv_tcp_init_ex")]
    pub fn tcp_init_with_socket(&mut self, user: U, family: IpAddr) -> Result<Key> {
        let fd = self.kernel.tcp_socket(family)?;
        self.watches.reserve(0, K::number(&fd))?;
        let key = self.tcp_init(user)?;
        self.put_socket(key.index, fd);
        Ok(key)
    }

    /// Gives the handle a connected socket (or one to be bound and listened on) that was made elsewhere; or tells it
    /// that the socket it has was connected elsewhere.
    ///
    /// # Errors
    /// EINVAL when closing, EBUSY when it has another socket, EEXIST when a handle waits for the descriptor, ENOTSOCK.
    #[doc(alias = "uv_tcp_open")]
    pub fn tcp_open(&mut self, key: Key, fd: K::Fd) -> Result<(), Refused<K::Fd>> {
        match self.check_open(key, &fd) {
            Ok(index) => self.put_socket(index, fd),
            Err(error) => return Err(Refused { error, given: fd }),
        }
        self.streams[self.slots[key.index].state].flags |= StreamFlags::READABLE | StreamFlags::WRITABLE;
        Ok(())
    }

    /// Everything that an open may be refused for.
    fn check_open(&mut self, key: Key, fd: &K::Fd) -> Result<u32> {
        let index = self.open_handle(key, Kind::Tcp)?;
        self.check_free(K::number(fd), None)?;
        let own = self.streams[self.slots[index].state].fd.as_ref();
        if own.is_some_and(|own| K::number(own) != K::number(fd)) {
            return Err(Errno::EBUSY);
        }
        self.kernel.adopt(fd)?;
        self.prepare_socket(index, fd)?;
        Ok(index)
    }

    /// Binds the handle. Of an address that is in use, listen tells.
    ///
    /// # Errors
    /// EINVAL when closing or connecting, for a second bind, for `ipv6_only` with an IPv4 address, or when the socket is of the other
    /// family; EADDRNOTAVAIL, EACCES; EMFILE, ENFILE, ENOBUFS, ENOMEM for the socket.
    #[doc(alias = "uv_tcp_bind")]
    pub fn tcp_bind(&mut self, key: Key, address: &SocketAddr, flags: BindFlags) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        let is_connecting = self.streams[self.slots[index].state].connect.is_some();
        if is_connecting || flags.ipv6_only && address.is_ipv4() {
            return Err(Errno::EINVAL);
        }
        self.ensure_socket(index, address.ip())?;
        let stream = &mut self.streams[self.slots[index].state];
        stream.delayed_error = match self.kernel.bind(Self::socket(stream)?, address, flags) {
            Err(Errno::EADDRINUSE) => Some(Errno::EADDRINUSE),
            Err(Errno::EAFNOSUPPORT) => return Err(Errno::EINVAL),
            Err(error) => return Err(error),
            Ok(()) => None,
        };
        Ok(())
    }

    /// Listens for connections: [`Event::Connection`] for each. A handle that is not bound gets a free port. Again
    /// sets the new backlog.
    ///
    /// # Errors
    /// EINVAL when closing or connected; EADDRINUSE; what making the socket may fail with.
    #[doc(alias = "uv_listen")]
    pub fn listen(&mut self, key: Key, backlog: i32) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        let stream = &mut self.streams[self.slots[index].state];
        if let Some(error) = stream.delayed_error {
            return Err(error);
        }
        if stream.is(StreamFlags::READING) || stream.connect.is_some() {
            return Err(Errno::EINVAL);
        }
        self.ensure_socket(index, IpAddr::V4(Ipv4Addr::UNSPECIFIED))?;
        let stream = &self.streams[self.slots[index].state];
        self.check_free(stream.watch.number, Some(index))?;
        let stream = &mut self.streams[self.slots[index].state];
        self.kernel.listen(Self::socket(stream)?, backlog)?;
        stream.flags -= StreamFlags::READABLE | StreamFlags::WRITABLE;
        stream.flags |= StreamFlags::LISTENING;
        if stream.accepted.is_none() {
            self.want(index, Readiness::READ);
        }
        self.set_active(index);
        Ok(())
    }

    /// Connects. It is readable and writable from now on: what is written waits until it is connected.
    /// [`Event::Connected`] with `user` comes later, never inside this call, exactly once.
    ///
    /// # Errors
    /// EINVAL when closing; EALREADY while connecting; EISCONN; ENETUNREACH and other errors of the kernel that it
    /// knows at once, except for a refusal and for a bind's EADDRINUSE, which the event tells; what making the socket
    /// fails with.
    #[doc(alias = "uv_tcp_connect")]
    pub fn tcp_connect(&mut self, key: Key, user: U, address: &SocketAddr) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        let stream = &mut self.streams[self.slots[index].state];
        if stream.connect.is_some() {
            return Err(Errno::EALREADY);
        }
        // Linux says 0 to the first connect of a socket that has connected by itself, whatever the address.
        if stream.fd.as_ref().is_some_and(|fd| self.kernel.peer_address(fd).is_ok()) {
            return Err(Errno::EISCONN);
        }
        if stream.delayed_error.is_none() {
            self.ensure_socket(index, address.ip())?;
            let stream = &self.streams[self.slots[index].state];
            self.check_free(stream.watch.number, Some(index))?;
            let stream = &mut self.streams[self.slots[index].state];
            match self.kernel.connect(Self::socket(stream)?, address) {
                Ok(()) | Err(Errno::EINPROGRESS) => {}
                Err(Errno::ECONNREFUSED) => stream.delayed_error = Some(Errno::ECONNREFUSED),
                Err(error) => return Err(error),
            }
        }
        let stream = &mut self.streams[self.slots[index].state];
        stream.flags |= StreamFlags::READABLE | StreamFlags::WRITABLE;
        stream.connect = Some(user);
        self.requests += 1;
        if self.step.stage == Stage::Read && self.step.key == key {
            // Reading what has failed before could now take the error that tells how the connect ends.
            self.step.stage = Stage::None;
        }
        if stream.delayed_error.is_some() {
            self.feed(index);
        } else {
            self.want(index, Readiness::WRITE);
        }
        Ok(())
    }

    /// A connecting stream is ready, or has a delayed error: tells how it ended.
    #[inline(never)]
    pub(crate) fn end_connect(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        let stream = &mut self.streams[state];
        let result = match (stream.delayed_error.take(), &stream.fd) {
            (Some(error), _) => Err(error),
            (None, Some(fd)) => self.kernel.take_error(fd),
            (None, None) => Err(Errno::EBADF),
        };
        if result == Err(Errno::EINPROGRESS) {
            return None;
        }
        let user = stream.connect.take()?;
        self.requests -= 1;
        if result.is_err() {
            // Now, since what the callback writes is not part of this failure.
            self.cancel_writes(state);
            self.step = Step { stage: Stage::ConnectFailed, key, state, ..Step::default() };
        }
        let stream = &self.streams[state];
        if stream.writes.is_empty() {
            let has_more = !stream.done.is_empty() || stream.shutdown.is_some();
            self.unwant(key.index, Readiness::WRITE);
            if has_more {
                self.feed(key.index);
            }
        }
        Some(Event::Connected { key, user, result })
    }

    /// A connect has failed and was told: so is what was written in vain.
    pub(crate) fn step_connect_failed(&mut self) -> Option<Event<U>> {
        if self.slots[self.step.key.index].has(flag::CLOSING) {
            self.step.stage = Stage::None;
            return None;
        }
        self.begin_report()
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`). Without a socket it is remembered for when there is one.
    ///
    /// # Errors
    /// EINVAL for a stale key or when closing.
    #[doc(alias = "uv_tcp_nodelay")]
    pub fn tcp_nodelay(&mut self, key: Key, on: bool) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        let stream = &mut self.streams[self.slots[index].state];
        if let Some(fd) = &stream.fd {
            self.kernel.set_nodelay(fd, on)?;
        }
        stream.flags.set(StreamFlags::NODELAY, on);
        Ok(())
    }

    /// Whether an idle connection is probed (`SO_KEEPALIVE`), and when. Without a socket it is remembered for when there
    /// is one.
    ///
    /// # Errors
    /// EINVAL for a stale key, when closing, or for times out of range.
    #[doc(alias = "uv_tcp_keepalive")]
    #[doc(alias = "uv_tcp_keepalive_ex")]
    pub fn tcp_keepalive(&mut self, key: Key, keepalive: Option<Keepalive>) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        let stream = &mut self.streams[self.slots[index].state];
        if let Some(fd) = &stream.fd {
            self.kernel.set_keepalive(fd, keepalive)?;
        }
        stream.keepalive = keepalive;
        Ok(())
    }

    /// Closes the handle as [`Core::close`] does, and resets the connection: what is not sent is dropped, and the peer
    /// gets ECONNRESET.
    ///
    /// # Errors
    /// As [`Core::tcp_reset_on_close`]: the handle stays open.
    #[doc(alias = "uv_tcp_close_reset")]
    pub fn tcp_close_reset(&mut self, key: Key) -> Result<()> {
        self.tcp_reset_on_close(key)?;
        self.close(key)
    }

    /// Makes the handle's close reset the connection.
    ///
    /// # Errors
    /// EINVAL when closing, or while a shutdown is under way; EBADF without a socket.
    pub fn tcp_reset_on_close(&mut self, key: Key) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        let stream = &self.streams[self.slots[index].state];
        if stream.shutdown.is_some() {
            return Err(Errno::EINVAL);
        }
        let fd = stream.fd.as_ref().ok_or(Errno::EBADF)?;
        self.kernel.set_reset_on_close(fd)
    }

    /// Whether a connection waits on this listener.
    ///
    /// # Errors
    /// EAGAIN when none waits; EINVAL when closing or no TCP handle.
    pub fn check_waiting(&self, listener: Key) -> Result<()> {
        let index = self.open_handle(listener, Kind::Tcp)?;
        let stream = &self.streams[self.slots[index].state];
        if stream.accepted.is_some() { Ok(()) } else { Err(Errno::EAGAIN) }
    }

    /// Gives a listener's waiting connection to `client`.
    ///
    /// # Errors
    /// EAGAIN when none waits; EINVAL when either is closing or no TCP handle; EBUSY when `client` has a socket: that
    /// connection is closed then, and the next can come.
    #[doc(alias = "uv_accept")]
    pub fn accept(&mut self, listener: Key, client: Key) -> Result<()> {
        let listener = self.open_handle(listener, Kind::Tcp)?;
        let client = self.open_handle(client, Kind::Tcp)?;
        let fd = self.streams[self.slots[listener].state].accepted.take().ok_or(Errno::EAGAIN)?;
        self.want(listener, Readiness::READ);
        if self.streams[self.slots[client].state].fd.is_some() {
            return Err(Errno::EBUSY);
        }
        self.prepare_socket(client, &fd)?;
        self.put_socket(client, fd);
        self.streams[self.slots[client].state].flags |= StreamFlags::READABLE | StreamFlags::WRITABLE;
        Ok(())
    }

    /// The address the handle is bound to.
    ///
    /// # Errors
    /// EBADF without a socket; EADDRINUSE after a bind that found it so; EINVAL for a stale key.
    #[doc(alias = "uv_tcp_getsockname")]
    pub fn tcp_local_address(&self, key: Key) -> Result<SocketAddr> {
        self.kernel.local_address(self.named_socket(key)?)
    }

    /// The address of the other end.
    ///
    /// # Errors
    /// ENOTCONN; as [`Core::tcp_local_address`].
    #[doc(alias = "uv_tcp_getpeername")]
    pub fn tcp_peer_address(&self, key: Key) -> Result<SocketAddr> {
        self.kernel.peer_address(self.named_socket(key)?)
    }

    fn named_socket(&self, key: Key) -> Result<&K::Fd> {
        let stream = self.stream(key)?;
        match stream.delayed_error {
            Some(error) => Err(error),
            None => stream.fd.as_ref().ok_or(Errno::EBADF),
        }
    }

    /// A listener is ready: takes one connection, and offers it.
    #[inline(never)]
    pub(crate) fn begin_accept(&mut self, slot: u32) -> Option<Event<U>> {
        let state = self.slots[slot].state;
        let stream = &mut self.streams[state];
        let fd = stream.fd.as_ref().filter(|_| stream.accepted.is_none())?;
        let result = match self.kernel.accept(fd) {
            Ok(connection) => {
                stream.accepted = Some(connection);
                self.step = Step { stage: Stage::Accept, key: self.slots.key(slot), state, ..Step::default() };
                Ok(())
            }
            Err(error @ (Errno::EMFILE | Errno::ENFILE)) => {
                if !self.kernel.shed(fd) {
                    self.retry_later(slot);
                }
                Err(error)
            }
            Err(error @ (Errno::EBADF | Errno::EINVAL | Errno::ENOTSOCK)) => {
                // Foreign hands have shut the listener down. It would be ready for ever.
                self.unwant(slot, Readiness::READ);
                Err(error)
            }
            // The connection was somebody else's, or is gone; its own errors are no errors of the listener.
            Err(_) => return None,
        };
        Some(Event::Connection { key: self.slots.key(slot), user: self.slots[slot].user, result })
    }

    /// The connection event is over. If the connection was not taken, no other is until it is.
    pub(crate) fn end_accept(&mut self, slot: u32) {
        if self.streams[self.slots[slot].state].accepted.is_some() {
            self.unwant(slot, Readiness::READ);
        }
    }

    /// Makes sure that a handle has a socket: a new one of this family if it has none.
    fn ensure_socket(&mut self, index: u32, family: IpAddr) -> Result<()> {
        if self.streams[self.slots[index].state].fd.is_none() {
            let fd = self.kernel.tcp_socket(family)?;
            self.prepare_socket(index, &fd)?;
            self.put_socket(index, fd);
        }
        Ok(())
    }

    /// Gives a socket that the handle is to have the options that were asked for before.
    fn prepare_socket(&mut self, index: u32, fd: &K::Fd) -> Result<()> {
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

    fn put_socket(&mut self, index: u32, fd: K::Fd) {
        let stream = &mut self.streams[self.slots[index].state];
        stream.watch.number = K::number(&fd);
        if let Some(same) = stream.fd.replace(fd) {
            // To drop it would close the one just put there.
            std::mem::forget(same);
        }
    }

    /// The descriptor of a handle that has a socket.
    fn socket(stream: &Stream<K::Fd, U, B>) -> Result<&K::Fd> {
        stream.fd.as_ref().ok_or(Errno::EBADF)
    }
}
