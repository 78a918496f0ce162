//! UDP handles.

use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;

use oxuv_core::kernel::{Batch, Received};
use oxuv_core::linux::check_datagrams;
use oxuv_core::{DATAGRAM_SIZE, InternetAddress, One, Refused};

use crate::callbacks::{Callback, OnSent, Table, call};
use crate::datagram::{Datagram, Route};
use crate::handle::is_a_handle;
use crate::kept::Kept;
use crate::loop_::Inner;
use crate::{Errno, Handle, Interface, LoopRef, Result, UdpBindFlags, UdpOption};

/// Sends and receives datagrams.
///
/// ```
/// use oxuv::{Loop, Mode, Udp};
///
/// let lp = Loop::new()?;
/// let server = Udp::new(&lp)?;
/// server.bind(([127, 0, 0, 1], 0).into())?;
/// server.receive_start(|server, datagram| {
///     assert_eq!(datagram.unwrap().bytes, b"hello");
///     server.close().unwrap();
/// })?;
/// let client = Udp::new(&lp)?;
/// client.send("hello", server.local_addr()?, |client, sent| {
///     sent.unwrap();
///     client.close().unwrap();
/// })?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[doc(alias = "uv_udp_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Udp(pub(crate) Handle);

is_a_handle!(Udp);

/// The datagrams that are received at a time by [`Udp::receiving_several`].
const SEVERAL: usize = 20;

impl Udp {
    /// A new handle, without a socket: it gets one by [`Udp::bind`], [`Udp::connect`] or [`Udp::open`], or is bound to
    /// any address by what needs a socket first.
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_udp_init")]
    #[track_caller]
    pub fn new(owner: &LoopRef) -> Result<Udp> {
        Ok(Udp(Handle::make(owner, |core| core.udp_init(0, false))?))
    }

    /// As [`Udp::new`], for much traffic: up to 20 datagrams are received by one system call. The closure is called for
    /// each, as ever.
    ///
    /// # Errors
    /// As [`Udp::new`].
    #[doc(alias = "UV_UDP_RECVMMSG")]
    #[track_caller]
    pub fn receiving_several(owner: &LoopRef) -> Result<Udp> {
        Ok(Udp(Handle::make(owner, |core| core.udp_init(0, true))?))
    }

    /// Takes over a socket that was made elsewhere: a [`UdpSocket`](std::net::UdpSocket), or any other that sends and
    /// receives datagrams, connected or not. It is made non-blocking.
    ///
    /// # Errors
    /// EINVAL when closing, EBUSY when it has a socket; ENOTSOCK, EPROTOTYPE when it is none of datagrams. The descriptor is
    /// closed then.
    #[doc(alias = "uv_udp_open")]
    pub fn open(&self, socket: impl Into<OwnedFd>) -> Result<()> {
        let (socket, flags) = (socket.into().into(), UdpBindFlags::default());
        self.with(|core, key| {
            check_datagrams(&socket)?;
            core.udp_open(key, socket, flags).map_err(|refused| refused.error)
        })
    }

    /// Binds the handle to an address; port 0 is any free one.
    ///
    /// # Errors
    /// EADDRINUSE; EINVAL when closing, or for a second bind; EADDRNOTAVAIL, EACCES; EMFILE, ENFILE, ENOBUFS, ENOMEM.
    #[doc(alias = "uv_udp_bind")]
    pub fn bind(&self, address: SocketAddr) -> Result<()> {
        self.bind_with(address, UdpBindFlags::default())
    }

    /// As [`Udp::bind`], with flags.
    ///
    /// # Errors
    /// As [`Udp::bind`]; EINVAL for `ipv6_only` with an IPv4 address.
    #[doc(alias = "uv_udp_bind")]
    pub fn bind_with(&self, address: SocketAddr, flags: UdpBindFlags) -> Result<()> {
        self.with(|core, key| core.udp_bind(key, &address, flags))
    }

    /// Connects the handle: it sends to this address, and receives from it only. That somebody refuses what is sent is
    /// told by ECONNREFUSED, of a later send or to the closure that receives.
    ///
    /// # Errors
    /// EISCONN when it is connected; EINVAL when closing; ENETUNREACH and others of the system; as [`Udp::bind`].
    #[doc(alias = "uv_udp_connect")]
    pub fn connect(&self, address: SocketAddr) -> Result<()> {
        self.with(|core, key| core.udp_connect(key, Some(&address)))
    }

