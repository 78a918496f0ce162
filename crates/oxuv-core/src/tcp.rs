//! TCP handles.

use std::net::{IpAddr, SocketAddr};

use oxuv_os::{Errno, Result};

use crate::kernel::{BindFlags, Keepalive, Kernel, Medium};
use crate::stream::{NO_EXTRA, StreamFlags};
use crate::{Buffers, Core, Key, Kind, Refused};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new TCP handle, without a socket: bind, listen, open or accept give it one.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_tcp_init")]
    #[inline]
    pub fn tcp_init(&mut self, user: U) -> Result<Key> {
        self.stream_init(Kind::Tcp, user)
    }

    /// As [`Core::tcp_init`], with a socket for addresses of this family.
    ///
    /// # Errors
    /// EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM.
    #[doc(alias = "uv_tcp_init_ex")]
    pub fn tcp_init_with_socket(&mut self, user: U, family: IpAddr) -> Result<Key> {
        let fd = self.kernel.tcp_socket(family)?;
        self.watches.reserve_number(K::number(&fd))?;
        let key = self.tcp_init(user)?;
        self.put_descriptor(key.index, fd, Medium::Socket);
        self.streams[self.slots[key.index].state].flags |= StreamFlags::TCP;
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
            Ok(index) => self.put_descriptor(index, fd, Medium::Socket),
            Err(error) => return Err(Refused { error, given: fd }),
        }
        self.streams[self.slots[key.index].state].flags |= StreamFlags::READABLE | StreamFlags::WRITABLE;
        Ok(())
    }

    /// Everything that an open may be refused for.
    fn check_open(&mut self, key: Key, fd: &K::Fd) -> Result<u32> {
        let index = self.open_handle(key, Kind::Tcp)?;
        self.check_free(K::number(fd), None)?;
        self.kernel.adopt(fd)?;
        self.check_unused(index, fd)?;
        self.prepare_descriptor(index, fd)?;
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
        let is_connecting = self.streams[self.slots[index].state].is(StreamFlags::CONNECTING);
        if is_connecting || flags.ipv6_only && address.is_ipv4() {
            return Err(Errno::EINVAL);
        }
        self.ensure_socket(index, address.ip())?;
        let stream = &mut self.streams[self.slots[index].state];
        stream.delayed_error = match self.kernel.bind(stream.descriptor()?, address, flags) {
            Err(Errno::EADDRINUSE) => Some(Errno::EADDRINUSE),
            Err(Errno::EAFNOSUPPORT) => return Err(Errno::EINVAL),
            Err(error) => return Err(error),
            Ok(()) => None,
        };
        Ok(())
    }

    /// Connects. It is readable and writable from now on: what is written waits until it is connected. So it is after an error that the
    /// kernel knows at once, but not while a bind's is to be told.
    /// [`Event::Connected`](crate::Event::Connected) with `user` comes later, never inside this call, exactly once.
    ///
    /// # Errors
    /// EINVAL when closing; EALREADY while connecting; EISCONN; ENETUNREACH and other errors of the kernel that it
    /// knows at once, except for a refusal and for a bind's EADDRINUSE, which the event tells; what making the socket
    /// fails with.
    #[doc(alias = "uv_tcp_connect")]
    pub fn tcp_connect(&mut self, key: Key, user: U, address: &SocketAddr) -> Result<()> {
        let index = self.open_handle(key, Kind::Tcp)?;
        let stream = &mut self.streams[self.slots[index].state];
        if stream.is(StreamFlags::CONNECTING) {
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
            if !stream.is(StreamFlags::LISTENING) {
                // Whether this begins or not, as in libuv.
                stream.flags |= StreamFlags::READABLE | StreamFlags::WRITABLE;
            }
            match self.kernel.connect(stream.descriptor()?, address) {
                Ok(()) | Err(Errno::EINPROGRESS) => {}
                Err(Errno::ECONNREFUSED) => stream.delayed_error = Some(Errno::ECONNREFUSED),
                Err(error) => return Err(error),
            }
        }
        self.begin_connect(key, user);
        Ok(())
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`). Without a socket it is remembered for when there is one.
    ///
    /// # Errors
    /// EINVAL for a stale key or when closing.
    #[doc(alias = "uv_tcp_nodelay")]
    pub fn tcp_nodelay(&mut self, key: Key, on: bool) -> Result<()> {
        self.flush_writes();
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
        self.flush_writes();
        let index = self.open_handle(key, Kind::Tcp)?;
        let stream = &mut self.streams[self.slots[index].state];
        if let Some(fd) = &stream.fd {
            self.kernel.set_keepalive(fd, keepalive)?;
        }
        if (stream.fd.is_none() && keepalive.is_some()) || stream.extra != NO_EXTRA {
            self.extra_mut(index)?.keepalive = keepalive;
        }
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
        if stream.is(StreamFlags::SHUTTING_DOWN) {
            return Err(Errno::EINVAL);
        }
        let fd = stream.fd.as_ref().ok_or(Errno::EBADF)?;
        self.kernel.set_reset_on_close(fd)
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

    /// Makes sure that a handle has a socket: a new one of this family if it has none.
    pub(crate) fn ensure_socket(&mut self, index: u32, family: IpAddr) -> Result<()> {
        if self.streams[self.slots[index].state].fd.is_none() {
            let fd = self.kernel.tcp_socket(family)?;
            self.prepare_descriptor(index, &fd)?;
            self.put_descriptor(index, fd, Medium::Socket);
            self.streams[self.slots[index].state].flags |= StreamFlags::TCP;
        }
        Ok(())
    }
}
