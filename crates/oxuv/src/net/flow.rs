//! A stream that tasks read and write.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use oxuv_core::Buffers;

use super::Lender;
use super::gate::{End, Gate, Side};
use crate::callbacks::Callback;
use crate::stream::Stream;
use crate::task::{Ticket, Waiter};
use crate::{Errno, Handle, Readiness, Result};

/// A stream's handle, which is closed with this, and those who wait for it.
pub struct Flow<H: Stream> {
    handle: H,
    gate: Rc<Gate>,
    /// The writing half is dropped without ending anything.
    keeps_writing: Cell<bool>,
    /// Somebody has taken the handle away.
    is_let_go: Cell<bool>,
}

/// Several buffers, as the standard library has them.
struct Slices<'a>(&'a [IoSlice<'a>]);

impl Buffers for Slices<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn get(&self, nth: usize) -> &[u8] {
        &self.0[nth]
    }
}

impl<H: Stream> Flow<H> {
    /// A stream that is connected. `may_have_come`: something may be there to be read by now.
    pub(crate) fn new(handle: H, may_have_come: bool) -> Flow<H> {
        let gate = handle.owner().0.gates.make();
        gate.reader.is_open.set(may_have_come);
        handle.set_callback(Callback::Ready(Rc::clone(&gate)));
        Flow { handle, gate, keeps_writing: Cell::new(false), is_let_go: Cell::new(false) }
    }

    /// What lends buffers to those who read.
    #[inline]
    pub(super) fn lender(&self) -> &Lender {
        let handle: &Handle = &self.handle;
        &handle.owner().0.lender
    }

    pub(crate) fn handle(&self) -> &H {
        &self.handle
    }

    /// The handle, which stays open.
    pub(crate) fn let_go(&self) -> &H {
        self.is_let_go.set(true);
        self.handle.set_callback(Callback::None);
        // A read that was dropped has left its wait behind. Of a handle that is closed, there is none.
        let handle: &Handle = &self.handle;
        let _ = handle.with(|core, key| core.wait_no_more(key));
        &self.handle
    }

    /// Sends what was written by handles and gathered ([`gather_writes`](crate::Builder::gather_writes)).
    #[inline]
    pub(crate) fn send_gathered(&self) {
        let handle: &Handle = &self.handle;
        // Of a handle that is closed, it was sent then.
        let _ = handle.with(|core, _| {
            core.flush_writes();
            Ok(())
        });
    }

