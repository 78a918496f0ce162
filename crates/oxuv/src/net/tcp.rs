//! TCP for tasks.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use super::Gate;
use super::address::{ToSocketAddrs, try_each};
use super::traits::stream_type;
use crate::callbacks::Callback;
use crate::loop_::Inner;
use crate::task::{Ticket, answer, here};
use crate::{Errno, Handle, Keepalive, Result, Tcp};

stream_type! {
    /// A TCP connection. Dropping it closes it; see [`net`](crate::net). Several tasks may wait for [the
    /// same](crate::net#several-tasks-at-one-end).
    TcpStream, Tcp, OwnedReadHalf, OwnedWriteHalf
}

impl TcpStream {
    /// Connects to the first of the addresses that can be connected to.
    ///
    /// Cancel safety: if this is dropped, there is no connection.
    ///
    /// # Errors
    /// ECONNREFUSED, ETIMEDOUT and others of the last address; those of [`lookup_host`](super::lookup_host).
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn connect(address: impl ToSocketAddrs) -> impl Future<Output = io::Result<TcpStream>> {
        let site = Location::caller();
        try_each(site, address, async move |address| {
            // It is closed if this does not come to its end.
            let stream = TcpStream::of(here::made_at(site, || Tcp::new(&here::current()))?, false);
            answer(|teller| stream.as_handle().connect(address, |_, result| teller.tell(result)).map(|()| None))
                .await?;
            Ok(stream)
        })
    }

    /// Takes over a connected socket of the standard library's.
    ///
    /// # Errors
    /// ENOMEM.
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn from_std(socket: std::net::TcpStream) -> io::Result<TcpStream> {
        let stream = TcpStream::of(Tcp::new(&here::current())?, true);
        stream.as_handle().open(socket)?;
        Ok(stream)
    }

    /// As [`Tcp::local_addr`].
    ///
    /// # Errors
    /// As that.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.as_handle().local_addr()?)
    }

    /// As [`Tcp::peer_addr`].
    ///
    /// # Errors
    /// As that.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.as_handle().peer_addr()?)
    }

    /// As [`Tcp::set_nodelay`].
    ///
    /// # Errors
    /// As that.
    pub fn set_nodelay(&self, on: bool) -> io::Result<()> {
        Ok(self.as_handle().set_nodelay(on)?)
    }

    /// As [`Tcp::set_keepalive`].
    ///
    /// # Errors
    /// As that.
    pub fn set_keepalive(&self, keepalive: Option<Keepalive>) -> io::Result<()> {
        Ok(self.as_handle().set_keepalive(keepalive)?)
    }
}

/// How many connections wait for being taken, as the standard library has it.
const BACKLOG: i32 = 128;

/// Listens for TCP connections. Dropping it ends that. Several tasks may [wait](crate::net#several-tasks-at-one-end) for them.
pub struct TcpListener {
    handle: Tcp,
    gate: Rc<Gate>,
}

impl TcpListener {
    /// Listens at the first of the addresses that can be had; port 0 is any free one.
    ///
    /// Cancel safety: if this is dropped, there is no listener.
    ///
    /// # Errors
    /// EADDRINUSE, EADDRNOTAVAIL, EACCES; those of [`lookup_host`](super::lookup_host).
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn bind(address: impl ToSocketAddrs) -> impl Future<Output = io::Result<TcpListener>> {
        let site = Location::caller();
        try_each(site, address, async move |address| {
            let handle = here::made_at(site, || Tcp::new(&here::current()))?;
            let bound = handle.bind(address).and_then(|()| TcpListener::listen(&handle));
            match bound {
                Ok(listener) => Ok(listener),
                Err(error) => {
                    handle.close()?;
                    Err(error.into())
                }
            }
        })
    }

    /// Takes over a bound handle, and has it listen. It is closed with the listener.
    ///
    /// # Errors
    /// Those of [`Tcp::listen`]; the handle stays open then.
    pub fn from_handle(handle: &Tcp) -> io::Result<TcpListener> {
        Ok(TcpListener::listen(handle)?)
    }

    fn listen(handle: &Tcp) -> Result<TcpListener> {
        let gate = Gate::listening(handle)?;
        Ok(TcpListener { handle: handle.clone(), gate })
    }

    /// Waits for a connection.
    ///
    /// Cancel safety: if this is dropped, no connection is lost: the next call gets it.
    ///
    /// # Errors
    /// EMFILE, ENFILE: one has come, and there is no descriptor for it. More may come later. Any other: the listener
    /// has failed.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> {
        let site = Location::caller();
        async move {
            let waiter = self.gate.reader.waiters.enter();
            poll_fn(|context| here::made_at(site, || self.poll_accept_by(waiter.ticket(), context))).await
        }
    }

    /// As [`TcpListener::accept`], for those who write futures by hand. Of those who call this, the
    /// last is woken.
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        self.poll_accept_by(Ticket::LAST_POLLED, context)
    }

    fn poll_accept_by(
        &self,
        whose: Ticket<'_>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        ready!(self.handle.owner().0.tasks.take_share(context));
        match self.handle.accept() {
            Ok(handle) => {
                let stream = TcpStream::of(handle, true);
                let peer = stream.peer_addr();
                // One that is gone by now is taken all the same: its reader hears of it.
                Poll::Ready(peer.or_else(|_| Ok(([0, 0, 0, 0], 0).into())).map(|peer| (stream, peer)))
            }
            Err(Errno::EAGAIN) => self.gate.poll_failed(&self.handle.owner().0, whose, context),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// As [`Tcp::local_addr`].
    ///
    /// # Errors
    /// As that.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.handle.local_addr()?)
    }

    /// The handle. To close it ends the listener.
    pub fn as_handle(&self) -> &Tcp {
        &self.handle
    }
}

impl Gate {
    /// Has a handle listen, for tasks.
    pub(super) fn listening(handle: &Handle) -> Result<Rc<Gate>> {
        handle.check_no_tasks()?;
        handle.with(|core, key| core.listen(key, BACKLOG))?;
        let gate = handle.owner().0.gates.make();
        handle.set_callback(Callback::Ready(Rc::clone(&gate)));
        Ok(gate)
    }

    /// A listener was told of a connection, or of an error.
    pub(crate) fn connection(&self, inner: &Inner, result: Result<()>) {
        self.failed.set(result.err());
        self.reader.open(inner);
    }

    /// There is no connection: waits for one, unless an error was told.
    pub(super) fn poll_failed<T>(
        &self,
        inner: &Inner,
        whose: Ticket<'_>,
        context: &Context<'_>,
    ) -> Poll<io::Result<T>> {
        match self.failed.get() {
            None => {
                self.reader.waiters.wait(inner, whose, context);
                Poll::Pending
            }
            Some(error) => {
                if matches!(error, Errno::EMFILE | Errno::ENFILE) {
                    self.failed.set(None);
                }
                Poll::Ready(Err(error.into()))
            }
        }
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        let _ = self.handle.close();
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TcpListener").field(&self.handle).finish()
    }
}
