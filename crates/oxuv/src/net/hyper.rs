//! Streams as hyper has them.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use super::{TcpStream, UnixStream};

macro_rules! of_hyper {
    ($($kind:ident),*) => {$(
        impl Read for $kind {
            fn poll_read(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                mut buf: ReadBufCursor<'_>,
            ) -> Poll<io::Result<()>> {
                let most = buf.remaining();
                self.flow.poll_read_with(context, most, |bytes| buf.put_slice(bytes)).map_ok(drop)
            }
        }

        impl Write for $kind {
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
of_hyper!(TcpStream, UnixStream);
