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

mod error;
mod handle;
#[path = "loop.rs"]
mod loop_;
mod poll;
mod run;
mod socket;
mod stream;
mod tcp;
mod tcp_connect;
mod tcp_options;
mod timer;
mod types;
mod watcher;
mod write;

pub use error::{uv_err_name, uv_strerror};
pub use handle::{uv_close, uv_is_active, uv_is_closing};
#[cfg(miri)]
pub use loop_::simulated_kernel;
pub use loop_::{uv_loop_alive, uv_loop_close, uv_loop_init, uv_now, uv_run, uv_stop, uv_update_time};
pub use poll::*;
pub use socket::{UV_NONBLOCK_PIPE, uv_recv_buffer_size, uv_send_buffer_size, uv_socketpair};
pub use stream::{
    uv_accept, uv_is_readable, uv_is_writable, uv_listen, uv_read_start, uv_read_stop, uv_stream_get_write_queue_size,
    uv_stream_set_blocking,
};
pub use tcp::{
    uv_ip4_addr, uv_tcp_bind, uv_tcp_close_reset, uv_tcp_getpeername, uv_tcp_getsockname, uv_tcp_init, uv_tcp_init_ex,
    uv_tcp_open,
};
pub use tcp_connect::*;
pub use tcp_options::{uv_tcp_keepalive, uv_tcp_keepalive_ex, uv_tcp_nodelay, uv_tcp_simultaneous_accepts};
pub use timer::{
    uv_timer_again, uv_timer_get_repeat, uv_timer_init, uv_timer_set_repeat, uv_timer_start, uv_timer_stop,
};
pub use types::*;
pub use watcher::{
    uv_check_init, uv_check_start, uv_check_stop, uv_idle_init, uv_idle_start, uv_idle_stop, uv_prepare_init,
    uv_prepare_start, uv_prepare_stop,
};
pub use write::{uv_buf_init, uv_shutdown, uv_try_write, uv_try_write2, uv_write, uv_write_nwritten, uv_write2};
