//! TCP listeners and connections.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use oxuv_core::linux::check_stream;
use oxuv_core::{Buffers, Key, Many, One, Refused};

use crate::callbacks::{Callback, OnDone};
use crate::handle::is_a_handle;
use crate::loop_::Core;
use crate::{BindFlags, Handle, Keepalive, LoopRef, Result};

/// A TCP listener, or a TCP connection.
///
/// ```no_run
/// use oxuv::{Loop, Mode, Tcp};
///
/// let lp = Loop::new()?;
/// let server = Tcp::new(&lp)?;
/// server.bind(([127, 0, 0, 1], 7000).into())?;
/// server.listen(128, |server, connection| {
///     connection.unwrap();
///     let client = server.accept().unwrap();
///     client
///         .read_start(|client, read| match read {
///             Ok(bytes) => client.write(bytes.to_vec(), |_, _| {}).unwrap(),
///             Err(_) => client.close().unwrap(),
///         })
///         .unwrap();
/// })?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[doc(alias = "uv_tcp_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Tcp(pub(crate) Handle);

is_a_handle!(Tcp);

impl Tcp {
    /// A new handle, without a socket: it gets one by [`Tcp::bind`], [`Tcp::listen`], [`Tcp::connect`] or [`Tcp::open`].
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_tcp_init")]
    pub fn new(owner: &LoopRef) -> Result<Tcp> {
        Ok(Tcp(Handle::make(owner, |core| core.tcp_init(0))?))
    }

    /// Takes over a socket that was made elsewhere: a [`TcpStream`](std::net::TcpStream), a
    /// [`TcpListener`](std::net::TcpListener) to be listened on, or any other
    /// that is a stream. It is made non-blocking.
    ///
    /// # Errors
    /// EINVAL when closing, EBUSY when it has a socket, ENOTSOCK. The descriptor is closed then.
    #[doc(alias = "uv_tcp_open")]
    pub fn open(&self, socket: impl Into<OwnedFd>) -> Result<()> {
        let socket = socket.into().into();
        self.with(|core, key| {
            check_stream(&socket)?;
            core.tcp_open(key, socket).map_err(|refused| refused.error)
        })
    }

    /// Binds the handle to an address, with `SO_REUSEADDR`; port 0 is any free one. Of an address that is in use,
    /// [`Tcp::listen`] tells.
    ///
    /// # Errors
    /// EINVAL when closing, or for a second bind; EADDRNOTAVAIL, EACCES; EMFILE, ENFILE, ENOBUFS, ENOMEM.
    #[doc(alias = "uv_tcp_bind")]
    pub fn bind(&self, address: SocketAddr) -> Result<()> {
        self.bind_with(address, BindFlags::default())
    }

    /// As [`Tcp::bind`], with flags.
    ///
    /// # Errors
    /// As [`Tcp::bind`]; EINVAL for `ipv6_only` with an IPv4 address.
    #[doc(alias = "uv_tcp_bind")]
    pub fn bind_with(&self, address: SocketAddr, flags: BindFlags) -> Result<()> {
        self.with(|core, key| core.tcp_bind(key, &address, flags))
    }

    /// Listens: `callback` is called for each connection, one a turn, and takes it with [`Tcp::accept`]. If it does not,
    /// no other is announced until it is taken. Phase: poll. Again sets the new backlog and closure.
    ///
    /// The result that the closure gets is an error when connections had to be turned away at the descriptor limit
    /// (EMFILE, ENFILE; more may come later), or when the listening socket has failed (there will be no more).
    ///
    /// # Errors
    /// EINVAL when closing or connected, EADDRINUSE; what making a socket fails with if there is none.
    #[doc(alias = "uv_listen")]
    pub fn listen(&self, backlog: i32, callback: impl FnMut(&Tcp, Result<()>) + 'static) -> Result<()> {
        self.with(|core, key| core.listen(key, backlog))?;
        let callback = RefCell::new(callback);
        self.set_callback(Callback::Connection(Rc::new(move |server, waiting| callback.borrow_mut()(server, waiting))));
        Ok(())
    }

    /// The connection that waits on this listener, as a new handle of the same loop. It stays open until it is closed,
    /// also if the value returned is dropped.
    ///
    /// # Errors
    /// EAGAIN when none waits, EINVAL when closing, ENOMEM.
    #[doc(alias = "uv_accept")]
    pub fn accept(&self) -> Result<Tcp> {
        self.with(|core, key| core.check_waiting(key))?;
        let client = Tcp::new(self.owner())?;
        let accepted = client.with(|core, client| core.accept(self.key(), client));
        if let Err(error) = accepted {
            client.close()?;
            return Err(error);
        }
        Ok(client)
    }

