//! The structures that programs see. Sizes and the places of the public fields are libuv's; they are part of its
//! binary interface. What libuv keeps for itself we use as we like, or leave as it is.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use oxuv_core::IdleTime;

use crate::loop_::Loop;
use crate::tcp_connect::uv_connect_t;

/// Called when a timer is due.
pub type uv_timer_cb = Option<unsafe extern "C-unwind" fn(*mut uv_timer_t)>;
/// Called in each turn before waiting for events, which then does not wait.
pub type uv_idle_cb = uv_watcher_cb;
/// Called in each turn before waiting for events.
pub type uv_prepare_cb = uv_watcher_cb;
/// Called in each turn after waiting for events.
pub type uv_check_cb = uv_watcher_cb;
/// Called in each turn, at the place that the kind of handle says.
pub type uv_watcher_cb = Option<unsafe extern "C-unwind" fn(*mut uv_watcher_t)>;
/// The last that is heard of a handle: its memory is the caller's again.
pub type uv_close_cb = Option<unsafe extern "C-unwind" fn(*mut uv_handle_t)>;
/// Asked for memory to read into; the size is a suggestion.
pub type uv_alloc_cb = Option<unsafe extern "C-unwind" fn(*mut uv_handle_t, usize, *mut uv_buf_t)>;
/// Gets the bytes read, or a negative error, and the buffer back.
pub type uv_read_cb = Option<unsafe extern "C-unwind" fn(*mut uv_stream_t, isize, *const uv_buf_t)>;
/// Called when a connection waits to be accepted.
pub type uv_connection_cb = Option<unsafe extern "C-unwind" fn(*mut uv_stream_t, c_int)>;
/// Called when a write is done or has failed.
pub type uv_write_cb = Option<unsafe extern "C-unwind" fn(*mut uv_write_t, c_int)>;
/// Called when a shutdown is done or has failed.
pub type uv_shutdown_cb = Option<unsafe extern "C-unwind" fn(*mut uv_shutdown_t, c_int)>;

/// `uv_handle_type`: what kind of handle this is.
pub type uv_handle_type = c_uint;
/// An async handle.
pub const UV_ASYNC: uv_handle_type = 1;
/// A check handle.
pub const UV_CHECK: uv_handle_type = 2;
/// An idle handle.
pub const UV_IDLE: uv_handle_type = 6;
/// A pipe.
pub const UV_NAMED_PIPE: uv_handle_type = 7;
/// A prepare handle.
pub const UV_PREPARE: uv_handle_type = 9;
/// A TCP handle.
pub const UV_TCP: uv_handle_type = 12;
/// A terminal.
pub const UV_TTY: uv_handle_type = 14;
/// A timer.
pub const UV_TIMER: uv_handle_type = 13;

/// `uv_req_type`: what kind of request this is.
pub type uv_req_type = c_uint;
/// A write.
pub const UV_WRITE: uv_req_type = 3;
/// A shutdown.
pub const UV_SHUTDOWN: uv_req_type = 4;

/// A file request.
pub const UV_FS: uv_req_type = 6;

/// `uv_run_mode`: how long a run goes on.
pub type uv_run_mode = c_uint;
/// Until nothing is alive, or until stopped.
pub const UV_RUN_DEFAULT: uv_run_mode = 0;
/// One turn, waiting for an event if none is there.
pub const UV_RUN_ONCE: uv_run_mode = 1;
/// One turn, without waiting.
pub const UV_RUN_NOWAIT: uv_run_mode = 2;

/// Flag of `uv_tcp_bind`: an IPv6 socket that takes no IPv4 connections.
pub const UV_TCP_IPV6ONLY: c_uint = 1;
/// Flag of `uv_tcp_bind`: several sockets may be bound to the address.
pub const UV_TCP_REUSEPORT: c_uint = 2;

/// A loop.
#[repr(C)]
pub struct uv_loop_t {
    /// The program's own.
    pub data: *mut c_void,
    /// Active referenced handles. Programs may change the number, and take the same difference back.
    pub active_handles: c_uint,
    _handle_queue: [usize; 2],
    /// Requests whose callback is still to come.
    pub active_reqs: c_uint,
    /// Null before init and after close. libuv has its internal fields here.
    pub(crate) core: *mut Loop,
    /// Not 0 when the run is to end. Private in libuv too, but programs write it.
    pub stop_flag: c_uint,
    _flags: c_ulong,
    /// The epoll descriptor.
    pub backend_fd: c_int,
    /// Null before init and after close. In the core's memory; other threads may look.
    pub(crate) idle_time: *const IdleTime,
    _rest: [usize; 96],
}

