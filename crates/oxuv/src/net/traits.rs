//! What all streams of tasks have in common, and the traits of other crates.

/// Gives a type with a `flow` what readers have.
macro_rules! reads {
    ($kind:ident) => {
        impl $kind {
            /// Reads what is there, or waits until something is: up to the length of `buf`. 0 is the end of the stream.
            ///
            /// Cancel safety: if this is dropped before it is ready, nothing was read.
            ///
            /// # Errors
            /// Those of the connection: ECONNRESET, ETIMEDOUT. ENOTCONN after such a one.
            pub fn read(&self, buf: &mut [u8]) -> impl Future<Output = std::io::Result<usize>> {
                let waiter = self.flow.reader();
                std::future::poll_fn(move |context| self.flow.poll_read(waiter.ticket(), context, buf))
            }

            /// Reads as much as `buf` is long.
            ///
            /// Cancel safety: none. What was read by then is in `buf`, but nobody knows how much.
            ///
            /// # Errors
            /// As [`read`](Self::read); `UnexpectedEof` when the stream ends before.
            pub async fn read_exact(&self, buf: &mut [u8]) -> std::io::Result<()> {
                let mut at = 0;
                while at < buf.len() {
                    match self.read(&mut buf[at..]).await? {
                        0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                        count => at += count,
                    }
                }
                Ok(())
            }

            /// As [`read`](Self::read), for those who write futures by hand. Of those who call this, the
            /// last is woken.
            pub fn poll_read(
                &self,
                context: &mut std::task::Context<'_>,
                buf: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.flow.poll_read($crate::task::Ticket::LAST_POLLED, context, buf)
            }

            /// Reads what is there, without waiting.
            ///
            /// # Errors
            /// `WouldBlock` when there is nothing; else as [`read`](Self::read).
            pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                Ok(self.flow.try_read(buf)?)
            }

            /// Waits until there may be something to read; or an end, or an error.
            ///
            /// Cancel safety: nothing is lost.
            ///
            /// # Errors
            /// ENOTCONN when the connection has failed.
            pub async fn readable(&self) -> std::io::Result<()> {
                self.flow.ready($crate::Readiness::READ).await
            }
        }

        impl futures_io::AsyncRead for $kind {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
                buf: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.flow.poll_read($crate::task::Ticket::LAST_POLLED, context, buf)
            }
        }

        impl futures_io::AsyncRead for &$kind {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
                buf: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.flow.poll_read($crate::task::Ticket::LAST_POLLED, context, buf)
            }
        }
    };
}
pub(crate) use reads;

/// As [`reads`], for writing.
macro_rules! writes {
    ($kind:ident) => {
        impl $kind {
            /// Writes what the kernel takes now, or waits until it takes something; returns how many bytes that was.
            ///
            /// Cancel safety: if this is dropped before it is ready, nothing was written.
            ///
            /// # Errors
            /// EPIPE, ECONNRESET; ENOTCONN after such a one.
            pub fn write(&self, bytes: &[u8]) -> impl Future<Output = std::io::Result<usize>> {
                let waiter = self.flow.writer();
                std::future::poll_fn(move |context| self.flow.poll_write(waiter.ticket(), context, bytes))
            }

            /// Writes all of `bytes`.
            ///
            /// Cancel safety: if this is dropped, some of it is written, and nobody knows how much:
            /// [`write_all_buf`](Self::write_all_buf) does.
            ///
            /// # Errors
            /// As [`write`](Self::write).
            pub fn write_all(&self, mut bytes: &[u8]) -> impl Future<Output = std::io::Result<()>> {
                let waiter = self.flow.writer();
                std::future::poll_fn(move |context| self.flow.poll_write_all(waiter.ticket(), context, &mut bytes))
            }

            /// Writes all of `rest`, which becomes shorter by what is written: it is empty then.
            ///
            /// Cancel safety: if this is dropped, or fails, `rest` is what is not written. To call it again goes on there.
            ///
            /// # Errors
            /// As [`write`](Self::write).
            pub fn write_all_buf(&self, rest: &mut &[u8]) -> impl Future<Output = std::io::Result<()>> {
                let waiter = self.flow.writer();
                std::future::poll_fn(move |context| self.flow.poll_write_all(waiter.ticket(), context, rest))
            }

            /// As [`write`](Self::write), for those who write futures by hand. Of those who call this, the
            /// last is woken.
            pub fn poll_write(
                &self,
                context: &mut std::task::Context<'_>,
                bytes: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.flow.poll_write($crate::task::Ticket::LAST_POLLED, context, bytes)
            }

            /// Writes what the kernel takes now, without waiting.
            ///
            /// # Errors
            /// `WouldBlock` when it takes nothing; else as [`write`](Self::write).
            pub fn try_write(&self, bytes: &[u8]) -> std::io::Result<usize> {
                Ok(self.flow.try_write(bytes)?)
            }

            /// Waits until the kernel may take something; or until an error.
            ///
            /// Cancel safety: nothing is lost.
            ///
            /// # Errors
            /// ENOTCONN when the connection has failed.
            pub async fn writable(&self) -> std::io::Result<()> {
                self.flow.ready($crate::Readiness::WRITE).await
            }

            /// Ends the writing side: the peer reads the end of the stream. Reading goes on.
            ///
            /// Cancel safety: it ends all the same.
            ///
            /// # Errors
            /// ENOTCONN.
            pub async fn shutdown(&self) -> std::io::Result<()> {
                let waiter = self.flow.writer();
                std::future::poll_fn(|context| self.flow.poll_shutdown(waiter.ticket(), context)).await
            }
        }

        $crate::net::traits::writes!(@trait $kind);
        $crate::net::traits::writes!(@trait &$kind);
    };
    (@trait $kind:ty) => {
        impl futures_io::AsyncWrite for $kind {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
                bytes: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.flow.poll_write($crate::task::Ticket::LAST_POLLED, context, bytes)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
                parts: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.flow.poll_write_vectored(context, parts)
            }

            /// What a task has written is the kernel's by now. What the loop has gathered of others' is sent.
            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.flow.send_gathered();
                std::task::Poll::Ready(Ok(()))
            }

            fn poll_close(
                self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.flow.poll_shutdown($crate::task::Ticket::LAST_POLLED, context)
            }
        }
    };
}
pub(crate) use writes;