    /// Connects to `address`. `on_done` is called once, never inside this call: with `Ok` when connected, with an error
    /// such as ECONNREFUSED or ETIMEDOUT when that has failed, with ECANCELED when the handle is closed before. Phase:
    /// poll, pending or closing. What is written meanwhile is sent afterwards.
    ///
    /// # Errors
    /// EINVAL when closing, EALREADY while connecting, EISCONN, and what the kernel knows at once: ENETUNREACH,
    /// EADDRNOTAVAIL; EMFILE, ENFILE, ENOBUFS, ENOMEM. `on_done` is not called then.
    #[doc(alias = "uv_tcp_connect")]
    pub fn connect(&self, address: SocketAddr, on_done: impl FnOnce(&Tcp, Result<()>) + 'static) -> Result<()> {
        self.request(Box::new(on_done), |core, key, request| core.tcp_connect(key, request, &address))
    }

    /// Keeps a closure for a request, and makes the request.
    fn request(&self, on_done: OnDone, ask: impl FnOnce(&mut Core, Key, u32) -> Result<()>) -> Result<()> {
        let callbacks = &self.owner().0.callbacks;
        let request = callbacks.add_request(on_done)?;
        let asked = self.with(|core, key| ask(core, key, request));
        if asked.is_err() {
            drop(callbacks.take_request(request));
        }
        asked
    }

    /// Sends small writes at once (`TCP_NODELAY`) instead of gathering them. Without a socket it is remembered for when
    /// there is one.
    ///
    /// # Errors
    /// EINVAL when closing.
    #[doc(alias = "uv_tcp_nodelay")]
    pub fn set_nodelay(&self, on: bool) -> Result<()> {
        self.with(|core, key| core.tcp_nodelay(key, on))
    }

    /// Has an idle connection probed (`SO_KEEPALIVE`), or not. Without a socket it is remembered for when there is one.
    ///
    /// # Errors
    /// EINVAL when closing, or for a time or count of 0, a time beyond 32767 or a count beyond 127.
    #[doc(alias = "uv_tcp_keepalive")]
    pub fn set_keepalive(&self, keepalive: Option<Keepalive>) -> Result<()> {
        // Without a socket, nobody else would look at the numbers before there is one.
        keepalive.map_or(Ok(()), Keepalive::check)?;
        self.with(|core, key| core.tcp_keepalive(key, keepalive))
    }

    /// Closes the handle and resets the connection: what is not sent is dropped, and the peer gets ECONNRESET.
    ///
    /// # Errors
    /// EINVAL when closing, or while a shutdown is under way: the handle stays open. EBADF without a socket.
    #[doc(alias = "uv_tcp_close_reset")]
    pub fn close_reset(&self) -> Result<()> {
        self.with(|core, key| core.tcp_close_reset(key))
    }

    /// Reads: `callback` gets what has arrived, until [`Tcp::read_stop`], or until it gets an error, the last it is
    /// called with. The bytes are the loop's buffer, up to 64 KiB, lent for the call. Phase: poll.
    ///
    /// The end of the stream is the error EOF. After any other error the connection is neither readable nor writable.
    ///
    /// # Errors
    /// EINVAL when closing, EALREADY when it is reading, ENOTCONN when it is not connected or has failed; EEXIST when a
    /// [`Poll`](crate::Poll) of this loop waits for its descriptor.
    #[doc(alias = "uv_read_start")]
    pub fn read_start(&self, callback: impl FnMut(&Tcp, Result<&[u8]>) + 'static) -> Result<()> {
        self.with(|core, key| core.read_start(key))?;
        let callback = RefCell::new(callback);
        self.set_callback(Callback::Read(Rc::new(move |client, read| callback.borrow_mut()(client, read))));
        Ok(())
    }

    /// Stops reading. Stopped is stopped: again does nothing. What arrives waits in the kernel.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_read_stop")]
    pub fn read_stop(&self) -> Result<()> {
        self.with(|core, key| core.read_stop(key))
    }

