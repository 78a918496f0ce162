//! Streams as tokio has them. Nothing of tokio runs: these are its traits.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::writes::writes;
use super::{OwnedReadHalf, OwnedUnixReadHalf, OwnedUnixWriteHalf, OwnedWriteHalf, TcpStream, UnixStream};

macro_rules! reads {
    ($($kind:ident),*) => {$(
        impl AsyncRead for $kind {
            fn poll_read(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                if buf.initialized().len() < buf.capacity() {
                    let most = buf.remaining();
                    return self.flow.poll_read_through(context, most, |bytes| buf.put_slice(bytes)).map_ok(drop);
                }
                let count = ready!(self.flow.poll_read(crate::task::Ticket::LAST_POLLED, context, buf.initialize_unfilled()))?;
                buf.advance(count);
                Poll::Ready(Ok(()))
            }
        }
    )*};
}
reads!(TcpStream, UnixStream, OwnedReadHalf, OwnedUnixReadHalf);

writes!(AsyncWrite for TcpStream, UnixStream, OwnedWriteHalf, OwnedUnixWriteHalf);
