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
mod clock;
mod dl;
#[path = "async.rs"]
mod async_;
mod error;
mod handle;
#[path = "loop.rs"]
mod loop_;
mod random;
mod memory;
mod run;
mod stream;
mod tcp;
mod thread;
mod timer;
mod types;
mod version;
mod watcher;
mod write;
mod wtf8;

pub use address::{
    uv_if_indextoiid, uv_if_indextoname, uv_inet_ntop, uv_inet_pton, uv_ip_name, uv_ip4_addr, uv_ip4_name, uv_ip6_addr,
    uv_ip6_name,
};
pub use clock::{
    UV_CLOCK_MONOTONIC, UV_CLOCK_REALTIME, uv_clock_gettime, uv_clock_id, uv_gettimeofday, uv_hrtime, uv_sleep,
    uv_timespec64_t, uv_timeval64_t,
};
pub use dl::{uv_dlclose, uv_dlerror, uv_dlopen, uv_dlsym, uv_lib_t};
pub use error::{uv_err_name, uv_err_name_r, uv_strerror, uv_strerror_r, uv_translate_sys_error};
pub use handle::{uv_close, uv_is_active, uv_is_closing};
#[cfg(miri)]
pub use loop_::simulated_kernel;
pub use loop_::{uv_loop_alive, uv_loop_close, uv_loop_init, uv_now, uv_run, uv_stop, uv_update_time};
pub use random::{uv_random, uv_random_cb, uv_random_t};
pub use stream::{uv_accept, uv_listen, uv_read_start, uv_read_stop};
pub use tcp::{uv_tcp_bind, uv_tcp_getsockname, uv_tcp_init};
pub use timer::{
    uv_timer_again, uv_timer_get_repeat, uv_timer_init, uv_timer_set_repeat, uv_timer_start, uv_timer_stop,
};
pub use types::*;
pub use watcher::{
    uv_check_init, uv_check_start, uv_check_stop, uv_idle_init, uv_idle_start, uv_idle_stop, uv_prepare_init,
    uv_prepare_start, uv_prepare_stop,
};
pub use write::{uv_buf_init, uv_shutdown, uv_try_write, uv_write};
pub use wtf8::{uv_utf16_length_as_wtf8, uv_utf16_to_wtf8, uv_wtf8_length_as_utf16, uv_wtf8_to_utf16};
// Every module exports its part of the interface.
pub use address::*;
pub use async_::*;
pub use error::*;
pub use handle::*;
pub use loop_::*;
pub use memory::*;
pub use stream::*;
pub use tcp::*;
pub use thread::*;
pub use timer::*;
pub use types::*;
pub use version::*;
pub use watcher::*;
pub use write::*;
