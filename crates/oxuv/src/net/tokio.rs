//! Streams as tokio has them. Nothing of tokio runs: these are its traits.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{OwnedReadHalf, OwnedUnixReadHalf, OwnedUnixWriteHalf, OwnedWriteHalf, TcpStream, UnixStream};

macro_rules! reads {
    ($($kind:ident),*) => {$(
        impl AsyncRead for $kind {
            fn poll_read(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let most = buf.remaining();
                self.flow.poll_read_with(context, most, |bytes| buf.put_slice(bytes)).map_ok(drop)
            }
        }
    )*};
}
reads!(TcpStream, UnixStream, OwnedReadHalf, OwnedUnixReadHalf);

macro_rules! writes {
    ($($kind:ident),*) => {$(
        impl AsyncWrite for $kind {
            fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                self.flow.poll_write(context, bytes)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                parts: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.flow.poll_write_vectored(context, parts)
            }

            /// There is nothing to be done: what is written is the kernel's.
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.flow.poll_shutdown(context)
            }
        }
    )*};
}
writes!(TcpStream, UnixStream, OwnedWriteHalf, OwnedUnixWriteHalf);
