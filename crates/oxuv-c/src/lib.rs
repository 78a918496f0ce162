//! libuv's C interface on the oxuv event loop.
//!
//! Programs written for libuv link this library instead of it: `libuv.so.1` or `libuv.a`, with `uv.h`. The functions
//! are described in libuv's manual; here stands what is particular to this library.
//!
//! # How it is made
//!
//! A handle or request is the caller's memory ([`uv_timer_t`], [`uv_write_t`], ...): public fields, callback pointers,
//! and the core's key. An export converts its arguments and makes one call into the core. [`uv_run`] takes the core's
//! events one by one and calls the callbacks; while one runs, nothing borrows the core or a handle, so it may call
//! whatever it likes, about any handle.
//!
//! A foreign exception or a `longjmp` passes through [`uv_run`] without harm. A panic of this library's own is a
//! broken invariant and aborts the process with a message.

#![allow(non_camel_case_types)] // The names are C's.

mod address;
#[path = "async.rs"]
mod async_;
mod clock;
mod default_loop;
mod dl;
mod error;
mod fork;
mod fs;
mod fs_event;
mod fs_poll;
mod getaddrinfo;
mod getnameinfo;
mod handle;
mod if_name;
mod job;
mod kinds;
#[path = "loop.rs"]
mod loop_;
mod memory;
#[cfg(not(miri))]
mod observe;
mod options;
mod pipe;
mod poll;
mod process;
mod random;
mod request;
mod run;
mod signal;
mod socket;
mod stream;
mod system;
mod tcp;
mod tcp_connect;
mod tcp_options;
mod thread;
mod timer;
mod tty;
mod turns;
mod types;
mod udp;
mod udp_options;
mod udp_recv;
mod udp_send;
mod version;
mod walk;
mod watcher;
mod work;
mod write;
mod wtf8;

// Every module exports its part of the interface.
pub use address::*;
pub use async_::*;
pub use clock::*;
pub use default_loop::*;
pub use dl::*;
pub use error::*;
pub use fork::*;
pub use fs::*;
pub use fs_event::*;
pub use fs_poll::*;
pub use getaddrinfo::*;
pub use getnameinfo::*;
pub use handle::*;
pub use if_name::*;
pub use kinds::*;
pub use loop_::*;
pub use memory::*;
pub use options::*;
pub use pipe::*;
pub use poll::*;
pub use process::*;
pub use random::*;
pub use request::*;
pub use signal::*;
pub use socket::*;
pub use stream::*;
pub use system::*;
pub use tcp::*;
pub use tcp_connect::*;
pub use tcp_options::*;
pub use thread::*;
pub use timer::*;
pub use tty::*;
pub use turns::*;
pub use types::*;
pub use udp::*;
pub use udp_options::*;
pub use udp_recv::*;
pub use udp_send::*;
pub use version::*;
pub use walk::*;
pub use watcher::*;
pub use work::*;
pub use write::*;
pub use wtf8::*;