/// What all handles begin with.
#[repr(C)]
pub struct uv_handle_t {
    /// The program's own. Never written here.
    pub data: *mut c_void,
    /// The loop it was initialised on.
    pub r#loop: *mut uv_loop_t,
    /// Its kind.
    pub r#type: uv_handle_type,
    pub(crate) close_cb: uv_close_cb,
    /// The core's key as a number, 0 in zeroed memory.
    pub(crate) key: u64,
    _reserved: [usize; 6],
    pub(crate) flags: c_uint,
}

/// A timer.
#[repr(C)]
pub struct uv_timer_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    pub(crate) timer_cb: uv_timer_cb,
    /// Milliseconds of the loop's time at which it is due, as its last start had it. Beside the callback, since with
    /// a million timers it is the memory touched that takes the time.
    pub(crate) due: u64,
    /// Milliseconds, exactly as the program gave them. The core has nanoseconds, which saturate.
    pub(crate) repeat: u64,
    _rest: [usize; 4],
}

/// What idle, prepare and check handles look like. C has a type for each.
#[repr(C)]
pub struct uv_watcher_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    pub(crate) watcher_cb: uv_watcher_cb,
    _queue: [usize; 2],
}

/// Runs a callback in each turn, before prepare; the loop does not wait while one is active.
pub type uv_idle_t = uv_watcher_t;
/// Runs a callback in each turn, before waiting.
pub type uv_prepare_t = uv_watcher_t;
/// Runs a callback in each turn, after waiting.
pub type uv_check_t = uv_watcher_t;

/// What all streams begin with.
#[repr(C)]
pub struct uv_stream_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    /// Bytes of writes that are not sent.
    pub write_queue_size: usize,
    pub(crate) alloc_cb: uv_alloc_cb,
    pub(crate) read_cb: uv_read_cb,
    pub(crate) connect_req: *mut uv_connect_t,
    pub(crate) shutdown_req: *mut uv_shutdown_t,
    /// Private in libuv too, but programs read its `fd`.
    pub io_watcher: uv__io_t,
    _write_queue: [usize; 2],
    _write_completed_queue: [usize; 2],
    pub(crate) connection_cb: uv_connection_cb,
    _delayed_error: c_int,
    _accepted_fd: c_int,
    _queued_fds: usize,
}

/// Where programs find a stream's descriptor.
#[repr(C)]
pub struct uv__io_t {
    _bits: usize,
    _queues: [usize; 4],
    _pevents: c_uint,
    _events: c_uint,
    /// -1 when there is none.
    pub fd: c_int,
}

/// A TCP listener or connection.
#[repr(C)]
pub struct uv_tcp_t {
    /// What all streams have.
    pub stream: uv_stream_t,
}

/// A pipe: a listener or connection of the Unix domain, a FIFO, or an end of a pipe.
#[repr(C)]
pub struct uv_pipe_t {
    /// What all streams have.
    pub stream: uv_stream_t,
    /// Not 0 when handles can be sent along with its bytes.
    pub ipc: c_int,
    /// The path that it was bound to, or null. In the core's memory. Private in libuv too, but programs read it.
    pub pipe_fname: *const c_char,
}

/// What all requests begin with.
#[repr(C)]
pub struct uv_req_t {
    /// The program's own. Never written here.
    pub data: *mut c_void,
    /// Its kind.
    pub r#type: uv_req_type,
    _reserved: [usize; 5],
    /// Of a write, the bytes sent so far.
    pub(crate) sent: usize,
}

/// A write.
#[repr(C)]
pub struct uv_write_t {
    /// What all requests have.
    pub req: uv_req_t,
    pub(crate) cb: uv_write_cb,
    /// A handle that is still to be sent along, or null.
    pub send_handle: *mut uv_stream_t,
    /// The stream written to.
    pub handle: *mut uv_stream_t,
    _queue: [usize; 2],
    _write_index: c_uint,
    /// Room for a copy of the caller's array: `bufsml` if it fits there, else memory of its own.
    pub(crate) bufs: *mut uv_buf_t,
    pub(crate) nbufs: c_uint,
    _error: c_int,
    pub(crate) bufsml: [uv_buf_t; 4],
}

/// A shutdown.
#[repr(C)]
pub struct uv_shutdown_t {
    /// What all requests have.
    pub req: uv_req_t,
    /// The stream to be shut down.
    pub handle: *mut uv_stream_t,
    pub(crate) cb: uv_shutdown_cb,
}

/// A buffer of the caller's.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct uv_buf_t {
    /// Its beginning.
    pub base: *mut c_char,
    /// Its size in bytes.
    pub len: usize,
}
