//! Unix sockets for tasks.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use super::Gate;
use super::traits::stream_type;
use crate::task::{Ticket, answer, here};
use crate::{Errno, Pipe, PipeName, Result};

stream_type! {
    /// A connection of Unix sockets, or an end of a pipe. Dropping it closes it; see [`net`](crate::net). Several tasks may
    /// wait for [the same](crate::net#several-tasks-at-one-end).
    UnixStream, Pipe, OwnedUnixReadHalf, OwnedUnixWriteHalf
}

impl UnixStream {
    /// Connects to the socket of this name: a path, or an [abstract](PipeName::Abstract) name.
    ///
    /// Cancel safety: if this is dropped, there is no connection.
    ///
    /// # Errors
    /// ENOENT, ECONNREFUSED, EACCES, EAGAIN when the listener's queue is full; EINVAL for a name that is none.
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn connect(name: impl Into<PipeName>) -> impl Future<Output = io::Result<UnixStream>> {
        let site = Location::caller();
        async move {
            let stream = UnixStream::of(here::made_at(site, || Pipe::new(&here::current()))?, false);
            answer(|teller| stream.as_handle().connect(name, |_, result| teller.tell(result)).map(|()| None)).await?;
            Ok(stream)
        }
    }

    /// Two that are connected to each other.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = Pipe::pair(&here::current())?;
        Ok((UnixStream::of(one, false), UnixStream::of(other, false)))
    }
}

/// Listens for connections of Unix sockets. Dropping it ends that, and removes the socket's file. Several tasks may
/// [wait](crate::net#several-tasks-at-one-end) for them.
pub struct UnixListener {
    handle: Pipe,
    gate: Rc<Gate>,
}

impl UnixListener {
    /// Listens at this name: a path, or an [abstract](PipeName::Abstract) name.
    ///
    /// # Errors
    /// EADDRINUSE, EACCES, ENOENT; EINVAL for a name that is none.
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn bind(name: impl Into<PipeName>) -> io::Result<UnixListener> {
        let handle = Pipe::new(&here::current())?;
        let bound = handle.bind(name).and_then(|()| UnixListener::listen(&handle));
        match bound {
            Ok(listener) => Ok(listener),
            Err(error) => {
                handle.close()?;
                Err(error.into())
            }
        }
    }

    /// Takes over a bound handle, and has it listen. It is closed with the listener.
    ///
    /// # Errors
    /// Those of [`Pipe::listen`]; the handle stays open then.
    pub fn from_handle(handle: &Pipe) -> io::Result<UnixListener> {
        Ok(UnixListener::listen(handle)?)
    }

    fn listen(handle: &Pipe) -> Result<UnixListener> {
        let gate = Gate::listening(handle)?;
        Ok(UnixListener { handle: handle.clone(), gate })
    }

    /// Waits for a connection.
    ///
    /// Cancel safety: if this is dropped, no connection is lost: the next call gets it.
    ///
    /// # Errors
    /// As [`TcpListener::accept`](super::TcpListener::accept).
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<UnixStream>> {
        let site = Location::caller();
        async move {
            let waiter = self.gate.reader.waiters.enter();
            poll_fn(|context| here::made_at(site, || self.poll_accept_by(waiter.ticket(), context))).await
        }
    }

    /// As [`UnixListener::accept`], for those who write futures by hand. Of those who call this, the
    /// last is woken.
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        self.poll_accept_by(Ticket::LAST_POLLED, context)
    }

    fn poll_accept_by(&self, whose: Ticket<'_>, context: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        ready!(self.handle.owner().0.tasks.take_share(context));
        match self.handle.accept() {
            Ok(handle) => Poll::Ready(Ok(UnixStream::of(handle, true))),
            Err(Errno::EAGAIN) => self.gate.poll_failed(&self.handle.owner().0, whose, context),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// The handle. To close it ends the listener.
    pub fn as_handle(&self) -> &Pipe {
        &self.handle
    }
}

impl Drop for UnixListener {
    fn drop(&mut self) {
        let _ = self.handle.close();
    }
}

impl fmt::Debug for UnixListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnixListener").field(&self.handle).finish()
    }
}
