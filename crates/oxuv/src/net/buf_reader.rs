//! Reading into buffers of the loop's.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::lender::Buffer;
use super::{Flow, OwnedReadHalf, OwnedUnixReadHalf, TcpStream, UnixStream};
use crate::loop_::BUFFER;
use crate::stream::Stream;
use crate::task::Ticket;
use crate::{Pipe, Tcp};

/// Reads a stream into a buffer that the loop lends: 64 KiB, for as long as something is in it.
///
/// It takes a buffer when there is something to read, and gives it back when all of that is [consumed](BufReader::consume). While
/// it waits it has none. So thousands of connections, of which few have something at a time, share a few buffers, which are in the
/// processor's caches; with a buffer for each of them, each is memory that nothing else uses, and that a request waits for.
///
/// ```
/// use oxuv::net::{BufReader, TcpStream};
///
/// async fn echo(stream: TcpStream) -> std::io::Result<()> {
///     let mut reader = BufReader::new(&stream);
///     loop {
///         let bytes = reader.fill_buf().await?;
///         if bytes.is_empty() {
///             return Ok(()); // the end of the stream
///         }
///         stream.write_all(bytes).await?;
///         let count = bytes.len();
///         reader.consume(count);
///     }
/// }
/// # let lp = oxuv::Loop::new()?;
/// # lp.block_on(async {
/// #     let listener = oxuv::net::TcpListener::bind("127.0.0.1:0").await?;
/// #     let client = TcpStream::connect(listener.local_addr()?).await?;
/// #     let server = oxuv::task::spawn_local(echo(listener.accept().await?.0));
/// #     client.write_all(b"echo").await?;
/// #     let mut buf = [0; 4];
/// #     client.read_exact(&mut buf).await?;
/// #     assert_eq!(&buf, b"echo");
/// #     drop(client);
/// #     server.await?
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// It reads TCP and Unix streams, their owned reading halves, or a reference to one of these, so that others may write meanwhile. It is a
/// [`futures_io::AsyncBufRead`], for `read_until`, `lines` and their like of the crate `futures`, and with the feature `tokio`
/// that crate's. What it has read and nobody has consumed stays in it when it goes from one task to another, and when the loop is gone;
/// it is lost when the reader is dropped.
pub struct BufReader<R> {
    source: R,
    lent: Option<Lent>,
}

/// A buffer of the loop's with something in it that nobody has consumed yet. It is the loop's again when all is consumed; if it is
/// dropped before, there is one less.
struct Lent {
    buffer: Buffer,
    at: u32,
    end: u32,
}

impl Lent {
    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.buffer[self.at as usize..self.end as usize]
    }
}

/// What a [`BufReader`] reads: a stream, an owned reading half, or a reference to one. Nothing else is one.
pub trait Source: sealed::HasFlow {}

/// What this shows is `pub` in modules that are not.
mod sealed {
    pub trait HasFlow {
        type Handle: super::Stream;
        fn flow(&self) -> &super::Flow<Self::Handle>;
    }
}
use sealed::HasFlow;

macro_rules! sources {
    ($($kind:ident: $handle:ident),*) => {$(
        impl Source for $kind {}

        impl HasFlow for $kind {
            type Handle = $handle;

            #[inline]
            fn flow(&self) -> &Flow<$handle> {
                &self.flow
            }
        }
    )*};
}
sources!(TcpStream: Tcp, OwnedReadHalf: Tcp, UnixStream: Pipe, OwnedUnixReadHalf: Pipe);

impl<S: Source> Source for &S {}

impl<S: Source> HasFlow for &S {
    type Handle = S::Handle;

    #[inline]
    fn flow(&self) -> &Flow<S::Handle> {
        (**self).flow()
    }
}

impl<R: Source> BufReader<R> {
    /// A reader without a buffer.
    pub fn new(source: R) -> BufReader<R> {
        BufReader { source, lent: None }
    }

    /// What was read and is not consumed. If there is nothing, reads what is there, or waits until something is: nothing is then the end
    /// of the stream.
    ///
    /// Cancel safety: if this is dropped before it is ready, nothing was read.
    ///
    /// # Errors
    /// As [`TcpStream::read`].
    #[inline]
    pub async fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.lent.is_none() {
            let flow = self.source.flow();
            let waiter = flow.reader();
            self.lent = poll_fn(|context| poll_lend(flow, waiter.ticket(), context)).await?;
        }
        Ok(self.buffer())
    }

    /// That many bytes of what was read are not needed any more; if there are not so many, all of them.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        let Some(lent) = &mut self.lent else { return };
        if count < lent.bytes().len() {
            lent.at += count as u32; // less than there is in a buffer
        } else if let Some(lent) = self.lent.take() {
            self.source.flow().lender().take_back(lent.buffer);
        }
    }

    /// What was read and is not consumed, without waiting for more.
    #[inline]
    pub fn buffer(&self) -> &[u8] {
        self.lent.as_ref().map_or(&[], Lent::bytes)
    }

    /// What is read. Who reads by that gets what comes after what is buffered.
    pub fn get_ref(&self) -> &R {
        &self.source
    }

    /// What is read. What was read and is not [consumed](BufReader::buffer) is lost.
    pub fn into_inner(self) -> R {
        self.source
    }

    #[inline]
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        if self.lent.is_none() {
            self.lent = ready!(poll_lend(self.source.flow(), Ticket::LAST_POLLED, context))?;
        }
        Poll::Ready(Ok(self.buffer()))
    }

    fn poll_take(&mut self, context: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if self.lent.is_none() && buf.len() >= BUFFER {
            return self.source.flow().poll_read(Ticket::LAST_POLLED, context, buf);
        }
        let bytes = ready!(self.poll_fill(context))?;
        let count = bytes.len().min(buf.len());
        buf[..count].copy_from_slice(&bytes[..count]);
        self.consume(count);
        Poll::Ready(Ok(count))
    }
}

/// Reads what is there into a buffer of the loop's; `None` is the end of the stream.
#[inline]
fn poll_lend<H: Stream>(
    flow: &Flow<H>,
    whose: Ticket<'_>,
    context: &mut Context<'_>,
) -> Poll<io::Result<Option<Lent>>> {
    let mut lent = None;
    let read = flow.poll_read_by(whose, context, BUFFER, |handle| {
        let mut buffer = flow.lender().lend();
        let read = handle.read_into(&mut *buffer);
        match read {
            Ok(count @ 1..) => lent = Some(Lent { buffer, at: 0, end: count as u32 }),
            _ => flow.lender().take_back(buffer),
        }
        read
    });
    read.map_ok(|_| lent)
}

impl<R: Source + Unpin> futures_io::AsyncBufRead for BufReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.get_mut().poll_fill(context)
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.get_mut().consume(count);
    }
}

impl<R: Source + Unpin> futures_io::AsyncRead for BufReader<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_take(context, buf)
    }
}

#[cfg(feature = "tokio")]
impl<R: Source + Unpin> tokio::io::AsyncBufRead for BufReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.get_mut().poll_fill(context)
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.get_mut().consume(count);
    }
}

#[cfg(feature = "tokio")]
impl<R: Source + Unpin> tokio::io::AsyncRead for BufReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let reader = self.get_mut();
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let bytes = ready!(reader.poll_fill(context))?;
        let count = bytes.len().min(buf.remaining());
        buf.put_slice(&bytes[..count]);
        reader.consume(count);
        Poll::Ready(Ok(()))
    }
}

impl<R: fmt::Debug + Source> fmt::Debug for BufReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufReader").field("source", &self.source).field("buffered", &self.buffer().len()).finish()
    }
}