    /// Ends what [`Udp::connect`] has begun. Linux also takes the port back if it had chosen that itself; the next send
    /// gives the handle another.
    ///
    /// # Errors
    /// ENOTCONN when it is not connected; EINVAL when closing.
    #[doc(alias = "uv_udp_connect")]
    pub fn disconnect(&self) -> Result<()> {
        self.with(|core, key| core.udp_connect(key, None))
    }

    /// True between [`Udp::connect`] and [`Udp::disconnect`].
    pub fn is_connected(&self) -> bool {
        self.with(|core, key| Ok(core.udp_is_connected(key))).unwrap_or(false)
    }

    /// Sends a datagram to an address, or with `None` to the one that the handle is connected to; a [`Route`] says more.
    /// `bytes` may be anything that owns them: a `Vec`, a `String`, an `Arc<[u8]>`, a `&'static` slice. They are not copied.
    /// Datagrams that the system does not take at once follow as it does, in their order, up to 20 by one system call.
    ///
    /// `on_done` is called once, never inside this call: with `Ok` when the system has taken the datagram, which says
    /// nothing about its arrival; with EMSGSIZE when it is too large, with ECONNREFUSED, ENETUNREACH and others; with
    /// ECANCELED when the handle is closed before. Phase: pending, poll or closing.
    ///
    /// # Errors
    /// EISCONN for an address when connected, EDESTADDRREQ without one when not; EINVAL when closing, for more than
    /// 2^31-1 bytes, or for a source address of the other family; ENOMEM; as [`Udp::bind`]. `on_done` is not called then.
    #[doc(alias = "uv_udp_send")]
    pub fn send<T>(
        &self,
        bytes: T,
        to: impl Into<Route>,
        on_done: impl FnOnce(&Udp, Result<()>) + 'static,
    ) -> Result<()>
    where
        T: AsRef<[u8]> + 'static,
    {
        self.send_any(bytes, None, to.into(), on_done)
    }

    /// Sends many datagrams of one size: `bytes`, cut apart at each `segment_size` bytes; the last may be smaller. Up to
    /// 64 of them and 64 KiB go by one system call, and the system works on them as on one. Where it cannot, they go as
    /// others do. Whoever receives them cannot tell.
    ///
    /// `on_done` is called once for all of them, as that of [`Udp::send`]. After an error those before it have gone, and
    /// those behind it have not.
    ///
    /// ```
    /// use oxuv::{Loop, Mode, Udp, UdpOption};
    ///
    /// let lp = Loop::new()?;
    /// let server = Udp::new(&lp)?;
    /// server.bind(([127, 0, 0, 1], 0).into())?;
    /// // The same for what is received: less work for the system, and the closure gets each datagram all the same.
    /// server.set(UdpOption::Coalesce(true))?;
    /// let mut sizes = Vec::new();
    /// server.receive_start(move |server, datagram| {
    ///     sizes.push(datagram.unwrap().bytes.len());
    ///     if sizes == [1200, 1200, 600] {
    ///         server.close().unwrap();
    ///     }
    /// })?;
    /// let client = Udp::new(&lp)?;
    /// client.send_segments(vec![0; 3000], 1200, server.local_addr()?, |client, sent| {
    ///     sent.unwrap();
    ///     client.close().unwrap();
    /// })?;
    /// lp.run(Mode::Default)?;
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    ///
    /// # Errors
    /// EINVAL for a `segment_size` of 0; else as [`Udp::send`].
    #[doc(alias = "UDP_SEGMENT")]
    pub fn send_segments<T>(
        &self,
        bytes: T,
        segment_size: u16,
        to: impl Into<Route>,
        on_done: impl FnOnce(&Udp, Result<()>) + 'static,
    ) -> Result<()>
    where
        T: AsRef<[u8]> + 'static,
    {
        let size = NonZeroU16::new(segment_size).ok_or(Errno::EINVAL)?;
        self.send_any(bytes, Some(size), to.into(), on_done)
    }

    fn send_any<T>(
        &self,
        bytes: T,
        segment_size: Option<NonZeroU16>,
        route: Route,
        on_done: impl FnOnce(&Udp, Result<()>) + 'static,
    ) -> Result<()>
    where
        T: AsRef<[u8]> + 'static,
    {
        let on_done: OnSent = Box::new(on_done);
        let address = route.address();
        let to = route.target(address.as_ref(), segment_size);
        // Whatever is handed back is dropped at the end of this function, where nothing is borrowed.
        let sent = self.owner().0.request(
            |requests| &mut requests.sent,
            on_done,
            |core, request| {
                let sent = core.udp_send(self.key(), request, to, One(bytes), Kept::one);
                sent.map_err(|Refused { error, given }| (error, Some(given)))
            },
        );
        sent.map(drop).map_err(|(error, _)| error)
    }