    /// Writes all of `bytes`, which anything may be that owns them: a `Vec`, a `String`, an `Arc<[u8]>`, a `&'static`
    /// slice. They are not copied. What the kernel does not take at once follows as it does; writes keep their order.
    ///
    /// `on_done` is called once, never inside this call: with `Ok` when the kernel has taken everything, with
    /// ECANCELED when the handle is closed before. Phase: pending, poll or closing.
    ///
    /// The bytes are looked at by `as_ref`, now and later, inside the loop: it gives the same bytes each time, and does
    /// not call this loop.
    ///
    /// # Errors
    /// EINVAL for more than 2^31-1 bytes, or when closed; EBADF when closing, or without a socket; EPIPE when not
    /// connected, or after [`Tcp::shutdown`]; ENOMEM. `on_done` is not called then.
    #[doc(alias = "uv_write")]
    pub fn write<T>(&self, bytes: T, on_done: impl FnOnce(&Tcp, Result<()>) + 'static) -> Result<()>
    where
        T: AsRef<[u8]> + 'static,
    {
        self.write_buffers(One(bytes), Box::new(on_done), |bytes| Box::new(bytes))
    }

    /// As [`Tcp::write`], for several buffers in a row.
    ///
    /// # Errors
    /// As [`Tcp::write`]; EINVAL for no buffer, or for more than 2^20.
    #[doc(alias = "uv_write")]
    pub fn write_vectored<T>(&self, parts: Vec<T>, on_done: impl FnOnce(&Tcp, Result<()>) + 'static) -> Result<()>
    where
        T: AsRef<[u8]> + 'static,
    {
        self.write_buffers(Many(parts), Box::new(on_done), |parts| Box::new(parts))
    }

    /// As [`Tcp::write`], for bytes that are only lent: they are copied if the kernel does not take all of them at once.
    /// Mostly it does, and then nothing is allocated, but for an `on_done` that captures something.
    ///
    /// # Errors
    /// As [`Tcp::write`].
    #[doc(alias = "uv_write")]
    pub fn write_copy(&self, bytes: &[u8], on_done: impl FnOnce(&Tcp, Result<()>) + 'static) -> Result<()> {
        self.write_buffers(One(bytes), Box::new(on_done), |One(bytes)| Box::new(One(bytes.to_vec())))
    }

    fn write_buffers<T: Buffers>(
        &self,
        buffers: T,
        on_done: OnDone,
        keep: impl FnOnce(T) -> Box<dyn Buffers>,
    ) -> Result<()> {
        let callbacks = &self.owner().0.callbacks;
        let request = callbacks.add_request(on_done)?;
        let written = self.with(|core, key| Ok(core.write(key, request, buffers, keep)));
        // Whatever is handed back is dropped at the end of this function, where nothing is borrowed.
        let (error, _buffers) = match written {
            Ok(Ok(_progress)) => return Ok(()),
            Ok(Err(Refused { error, given })) => (error, Some(given)),
            Err(error) => (error, None),
        };
        drop(callbacks.take_request(request));
        Err(error)
    }

    /// Sends what the kernel takes at once, and returns how many bytes that was.
    ///
    /// # Errors
    /// EAGAIN when it takes nothing, or when bytes are queued; else as [`Tcp::write`], and as the connection fails.
    #[doc(alias = "uv_try_write")]
    pub fn try_write(&self, bytes: &[u8]) -> Result<usize> {
        self.with(|core, key| core.try_write(key, &One(bytes)))
    }

    /// As [`Tcp::try_write`], from several buffers in a row.
    ///
    /// # Errors
    /// As [`Tcp::try_write`]; EINVAL for no buffer, or for more than 2^20.
    #[doc(alias = "uv_try_write")]
    pub fn try_write_vectored<T: AsRef<[u8]>>(&self, parts: &[T]) -> Result<usize> {
        self.with(|core, key| core.try_write(key, &Many(parts)))
    }

    /// Ends the writing side when everything written so far is sent: the peer reads the end of the stream. Nothing can
    /// be written any more, but reading goes on. `on_done` is called once, never inside this call. Phase: pending, poll
    /// or closing.
    ///
    /// # Errors
    /// ENOTCONN when not connected, or shut down before; EINVAL when closed.
    #[doc(alias = "uv_shutdown")]
    pub fn shutdown(&self, on_done: impl FnOnce(&Tcp, Result<()>) + 'static) -> Result<()> {
        self.request(Box::new(on_done), |core, key, request| core.shutdown(key, request))
    }

    /// Bytes of writes that the kernel has not taken, or whose failure was not told yet.
    #[doc(alias = "uv_stream_get_write_queue_size")]
    pub fn write_queue_size(&self) -> usize {
        self.with(|core, key| core.write_queue_size(key)).unwrap_or(0)
    }

    /// True from the moment it is connected until its reading side fails.
    #[doc(alias = "uv_is_readable")]
    pub fn is_readable(&self) -> bool {
        self.with(|core, key| Ok(core.is_readable(key))).unwrap_or(false)
    }

    /// True from the moment it is connected until [`Tcp::shutdown`], or until it fails.
    #[doc(alias = "uv_is_writable")]
    pub fn is_writable(&self) -> bool {
        self.with(|core, key| Ok(core.is_writable(key))).unwrap_or(false)
    }

    /// The address the socket is bound to.
    ///
    /// # Errors
    /// EBADF without a socket; EADDRINUSE after a bind that found it so; EINVAL when closed.
    #[doc(alias = "uv_tcp_getsockname")]
    pub fn local_addr(&self) -> Result<SocketAddr> {
        self.with(|core, key| core.tcp_local_address(key))
    }

    /// The address of the other end.
    ///
    /// # Errors
    /// ENOTCONN; as [`Tcp::local_addr`].
    #[doc(alias = "uv_tcp_getpeername")]
    pub fn peer_addr(&self) -> Result<SocketAddr> {
        self.with(|core, key| core.tcp_peer_address(key))
    }
}
