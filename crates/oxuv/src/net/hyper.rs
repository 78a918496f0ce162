//! Streams as hyper has them.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use super::writes::writes;
use super::{TcpStream, UnixStream};

macro_rules! of_hyper {
    ($($kind:ident),*) => {$(
        impl Read for $kind {
            fn poll_read(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                mut buf: ReadBufCursor<'_>,
            ) -> Poll<io::Result<()>> {
                // Its memory is not initialised, and nobody tells whether it is.
                let most = buf.remaining();
                self.flow.poll_read_through(context, most, |bytes| buf.put_slice(bytes)).map_ok(drop)
            }
        }
    )*};
}
of_hyper!(TcpStream, UnixStream);
writes!(Write for TcpStream, UnixStream);
