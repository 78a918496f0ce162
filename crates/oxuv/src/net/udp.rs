//! UDP for tasks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use oxuv_core::kernel::Received;

use super::Gate;
use super::address::{ToSocketAddrs, first_of, try_each};
use crate::callbacks::Callback;
use crate::task::{Ticket, answer, here};
use crate::{Datagram, Errno, Result, Route, Udp};

/// Who has sent a datagram that says nothing of its sender.
const NOBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// A UDP socket. Dropping it closes it; datagrams that were sent by then and wait for room are lost. Several tasks may
/// [wait](crate::net#several-tasks-at-one-end) for datagrams.
pub struct UdpSocket {
    handle: Udp,
    gate: Rc<Gate>,
    /// Datagrams that were received as one with others, whose turn has not come.
    others: RefCell<VecDeque<(Vec<u8>, SocketAddr)>>,
}

impl UdpSocket {
    /// A socket at the first of the addresses that can be had; port 0 is any free one.
    ///
    /// Cancel safety: if this is dropped, there is no socket.
    ///
    /// # Errors
    /// EADDRINUSE, EADDRNOTAVAIL, EACCES; those of [`lookup_host`](super::lookup_host).
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn bind(address: impl ToSocketAddrs) -> impl Future<Output = io::Result<UdpSocket>> {
        let site = Location::caller();
        try_each(site, address, async move |address| {
            let socket = UdpSocket::from_handle(here::made_at(site, || Udp::new(&here::current()))?);
            socket.handle.bind(address)?;
            Ok(socket)
        })
    }

    /// Takes over a handle, with whose closure nothing happens any more. It is closed with the socket.
    pub fn from_handle(handle: Udp) -> UdpSocket {
        // What its closure would have heard is the tasks'. Of one that is closed, they hear that.
        let _ = handle.receive_stop();
        let gate = handle.owner().0.gates.make();
        gate.reader.is_open.set(true);
        handle.set_callback(Callback::Ready(Rc::clone(&gate)));
        UdpSocket { handle, gate, others: RefCell::default() }
    }

    /// The handle, for its options. To close it ends the socket.
    pub fn as_handle(&self) -> &Udp {
        &self.handle
    }

    /// Connects the socket: [`send`](UdpSocket::send) goes there, and datagrams of others are not received.
    ///
    /// Cancel safety: if this is dropped, the socket is as it was.
    ///
    /// # Errors
    /// ENETUNREACH, EADDRNOTAVAIL; EISCONN.
    #[track_caller]
    pub fn connect(&self, address: impl ToSocketAddrs) -> impl Future<Output = io::Result<()>> {
        try_each(Location::caller(), address, async |address| Ok(self.handle.connect(address)?))
    }

    /// Sends a datagram to the first of these addresses.
    ///
    /// Cancel safety: if this is dropped, it was sent whole, or not at all.
    ///
    /// # Errors
    /// EMSGSIZE, EISCONN, ENETUNREACH; those of [`lookup_host`](super::lookup_host).
    #[track_caller]
    pub fn send_to(&self, bytes: &[u8], to: impl ToSocketAddrs) -> impl Future<Output = io::Result<usize>> {
        let site = Location::caller();
        async move {
            let to = first_of(site, to).await?;
            self.send_by(bytes, to.into()).await
        }
    }

    /// Sends a datagram to whom the socket is connected to.
    ///
    /// Cancel safety: as [`send_to`](UdpSocket::send_to).
    ///
    /// # Errors
    /// EDESTADDRREQ when it is not connected; ECONNREFUSED when one before was refused; EMSGSIZE.
    pub async fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send_by(bytes, Route::default()).await
    }

    async fn send_by(&self, bytes: &[u8], to: Route) -> io::Result<usize> {
        poll_fn(|context| self.handle.owner().0.tasks.take_share(context)).await;
        match self.handle.try_send(bytes, to) {
            Err(Errno::EAGAIN) => {
                let copy = bytes.to_vec();
                answer(|teller| self.handle.send(copy, to, |_, sent| teller.tell(sent)).map(|()| None)).await?;
                Ok(bytes.len())
            }
            sent => Ok(sent?),
        }
    }

    /// Waits for a datagram, and puts it into `buf`; what has no room there is lost. Returns its length and its sender.
    ///
    /// Cancel safety: if this is dropped, no datagram is lost: the next call gets it.
    ///
    /// # Errors
    /// ECONNREFUSED and others that one sent before has met with.
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let waiter = self.gate.reader.waiters.enter();
        poll_fn(|context| self.poll_recv_by(waiter.ticket(), context, buf)).await
    }

    /// As [`recv_from`](UdpSocket::recv_from), without the sender.
    ///
    /// Cancel safety: as that.
    ///
    /// # Errors
    /// As that.
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.recv_from(buf).await?.0)
    }

    /// As [`recv_from`](UdpSocket::recv_from), for those who write futures by hand. Of those who call this, the
    /// last is woken.
    pub fn poll_recv_from(&self, context: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<(usize, SocketAddr)>> {
        self.poll_recv_by(Ticket::LAST_POLLED, context, buf)
    }

    fn poll_recv_by(
        &self,
        whose: Ticket<'_>,
        context: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        ready!(self.handle.owner().0.tasks.take_share(context));
        if self.gate.reader.is_open.get() {
            match self.receive(buf) {
                Err(Errno::EAGAIN) => self.gate.reader.is_open.set(false),
                received => return Poll::Ready(Ok(received?)),
            }
        }
        self.gate.reader.waiters.wait(&self.handle.owner().0, whose, context);
        match self.handle.with(|core, key| core.udp_wait_ready(key)) {
            Ok(()) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// Receives what is there.
    #[inline]
    fn receive(&self, buf: &mut [u8]) -> Result<(usize, SocketAddr)> {
        let mut received = Received::none();
        let is_received = self.handle.with(|core, key| {
            if core.udp_may_coalesce(key) {
                return Ok(false);
            }
            core.udp_try_receive(key, buf.into(), &mut received)?;
            Ok(true)
        })?;
        if !is_received {
            return self.receive_coalesced(buf);
        }
        Ok((received.bytes.len(), SocketAddr::try_from(&received.from).unwrap_or(NOBODY)))
    }

    /// As [`UdpSocket::receive`], where what is received may be several: the first of them, and the others are kept.
    #[cold]
    fn receive_coalesced(&self, buf: &mut [u8]) -> Result<(usize, SocketAddr)> {
        let mut others = self.others.borrow_mut();
        if others.is_empty() {
            let inner = &*self.handle.owner().0;
            let mut buffer = inner.lender.lend();
            let mut received = Received::none();
            let result =
                self.handle.with(|core, key| core.udp_try_receive(key, buffer[..].as_mut().into(), &mut received));
            others.extend(
                Datagram::all_of(&received)
                    .filter(|_| result.is_ok())
                    .map(|datagram| (datagram.bytes.to_vec(), datagram.from.unwrap_or(NOBODY))),
            );
            inner.lender.take_back(buffer);
            result?;
        }
        let (bytes, from) = others.pop_front().ok_or(Errno::EAGAIN)?;
        let count = bytes.len().min(buf.len());
        buf[..count].copy_from_slice(&bytes[..count]);
        Ok((count, from))
    }

    /// As [`Udp::local_addr`].
    ///
    /// # Errors
    /// As that.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.handle.local_addr()?)
    }

    /// As [`Udp::peer_addr`].
    ///
    /// # Errors
    /// As that.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.handle.peer_addr()?)
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        let _ = self.handle.close();
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UdpSocket").field(&self.handle).finish()
    }
}
