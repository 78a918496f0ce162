//! What the engine can do and its crate has no safe way to: bytes on their way between its memory and Rust's ([`Bytes`], [`fill`]),
//! being told of promises ([`watch_promises`]), asking for jobs at little cost
//! ([`job_function`]), ending a script from another thread ([`End`]), and seeing where it is ([`Interrupts`]).

mod bytes;
mod end;
mod interrupts;
mod jobs;
mod promises;

pub use bytes::{Bytes, CountAll, fill, text_of};
pub use end::{End, runtime_with_end};
pub use interrupts::Interrupts;
pub use jobs::job_function;
pub use promises::{PromiseEvent, watch_promises};
