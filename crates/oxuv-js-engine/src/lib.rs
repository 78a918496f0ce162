//! What the engine can do and its crate has no safe way to: bytes on their way between its memory and Rust's ([`Bytes`], [`fill`]),
//! and being told of promises ([`watch_promises`]).

mod bytes;
mod promises;

pub use bytes::{Bytes, CountAll, fill, text_of};
pub use promises::{PromiseEvent, watch_promises};
