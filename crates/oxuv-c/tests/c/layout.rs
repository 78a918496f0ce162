//! The structures are as large as libuv's, and their public fields lie where libuv's do.
//!
//! The numbers are facts of libuv's binary interface on 64-bit Linux: 1.44 to 1.53 have the same.

use std::mem::{align_of, offset_of, size_of};

use crate::build::{self, Link};

use uv::{
    uv_buf_t, uv_check_t, uv_handle_t, uv_idle_t, uv_loop_t, uv_prepare_t, uv_req_t, uv_shutdown_t, uv_stream_t,
    uv_tcp_t, uv_timer_t, uv_write_t,
};

/// Structures and fields as C names them, and libuv's sizes and offsets.
const FACTS: &str = "\
uv_loop_t 848
uv_loop_t.data 0
uv_loop_t.active_handles 8
uv_handle_t 96
uv_handle_t.data 0
uv_handle_t.loop 8
uv_handle_t.type 16
uv_timer_t 152
uv_timer_t.data 0
uv_timer_t.loop 8
uv_timer_t.type 16
uv_idle_t 120
uv_idle_t.type 16
uv_prepare_t 120
uv_prepare_t.type 16
uv_check_t 120
uv_check_t.type 16
uv_stream_t 248
uv_stream_t.data 0
uv_stream_t.loop 8
uv_stream_t.type 16
uv_stream_t.write_queue_size 96
uv_stream_t.io_watcher.fd 184
uv_tcp_t 248
uv_tcp_t.data 0
uv_tcp_t.loop 8
uv_tcp_t.type 16
uv_tcp_t.write_queue_size 96
uv_tcp_t.io_watcher.fd 184
uv_req_t 64
uv_req_t.data 0
uv_req_t.type 8
uv_write_t 192
uv_write_t.data 0
uv_write_t.type 8
uv_write_t.send_handle 72
uv_write_t.handle 80
uv_shutdown_t 80
uv_shutdown_t.data 0
uv_shutdown_t.type 8
uv_shutdown_t.handle 64
uv_buf_t 16
uv_buf_t.base 0
uv_buf_t.len 8
";

#[test]
fn the_header_agrees_with_libuv() {
    assert_eq!(build::run(&build::program("layout.c", Link::Static)), FACTS);
}

#[test]
fn rust_agrees_with_libuv() {
    let ours = [
        ("uv_loop_t", size_of::<uv_loop_t>()),
        ("uv_loop_t.data", offset_of!(uv_loop_t, data)),
        ("uv_handle_t", size_of::<uv_handle_t>()),
        ("uv_handle_t.data", offset_of!(uv_handle_t, data)),
        ("uv_handle_t.loop", offset_of!(uv_handle_t, r#loop)),
        ("uv_handle_t.type", offset_of!(uv_handle_t, r#type)),
        ("uv_timer_t", size_of::<uv_timer_t>()),
        ("uv_timer_t.data", offset_of!(uv_timer_t, handle.data)),
        ("uv_idle_t", size_of::<uv_idle_t>()),
        ("uv_prepare_t", size_of::<uv_prepare_t>()),
        ("uv_check_t", size_of::<uv_check_t>()),
        ("uv_check_t.type", offset_of!(uv_check_t, handle.r#type)),
        ("uv_stream_t", size_of::<uv_stream_t>()),
        ("uv_stream_t.data", offset_of!(uv_stream_t, handle.data)),
        ("uv_stream_t.write_queue_size", offset_of!(uv_stream_t, write_queue_size)),
        ("uv_stream_t.io_watcher.fd", offset_of!(uv_stream_t, io_watcher.fd)),
        ("uv_tcp_t", size_of::<uv_tcp_t>()),
        ("uv_tcp_t.type", offset_of!(uv_tcp_t, stream.handle.r#type)),
        ("uv_tcp_t.io_watcher.fd", offset_of!(uv_tcp_t, stream.io_watcher.fd)),
        ("uv_req_t", size_of::<uv_req_t>()),
        ("uv_req_t.data", offset_of!(uv_req_t, data)),
        ("uv_req_t.type", offset_of!(uv_req_t, r#type)),
        ("uv_write_t", size_of::<uv_write_t>()),
        ("uv_write_t.type", offset_of!(uv_write_t, req.r#type)),
        ("uv_write_t.send_handle", offset_of!(uv_write_t, send_handle)),
        ("uv_write_t.handle", offset_of!(uv_write_t, handle)),
        ("uv_shutdown_t", size_of::<uv_shutdown_t>()),
        ("uv_shutdown_t.type", offset_of!(uv_shutdown_t, req.r#type)),
        ("uv_shutdown_t.handle", offset_of!(uv_shutdown_t, handle)),
        ("uv_buf_t", size_of::<uv_buf_t>()),
        ("uv_buf_t.base", offset_of!(uv_buf_t, base)),
        ("uv_buf_t.len", offset_of!(uv_buf_t, len)),
    ];
    for (name, number) in ours {
        let line = format!("{name} {number}");
        assert!(FACTS.lines().any(|fact| fact == line), "{line}");
    }
}

#[test]
fn everything_is_aligned_like_a_pointer() {
    let ours = [
        align_of::<uv_loop_t>(),
        align_of::<uv_timer_t>(),
        align_of::<uv_idle_t>(),
        align_of::<uv_tcp_t>(),
        align_of::<uv_write_t>(),
        align_of::<uv_shutdown_t>(),
        align_of::<uv_buf_t>(),
    ];
    assert_eq!(ours, [8; 7]);
}
