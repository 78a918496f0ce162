//! TCP handles.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use oxuv_os::{Errno, Result};

use crate::kernel::{BindFlags, Kernel, Readiness};
use crate::stream::{Stage, Step, Stream, StreamFlags};
use crate::{Buffers, Core, Event, Key, Kind};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new TCP handle, without a socket: bind, listen, open or accept give it one.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_tcp_init")]
    pub fn tcp_init(&mut self, user: U) -> Result<Key> {
        self.slots.reserve()?;
        self.poll.reserve(self.streams.len() + 1)?;
        let state = self.streams.insert(Stream::default())?;
        Ok(self.slots.insert(Kind::Tcp, state, user))
    }

    /// Gives the handle a connected socket (or one to be bound and listened on) that was made elsewhere.
    ///
    /// # Errors
    /// EINVAL when closing, EBUSY when it has a socket, ENOTSOCK. The descriptor is closed then.
    #[doc(alias = "uv_tcp_open")]
    pub fn tcp_open(&mut self, key: Key, fd: K::Fd) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        let stream = &mut self.streams[self.slots[index].state];
        if stream.fd.is_some() {
            return Err(Errno::EBUSY);
        }
        self.kernel.adopt(&fd)?;
        stream.fd = Some(fd);
        stream.flags |= StreamFlags::READABLE | StreamFlags::WRITABLE;
        Ok(())
    }

    /// Binds the handle. Of an address that is in use, listen tells.
    ///
    /// # Errors
    /// EINVAL when closing, for a second bind, for `ipv6_only` with an IPv4 address, or when the socket is of the other
    /// family; EADDRNOTAVAIL, EACCES; EMFILE, ENFILE, ENOBUFS, ENOMEM for the socket.
    #[doc(alias = "uv_tcp_bind")]
    pub fn tcp_bind(&mut self, key: Key, address: &SocketAddr, flags: BindFlags) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        if flags.ipv6_only && address.is_ipv4() {
            return Err(Errno::EINVAL);
        }
        let stream = &mut self.streams[self.slots[index].state];
        let fd = socket_of(&mut self.kernel, &mut stream.fd, address.ip())?;
        stream.bind_error = match self.kernel.bind(fd, address, flags) {
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
        if let Some(error) = stream.bind_error {
            return Err(error);
        }
        let fd = socket_of(&mut self.kernel, &mut stream.fd, IpAddr::V4(Ipv4Addr::UNSPECIFIED))?;
        self.kernel.listen(fd, backlog)?;
        stream.flags |= StreamFlags::LISTENING;
        if stream.accepted.is_none() {
            self.want(index, Readiness::READ);
        }
        self.set_active(index);
        Ok(())
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
        let stream = &mut self.streams[self.slots[client].state];
        if stream.fd.is_some() {
            return Err(Errno::EBUSY);
        }
        stream.fd = Some(fd);
        stream.flags |= StreamFlags::READABLE | StreamFlags::WRITABLE;
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
        match stream.bind_error {
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
}

/// The handle's socket; a new one of this family if it has none.
fn socket_of<'a, K: Kernel>(kernel: &mut K, fd: &'a mut Option<K::Fd>, family: IpAddr) -> Result<&'a K::Fd> {
    if fd.is_none() {
        *fd = Some(kernel.tcp_socket(family)?);
    }
    fd.as_ref().ok_or(Errno::EBADF)
}
