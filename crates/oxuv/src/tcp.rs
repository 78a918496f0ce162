//! TCP listeners and connections.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use oxuv_core::linux::check_stream;

use crate::handle::is_a_handle;
use crate::stream::{self, is_a_stream, listens};
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
is_a_stream!(Tcp, tcp);
listens!(Tcp);

impl Tcp {
    /// A new handle, without a socket: it gets one by [`Tcp::bind`], [`Tcp::listen`], [`Tcp::connect`] or [`Tcp::open`].
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_tcp_init")]
    #[track_caller]
    pub fn new(owner: &LoopRef) -> Result<Tcp> {
        Ok(Tcp(Handle::make(owner, |core| core.tcp_init(0))?))
    }

    /// Takes over a socket that was made elsewhere: a [`TcpStream`](std::net::TcpStream), a
    /// [`TcpListener`](std::net::TcpListener) to be listened on, or any other
    /// that is a stream. It is made non-blocking.
    ///
    /// # Errors
    /// EINVAL when closing, EBUSY when it has a socket; ENOTSOCK, EPROTOTYPE when it is no stream. The descriptor is closed
    /// then.
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

    /// Connects to `address`. `on_done` is called once, never inside this call: with `Ok` when connected, with an error
    /// such as ECONNREFUSED or ETIMEDOUT when that has failed, with ECANCELED when the handle is closed before. Phase:
    /// poll, pending or closing. What is written meanwhile is sent afterwards.
    ///
    /// # Errors
    /// EINVAL when closing, EALREADY while connecting, EISCONN, and what the kernel knows at once: ENETUNREACH,
    /// EADDRNOTAVAIL; EMFILE, ENFILE, ENOBUFS, ENOMEM. `on_done` is not called then.
    #[doc(alias = "uv_tcp_connect")]
    pub fn connect(&self, address: SocketAddr, on_done: impl FnOnce(&Tcp, Result<()>) + 'static) -> Result<()> {
        stream::request(self, on_done, |core, key, request| core.tcp_connect(key, request, &address))
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

    /// As [`Tcp::close_reset`], and calls `on_close` in the closing phase: the last that is heard of the handle.
    ///
    /// # Errors
    /// As [`Tcp::close_reset`]; `on_close` is not called then.
    #[doc(alias = "uv_tcp_close_reset")]
    pub fn close_reset_then(&self, on_close: impl FnOnce(&Handle) + 'static) -> Result<()> {
        self.close_reset()?;
        self.0.on_close(on_close);
        Ok(())
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