/// Makes the type of a stream, and of its halves.
macro_rules! stream_type {
    ($(#[$doc:meta])* $stream:ident, $handle:ident, $reader:ident, $writer:ident) => {
        $(#[$doc])*
        pub struct $stream {
            pub(in crate::net) flow: $crate::net::Flow<$crate::$handle>,
        }

        #[doc = concat!("The reading half of a [`", stringify!($stream), "`], for a task of its own.")]
        pub struct $reader {
            pub(in crate::net) flow: std::rc::Rc<$crate::net::Flow<$crate::$handle>>,
        }

        #[doc = concat!("The writing half of a [`", stringify!($stream), "`], for a task of its own. Dropping it ends the writing side.")]
        pub struct $writer {
            pub(in crate::net) flow: std::rc::Rc<$crate::net::Flow<$crate::$handle>>,
        }

        $crate::net::traits::reads!($stream);
        $crate::net::traits::writes!($stream);
        $crate::net::traits::reads!($reader);
        $crate::net::traits::writes!($writer);

        impl $stream {
            pub(crate) fn of(handle: $crate::$handle, may_have_come: bool) -> $stream {
                $stream { flow: $crate::net::Flow::new(handle, may_have_come) }
            }

            /// Takes over a connected handle, with whose closures nothing happens any more. It is closed with the stream.
            pub fn from_handle(handle: $crate::$handle) -> $stream {
                // What its closure would have heard is the tasks'. Of one that is closed, they hear that.
                let _ = handle.read_stop();
                $stream::of(handle, true)
            }

            /// The handle, for callbacks. It stays open.
            pub fn into_handle(self) -> $crate::$handle {
                self.flow.let_go().clone()
            }

            /// The handle, for its options. To close it ends the stream.
            pub fn as_handle(&self) -> &$crate::$handle {
                self.flow.handle()
            }

            /// Two halves that are used apart. The connection is closed when both are dropped. (Without being owned, the halves of a
            /// stream are two references to it: all its methods take those.)
            pub fn into_split(self) -> ($reader, $writer) {
                let flow = std::rc::Rc::new(self.flow);
                ($reader { flow: std::rc::Rc::clone(&flow) }, $writer { flow })
            }
        }

        impl $reader {
            /// The stream that these are the halves of.
            ///
            /// # Errors
            /// The halves, if they are not of one stream.
            pub fn reunite(self, writer: $writer) -> Result<$stream, ($reader, $writer)> {
                if !std::rc::Rc::ptr_eq(&self.flow, &writer.flow) {
                    return Err((self, writer));
                }
                writer.forget();
                // There was no third.
                let flow = std::rc::Rc::into_inner(self.flow).expect("a stream has two halves");
                Ok($stream { flow })
            }
        }

        impl $writer {
            /// Drops the half without ending the writing side.
            pub fn forget(self) {
                self.flow.keep_writing();
            }
        }

        impl Drop for $writer {
            fn drop(&mut self) {
                self.flow.drop_writer();
            }
        }

        $crate::net::traits::stream_type!(@debug $stream);
        $crate::net::traits::stream_type!(@debug $reader);
        $crate::net::traits::stream_type!(@debug $writer);
    };
    (@debug $kind:ident) => {
        impl std::fmt::Debug for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($kind)).field(self.flow.handle()).finish()
            }
        }
    };
}
pub(crate) use stream_type;
