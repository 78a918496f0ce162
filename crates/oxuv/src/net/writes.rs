//! What tokio's and hyper's write traits have in common: all their methods.

/// Implements such a trait for streams.
macro_rules! writes {
    ($trait:ident for $($kind:ident),*) => {$(
        impl $trait for $kind {
            fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                self.flow.poll_write(crate::task::Ticket::LAST_POLLED, context, bytes)
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

            /// What a task has written is the kernel's by now. What the loop has gathered of others' is sent.
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.flow.send_gathered();
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.flow.poll_shutdown(crate::task::Ticket::LAST_POLLED, context)
            }
        }
    )*};
}

pub(super) use writes;