    /// Sends a datagram if the system takes it at once, and returns its number of bytes.
    ///
    /// # Errors
    /// EAGAIN when it does not, or while there are sends that are not told; else as [`Udp::send`] and what the system says
    /// of the datagram.
    #[doc(alias = "uv_udp_try_send")]
    pub fn try_send(&self, bytes: &[u8], to: impl Into<Route>) -> Result<usize> {
        let route = to.into();
        let address = route.address();
        self.with(|core, key| core.udp_try_send(key, route.target(address.as_ref(), None), &One(bytes)))
    }

    /// Sends as many of the datagrams as the system takes at once, in their order, up to 20 by one system call. Returns
    /// how many that was.
    ///
    /// # Errors
    /// EINVAL for no datagram; when none was sent, as [`Udp::try_send`].
    #[doc(alias = "uv_udp_try_send2")]
    pub fn try_send_several<T: AsRef<[u8]>>(&self, datagrams: &[(T, Option<SocketAddr>)]) -> Result<usize> {
        let get = |nth: usize| {
            let (bytes, to) = &datagrams[nth];
            Ok((One(bytes.as_ref()), to.as_ref().map(InternetAddress::from)))
        };
        self.with(|core, key| core.udp_try_send_several(key, datagrams.len(), get))
    }

    /// Receives: `callback` gets each datagram that comes, until [`Udp::receive_stop`]. An error tells what a datagram
    /// sent before has met with, such as ECONNREFUSED; receiving goes on. Phase: poll.
    ///
    /// Of several that were received by one system call, by [`Udp::receiving_several`] or [`UdpOption::Coalesce`], the
    /// rest is dropped when the closure stops receiving or closes the handle.
    ///
    /// # Errors
    /// EINVAL when closing, EALREADY when it is receiving or [tasks](crate::net::UdpSocket) have it; EEXIST when a
    /// [`Poll`](crate::Poll) of this loop waits for its descriptor; as [`Udp::bind`].
    #[doc(alias = "uv_udp_recv_start")]
    pub fn receive_start(&self, callback: impl FnMut(&Udp, Result<Datagram<'_>>) + 'static) -> Result<()> {
        self.check_no_tasks()?;
        self.with(|core, key| core.udp_receive_start(key))?;
        self.set_callback(Callback::Receive(Box::new(callback)));
        Ok(())
    }

    /// Stops receiving. Stopped is stopped: again does nothing. What comes waits in the system, as far as it has room.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_udp_recv_stop")]
    pub fn receive_stop(&self) -> Result<()> {
        self.with(|core, key| core.udp_receive_stop(key))
    }

    /// Sets an option of the socket.
    ///
    /// # Errors
    /// EBADF without a socket; EINVAL when closing, or for a ttl of 0; what the system says. Where the system cannot
    /// coalesce, [`UdpOption::Coalesce`] is no error, and has no effect.
    #[doc(alias = "uv_udp_set_broadcast")]
    #[doc(alias = "uv_udp_set_ttl")]
    #[doc(alias = "uv_udp_set_multicast_ttl")]
    #[doc(alias = "uv_udp_set_multicast_loop")]
    #[doc(alias = "uv_udp_set_multicast_interface")]
    pub fn set(&self, option: UdpOption) -> Result<()> {
        self.with(|core, key| core.udp_set(key, option))
    }

    /// Joins a group: what is sent to it is received. `None` leaves the choice of the interface to the system. A handle
    /// without a socket is bound first.
    ///
    /// # Errors
    /// EADDRINUSE when it was joined already; ENODEV when there is no such interface, or none for the group; EINVAL when
    /// it is no group, or when closing.
    #[doc(alias = "uv_udp_set_membership")]
    pub fn join(&self, group: IpAddr, interface: Option<Interface>) -> Result<()> {
        self.set(UdpOption::Membership { group, interface, source: None, join: true })
    }

    /// Leaves a group.
    ///
    /// # Errors
    /// EADDRNOTAVAIL when it was not joined; else as [`Udp::join`].
    #[doc(alias = "uv_udp_set_membership")]
    pub fn leave(&self, group: IpAddr, interface: Option<Interface>) -> Result<()> {
        self.set(UdpOption::Membership { group, interface, source: None, join: false })
    }

    /// As [`Udp::join`], for what comes from the address `source` only.
    ///
    /// # Errors
    /// As [`Udp::join`]; EINVAL for a `source` of the other family.
    #[doc(alias = "uv_udp_set_source_membership")]
    pub fn join_source(&self, group: IpAddr, interface: Option<Interface>, source: IpAddr) -> Result<()> {
        self.set(UdpOption::Membership { group, interface, source: Some(source), join: true })
    }

    /// Ends what [`Udp::join_source`] has begun.
    ///
    /// # Errors
    /// As [`Udp::leave`].
    #[doc(alias = "uv_udp_set_source_membership")]
    pub fn leave_source(&self, group: IpAddr, interface: Option<Interface>, source: IpAddr) -> Result<()> {
        self.set(UdpOption::Membership { group, interface, source: Some(source), join: false })
    }

    /// Bytes of datagrams whose sending was not told yet.
    #[doc(alias = "uv_udp_get_send_queue_size")]
    pub fn send_queue_size(&self) -> usize {
        self.with(|core, key| core.udp_send_queue(key)).map_or(0, |(_, size)| size)
    }

    /// Datagrams whose sending was not told yet.
    #[doc(alias = "uv_udp_get_send_queue_count")]
    pub fn send_queue_count(&self) -> usize {
        self.with(|core, key| core.udp_send_queue(key)).map_or(0, |(count, _)| count)
    }

    /// The address the socket is bound to.
    ///
    /// # Errors
    /// EBADF without a socket; EAFNOSUPPORT when it is not an internet address; EINVAL when closed.
    #[doc(alias = "uv_udp_getsockname")]
    pub fn local_addr(&self) -> Result<SocketAddr> {
        self.with(|core, key| core.udp_local_address(key))
    }

    /// The address the socket is connected to.
    ///
    /// # Errors
    /// ENOTCONN; as [`Udp::local_addr`].
    #[doc(alias = "uv_udp_getpeername")]
    pub fn peer_addr(&self) -> Result<SocketAddr> {
        self.with(|core, key| core.udp_peer_address(key))
    }

    /// There is something to receive. The buffer is the loop's, and belongs to this call until the callbacks are over.
    pub(crate) fn receive(&self, inner: &Inner, table: &Table) {
        let Ok(several) = self.with(|core, key| Ok(core.udp_receives_several(key))) else { return };
        let (place, size) = if several { (&inner.wide_buffer, SEVERAL) } else { (&inner.buffer, 1) };
        let mut buffer = place.take().unwrap_or_else(|| Box::new_uninit_slice(size * DATAGRAM_SIZE));
        if several {
            self.receive_several_into(&mut buffer, table)
        } else {
            self.receive_one_into(&mut buffer, table)
        }
        place.set(Some(buffer));
    }

    fn receive_one_into(&self, buffer: &mut [MaybeUninit<u8>], table: &Table) {
        let mut received = Received::none();
        match self.with(|core, key| core.udp_receive_into(key, buffer, &mut received)) {
            // There was nothing after all. A Rust callback has no buffer of its own to get back, so it hears nothing.
            Ok(false) => {}
            Ok(true) => self.tell_all(&received, true, table),
            Err(error) => self.tell(Err(error), table),
        }
    }

    fn receive_several_into(&self, buffer: &mut [MaybeUninit<u8>], table: &Table) {
        let mut batch = Batch::default();
        match self.with(|core, key| core.udp_receive_several_into(key, buffer, &mut batch)) {
            Ok(()) => {
                for nth in 0..batch.len() {
                    self.tell_all(batch.get(nth), nth == 0, table);
                }
            }
            Err(error) => self.tell(Err(error), table),
        }
    }

    /// One after the other, as one of the callbacks may stop or close the handle.
    fn tell_all(&self, received: &Received<'_>, mut is_first: bool, table: &Table) {
        for datagram in Datagram::all_of(received) {
            if std::mem::take(&mut is_first) || self.with(|core, key| Ok(core.udp_is_receiving(key))) == Ok(true) {
                self.tell(Ok(datagram), table);
            }
        }
    }

    fn tell(&self, datagram: Result<Datagram<'_>>, table: &Table) {
        call!(table, self.key(), Receive, |callback| callback(self, datagram));
        // The next datagram is for the closure that this one may have given the handle.
        let callbacks = &self.owner().0.callbacks;
        if callbacks.is_behind() {
            callbacks.catch_up();
        }
    }

    /// A send is over.
    pub(crate) fn sent(&self, inner: &Inner, send: u32, result: Result<()>) {
        let over = inner.with_requests(|core, requests| Ok((core.take_buffers(), requests.sent.take(send))));
        let Ok((bytes, on_done)) = over else { return };
        drop(bytes);
        if let Some(on_done) = on_done {
            on_done(self, result);
        }
    }
}
