//! What the engine can do and its crate has no safe way to: bytes on their way between its memory and Rust's ([`Bytes`], [`fill`]),
//! being told of promises ([`watch_promises`]), and asking for jobs at little cost ([`job_function`]).

mod bytes;
mod jobs;
mod promises;

pub use bytes::{Bytes, CountAll, fill, text_of};
pub use jobs::job_function;
pub use promises::{PromiseEvent, watch_promises};
