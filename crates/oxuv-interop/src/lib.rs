//! Crates of others on oxuv's loop, and oxuv's loop inside of others'. There is nothing here but tests and examples, and the
//! comparison with tokio (`src/bin/beside_tokio.rs`).

#![forbid(unsafe_code)]
