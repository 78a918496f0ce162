//! Descriptors of others: any that can be polled, driven by this loop.
//!
//! The other way round, this loop in another one, is a [`Guest`](crate::Guest).

mod async_fd;

pub use async_fd::AsyncFd;
