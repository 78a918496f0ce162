//! The same workloads on the crates of others, as far as these have what is measured, and as their users write them.

pub(crate) mod on_mio;
pub(crate) mod on_monoio;
pub(crate) mod on_tokio;
mod on_tokio_threads;
