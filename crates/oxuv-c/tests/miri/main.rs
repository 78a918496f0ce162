//! Callbacks that do to handles what C callbacks do, for Miri to judge:
//!
//! ```text
//! cargo +nightly miri test -p oxuv-c --test miri
//! ```
//!
//! Handles and requests come as uninitialised memory, so that Miri tells of everything that is read and was never
//! written, and they are freed in their last callback, so that it tells of everything that is touched afterwards.

// These functions are C in the words of Rust: in each of them everything is unsafe, and why it is right is the
// question that they are there to ask.
#![allow(unsafe_op_in_unsafe_fn)]

#[cfg(miri)]
mod connect;
mod loops;
mod memory;
#[cfg(miri)]
mod pipe;
#[cfg(miri)]
mod signals;
mod strings;
#[cfg(miri)]
mod tcp;
#[cfg(miri)]
mod udp;
mod walks;