    /// One who may wait until there is something to be read.
    #[inline]
    pub(super) fn reader(&self) -> Waiter<'_> {
        self.gate.reader.waiters.enter()
    }

    /// One who may wait until there is room to write, or the writing side has ended.
    #[inline]
    pub(super) fn writer(&self) -> Waiter<'_> {
        self.gate.writer.waiters.enter()
    }

    #[inline]
    fn share(&self, context: &mut Context<'_>) -> Poll<()> {
        let handle: &Handle = &self.handle;
        handle.owner().0.tasks.take_share(context)
    }

    pub(crate) fn poll_read(
        &self,
        whose: Ticket<'_>,
        context: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_by(whose, context, buf.len(), |handle| handle.read_into(buf))
    }

    /// Reads at most so many bytes by way of the loop's buffer, and hands them over: for memory that may not be initialised, which can be
    /// written to by its owner's means only.
    #[cfg(any(feature = "hyper", feature = "tokio"))]
    pub(super) fn poll_read_through(
        &self,
        context: &mut Context<'_>,
        most: usize,
        take: impl FnOnce(&[u8]),
    ) -> Poll<io::Result<usize>> {
        let most = most.min(crate::loop_::BUFFER);
        self.poll_read_by(Ticket::LAST_POLLED, context, most, |handle| handle.read_through(most, take))
    }

    #[inline]
    pub(super) fn poll_read_by(
        &self,
        whose: Ticket<'_>,
        context: &mut Context<'_>,
        most: usize,
        read: impl FnOnce(&Handle) -> Result<usize>,
    ) -> Poll<io::Result<usize>> {
        ready!(self.share(context));
        if most == 0 {
            return Poll::Ready(Ok(0));
        }
        if self.gate.reader.is_open.get() {
            match self.read_now(most, read) {
                Err(Errno::EAGAIN) => {}
                read => return Poll::Ready(Ok(read?)),
            }
        }
        self.wait(whose, context, Readiness::READ)
    }

    /// Receives what is there. 0 is the end of the stream.
    pub(crate) fn try_read(&self, buf: &mut [u8]) -> Result<usize> {
        self.read_now(buf.len(), |handle| handle.read_into(buf))
    }

    #[inline]
    fn read_now(&self, most: usize, read: impl FnOnce(&Handle) -> Result<usize>) -> Result<usize> {
        let read = read(&self.handle);
        match read {
            // Less than there was room for: there is no more. What comes later the loop will say.
            Ok(count) if count > 0 && count < most => self.gate.reader.is_open.set(false),
            Err(Errno::EAGAIN) => self.gate.reader.is_open.set(false),
            _ => {}
        }
        read
    }

    pub(crate) fn poll_write(
        &self,
        whose: Ticket<'_>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_by(whose, context, |handle| handle.with(|core, key| core.try_write(key, oxuv_core::One(bytes))))
    }

    /// Writes all of `rest`, which becomes shorter by what is written.
    pub(super) fn poll_write_all(
        &self,
        whose: Ticket<'_>,
        context: &mut Context<'_>,
        rest: &mut &[u8],
    ) -> Poll<io::Result<()>> {
        while !rest.is_empty() {
            let count = ready!(self.poll_write(whose, context, rest))?;
            *rest = &rest[count..];
        }
        Poll::Ready(Ok(()))
    }

    pub(crate) fn poll_write_vectored(
        &self,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if parts.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.poll_write_by(Ticket::LAST_POLLED, context, |handle| {
            handle.with(|core, key| core.try_write(key, Slices(parts)))
        })
    }

    #[inline]
    fn poll_write_by(
        &self,
        whose: Ticket<'_>,
        context: &mut Context<'_>,
        write: impl FnOnce(&Handle) -> Result<usize>,
    ) -> Poll<io::Result<usize>> {
        ready!(self.share(context));
        match write(&self.handle) {
            Err(Errno::EAGAIN) => self.wait_for_room(whose, context),
            written => Poll::Ready(Ok(written?)),
        }
    }

    pub(crate) fn try_write(&self, bytes: &[u8]) -> Result<usize> {
        let handle: &Handle = &self.handle;
        handle.with(|core, key| core.try_write(key, oxuv_core::One(bytes)))
    }

    #[inline]
    fn side(&self, interest: Readiness) -> &Side {
        if interest == Readiness::READ { &self.gate.reader } else { &self.gate.writer }
    }

    #[cold]
    fn wait_for_room(&self, whose: Ticket<'_>, context: &Context<'_>) -> Poll<io::Result<usize>> {
        self.wait(whose, context, Readiness::WRITE)
    }

    /// Wakes the task when the stream is ready. What it then finds is for it to see.
    #[inline(always)] // What is waited for is known where this is called.
    fn wait<T>(&self, whose: Ticket<'_>, context: &Context<'_>, interest: Readiness) -> Poll<io::Result<T>> {
        let handle: &Handle = &self.handle;
        self.side(interest).waiters.wait(&handle.owner().0, whose, context);
        match handle.with(|core, key| core.wait_ready(key, interest)) {
            Ok(()) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// Waits until there may be something to read, or room to write.
    pub(crate) async fn ready(&self, interest: Readiness) -> io::Result<()> {
        let side = self.side(interest);
        let waiter = side.waiters.enter();
        if interest == Readiness::WRITE {
            // Whether there is room nobody has looked for.
            side.is_open.set(false);
        }
        poll_fn(
            |context| {
                if side.is_open.get() { Poll::Ready(Ok(())) } else { self.wait(waiter.ticket(), context, interest) }
            },
        )
        .await
    }

    /// Ends the writing side, and waits until that is done.
    pub(crate) fn poll_shutdown(&self, whose: Ticket<'_>, context: &mut Context<'_>) -> Poll<io::Result<()>>
    where
        Self: Ends,
    {
        if self.gate.end.get() == End::No {
            self.end();
        }
        match self.gate.end.get() {
            End::Done(result) => Poll::Ready(Ok(result?)),
            _ => {
                self.gate.writer.waiters.wait(&self.handle.owner().0, whose, context);
                Poll::Pending
            }
        }
    }

    /// Ends the writing side; how that went is known later.
    fn end(&self)
    where
        Self: Ends,
    {
        self.gate.end.set(End::Asked);
        let gate = Rc::clone(&self.gate);
        let begun = self.begin_end(move |handle, result| {
            gate.end.set(End::Done(result));
            gate.writer.open(&handle.owner().0);
        });
        if begun.is_err() {
            self.gate.end.set(End::Done(begun));
        }
    }

    /// The writing half is about to be dropped, and shall not end anything.
    pub(super) fn keep_writing(&self) {
        self.keeps_writing.set(true);
    }

    /// The writing half is dropped: unless nobody reads either, its side ends.
    pub(super) fn drop_writer(self: &Rc<Self>)
    where
        Self: Ends,
    {
        let is_kept = self.keeps_writing.take();
        if !is_kept && Rc::strong_count(self) > 1 && self.gate.end.get() == End::No {
            self.end();
        }
    }
}

/// How each kind of stream ends its writing side.
pub(crate) trait Ends {
    fn begin_end(&self, on_done: impl FnOnce(&Handle, Result<()>) + 'static) -> Result<()>;
}

macro_rules! ends {
    ($($kind:ident),*) => {$(
        impl Ends for Flow<crate::$kind> {
            fn begin_end(&self, on_done: impl FnOnce(&Handle, Result<()>) + 'static) -> Result<()> {
                self.handle.shutdown(move |handle, result| on_done(handle, result))
            }
        }
    )*};
}
ends!(Tcp, Pipe, Tty);

impl<H: Stream> Drop for Flow<H> {
    fn drop(&mut self) {
        if !self.is_let_go.get() {
            // It fails only if somebody has closed it, or for a loop that is gone.
            let _ = self.handle.close();
        }
    }
}

impl Handle {
    /// Receives what is there. 0 is the end of the stream.
    #[inline]
    pub(super) fn read_into(&self, buf: &mut [u8]) -> Result<usize> {
        match self.with(|core, key| core.try_read(key, buf.into()).map(|bytes| bytes.len())) {
            Err(Errno::EOF) => Ok(0),
            read => read,
        }
    }

    /// As [`Handle::read_into`], at most so many bytes, and no more than its size, by way of the loop's buffer, out of which they are taken.
    #[cfg(any(feature = "hyper", feature = "tokio"))]
    fn read_through(&self, most: usize, take: impl FnOnce(&[u8])) -> Result<usize> {
        let inner = &*self.owner().0;
        let mut buffer = inner.lender.lend();
        let read = match self.with(|core, key| core.try_read(key, (&mut buffer[..most]).into())) {
            Ok(bytes) => {
                take(bytes);
                Ok(bytes.len())
            }
            Err(Errno::EOF) => Ok(0),
            Err(error) => Err(error),
        };
        inner.lender.take_back(buffer);
        read
    }
}
