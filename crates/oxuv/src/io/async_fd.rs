//! A descriptor of the program's own, for tasks.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use crate::task::{Ticket, Waiter, Waiters, here};
use crate::{Errno, LoopRef, Poll as PollHandle, Readiness, Result};

/// A descriptor that the program reads and writes itself, when the loop says that it is ready: a socket of the standard
/// library's or of a library's, a timer or inotify descriptor, the descriptor of another loop.
///
/// Several tasks may wait for the same: all are woken, and one that finds the descriptor not ready any more waits again.
///
/// It is made non-blocking. It is given back, or dropped, when the kernel has forgotten it.
///
/// ```
/// use oxuv::{Loop, io::AsyncFd};
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// let lp = Loop::new()?;
/// let (ours, mut theirs) = UnixStream::pair()?;
/// lp.block_on(async {
///     let ours = AsyncFd::new(ours)?;
///     theirs.write_all(b"hello")?;
///     let mut buf = [0; 16];
///     let count = ours.read_with(|mut socket| socket.read(&mut buf)).await?;
///     assert_eq!(&buf[..count], b"hello");
///     std::io::Result::Ok(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct AsyncFd<T: AsFd> {
    poll: PollHandle,
    sides: Rc<Sides>,
    /// `None` only while it is given back.
    inner: Option<T>,
}

/// Who waits for what.
#[derive(Default)]
struct Sides {
    read: Side,
    write: Side,
    /// What the loop watches it for.
    watched: Cell<Readiness>,
    failed: Cell<Option<Errno>>,
}

#[derive(Default)]
struct Side {
    is_ready: Cell<bool>,
    waiters: Waiters,
}

impl Sides {
    fn side(&self, interest: Readiness) -> &Side {
        if interest == Readiness::READ { &self.read } else { &self.write }
    }

    /// The descriptor is ready. What nobody has waited for since it last was is not watched any more: that it is goes on and on.
    fn tell(&self, poll: &PollHandle, ready: Result<Readiness>) {
        let told = ready.unwrap_or(Readiness::READ | Readiness::WRITE);
        if let Err(error) = ready {
            // The handle is stopped.
            self.failed.set(Some(error));
            self.watched.set(Readiness::empty());
        }
        let mut unwanted = Readiness::empty();
        for interest in [Readiness::READ, Readiness::WRITE] {
            if !told.contains(interest) {
                continue;
            }
            let side = self.side(interest);
            if side.waiters.wake(&poll.owner().0) {
                side.is_ready.set(true);
            } else {
                unwanted |= interest;
            }
        }
        if ready.is_ok() && !unwanted.is_empty() {
            self.watched.set(self.watched.get() - unwanted);
            // Of nothing, it is stopped.
            let _ = poll.set_interest(self.watched.get());
        }
    }
}

impl<T: AsFd> AsyncFd<T> {
    /// Takes a descriptor, for the loop that runs on this thread.
    ///
    /// # Errors
    /// EPERM when it cannot be polled (a regular file), EEXIST when a handle of this loop waits for it; ENOMEM.
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn new(inner: T) -> io::Result<AsyncFd<T>> {
        Ok(AsyncFd::of(&here::current(), inner)?)
    }

    #[track_caller]
    pub(crate) fn of(owner: &LoopRef, inner: T) -> Result<AsyncFd<T>> {
        let poll = PollHandle::new(owner, &inner)?;
        Ok(AsyncFd { poll, sides: Rc::default(), inner: Some(inner) })
    }

    /// Has its handle seen by nobody.
    pub(crate) fn hide(&self) -> Result<()> {
        self.poll.with(|core, key| core.hide(key))
    }

    /// The descriptor.
    ///
    /// # Panics
    /// Never: it is there until it is given back.
    pub fn get_ref(&self) -> &T {
        self.inner.as_ref().expect("it is given back with the whole")
    }

    /// The descriptor, of which the loop knows nothing any more.
    ///
    /// # Panics
    /// Never.
    pub fn into_inner(mut self) -> T {
        self.inner.take().expect("it is given back with the whole")
    }

    /// Waits until it may be read.
    ///
    /// Cancel safety: nothing is lost.
    ///
    /// # Errors
    /// EBADF when the descriptor has failed, or was closed.
    pub async fn readable(&self) -> io::Result<()> {
        let waiter = self.enter(Readiness::READ);
        poll_fn(|context| self.poll_ready(waiter.ticket(), context, Readiness::READ)).await
    }

    /// Waits until it may be written.
    ///
    /// Cancel safety: nothing is lost.
    ///
    /// # Errors
    /// As [`readable`](AsyncFd::readable).
    pub async fn writable(&self) -> io::Result<()> {
        let waiter = self.enter(Readiness::WRITE);
        poll_fn(|context| self.poll_ready(waiter.ticket(), context, Readiness::WRITE)).await
    }

    /// Tries `read` until it says something else than `WouldBlock`, each time that the descriptor may be read.
    ///
    /// Cancel safety: that of `read`, which is not under way when this is dropped.
    ///
    /// # Errors
    /// Those of `read`; as [`readable`](AsyncFd::readable).
    pub async fn read_with<R>(&self, mut read: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        let waiter = self.enter(Readiness::READ);
        poll_fn(|context| self.poll_with(waiter.ticket(), context, Readiness::READ, &mut read)).await
    }

    /// As [`read_with`](AsyncFd::read_with), for writing.
    ///
    /// Cancel safety: as that.
    ///
    /// # Errors
    /// As that.
    pub async fn write_with<R>(&self, mut write: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        let waiter = self.enter(Readiness::WRITE);
        poll_fn(|context| self.poll_with(waiter.ticket(), context, Readiness::WRITE, &mut write)).await
    }

    fn enter(&self, interest: Readiness) -> Waiter<'_> {
        self.sides.side(interest).waiters.enter()
    }

    pub(crate) fn poll_with<R>(
        &self,
        whose: Ticket<'_>,
        context: &mut Context<'_>,
        interest: Readiness,
        attempt: &mut impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        ready!(self.poll.owner().0.tasks.take_share(context));
        loop {
            match attempt(self.get_ref()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
            ready!(self.poll_ready(whose, context, interest))?;
        }
    }

    /// Ready once for each time that the loop has said so.
    fn poll_ready(&self, whose: Ticket<'_>, context: &Context<'_>, interest: Readiness) -> Poll<io::Result<()>> {
        let (sides, side) = (&self.sides, self.sides.side(interest));
        if let Some(error) = sides.failed.get() {
            return Poll::Ready(Err(error.into()));
        }
        if side.is_ready.take() {
            return Poll::Ready(Ok(()));
        }
        side.waiters.wait(&self.poll.owner().0, whose, context);
        let watched = sides.watched.get();
        if !watched.contains(interest) {
            let all = watched | interest;
            let begun = if watched.is_empty() {
                let tells = Rc::clone(sides);
                self.poll.start(all, move |poll, ready| tells.tell(poll, ready))
            } else {
                self.poll.set_interest(all)
            };
            begun?;
            sides.watched.set(all);
        }
        Poll::Pending
    }
}

impl<T: AsFd> Drop for AsyncFd<T> {
    fn drop(&mut self) {
        // Before the descriptor is closed.
        let _ = self.poll.close();
    }
}

impl<T: AsFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncFd").field(&self.inner).finish()
    }
}
