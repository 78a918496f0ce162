//! UDP for tasks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use super::address::{ToSocketAddrs, lookup_host, try_each};
use crate::task::{Ticket, Waiters, answer, here};
use crate::{Datagram, Errno, Result, Route, Udp};

/// A UDP socket. Dropping it closes it; datagrams that were sent by then and wait for room are lost. Several tasks may
/// [wait](crate::net#several-tasks-at-one-end) for datagrams.
pub struct UdpSocket {
    handle: Udp,
    inbox: Rc<Inbox>,
}

/// A datagram and its sender.
type Received = Result<(Vec<u8>, Option<SocketAddr>)>;

/// What has come and nobody has taken.
#[derive(Default)]
struct Inbox {
    come: RefCell<VecDeque<Received>>,
    waiters: Waiters,
}

/// With so many that nobody has taken, the rest waits in the kernel. More may come along with the last.
const FULL: usize = 16;

impl UdpSocket {
    /// A socket at the first of the addresses that can be had; port 0 is any free one.
    ///
    /// Cancel safety: if this is dropped, there is no socket.
    ///
    /// # Errors
    /// EADDRINUSE, EADDRNOTAVAIL, EACCES; those of [`lookup_host`].
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

    /// Takes over a handle. It is closed with the socket.
    pub fn from_handle(handle: Udp) -> UdpSocket {
        UdpSocket { handle, inbox: Rc::default() }
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
    /// EMSGSIZE, EISCONN, ENETUNREACH; those of [`lookup_host`].
    pub async fn send_to(&self, bytes: &[u8], to: impl ToSocketAddrs) -> io::Result<usize> {
        let addresses = lookup_host(to).await?;
        let to = addresses.first().copied().ok_or(Errno::EINVAL)?;
        self.send_by(bytes, to.into()).await
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
        let waiter = self.inbox.waiters.enter();
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
        whose: Ticket,
        context: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        ready!(self.handle.owner().0.tasks.take_share(context));
        let next = self.inbox.come.borrow_mut().pop_front();
        match next {
            Some(Ok((bytes, from))) => {
                let count = bytes.len().min(buf.len());
                buf[..count].copy_from_slice(&bytes[..count]);
                let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
                Poll::Ready(Ok((count, from.unwrap_or(nobody))))
            }
            Some(Err(error)) => Poll::Ready(Err(error.into())),
            None => {
                self.inbox.waiters.wait(&self.handle.owner().0, whose, context);
                let inbox = Rc::clone(&self.inbox);
                match self.handle.receive_start(move |handle, datagram| take_in(&inbox, handle, datagram)) {
                    // It receives already.
                    Ok(()) | Err(Errno::EALREADY) => Poll::Pending,
                    Err(error) => Poll::Ready(Err(error.into())),
                }
            }
        }
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

/// Something has come.
fn take_in(inbox: &Rc<Inbox>, handle: &Udp, datagram: Result<Datagram<'_>>) {
    let is_full = {
        let mut come = inbox.come.borrow_mut();
        come.push_back(datagram.map(|datagram| (datagram.bytes.to_vec(), datagram.from)));
        come.len() == FULL
    };
    if is_full {
        // Not here: what was received along with this would be lost.
        let (inbox, handle) = (Rc::clone(inbox), handle.clone());
        handle.owner().clone().spawn_local(async move {
            if inbox.come.borrow().len() >= FULL {
                let _ = handle.receive_stop();
            }
        });
    }
    inbox.waiters.wake(&handle.owner().0);
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
