//! What a handle is asked, and the options that it has.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use libuv_sys2::*;
use oxuv_order::Outcome;

use crate::call::call;
use crate::driver::{Libuv, named};

impl Libuv {
    /// As `Driver::ask`.
    pub(crate) fn ask_handle(&self, name: &str, what: &str) -> Outcome {
        let mut number: c_int = 0;
        let mut place = MaybeUninit::<[u8; 256]>::zeroed();
        let (text, address) = (place.as_mut_ptr().cast::<std::ffi::c_char>(), place.as_mut_ptr().cast::<sockaddr>());
        let (mut size, mut length): (c_int, usize) = (256, 256);
        named(match what {
            "fileno" => call!(self.uv_fileno(self.get(name), &raw mut number)),
            "send_buffer" => call!(self.uv_send_buffer_size(self.get(name), &raw mut number)),
            "receive_buffer" => {
                number = 8192;
                call!(self.uv_recv_buffer_size(self.get(name), &raw mut number))
            }
            "nodelay" => call!(self.uv_tcp_nodelay(self.get(name), 1)),
            "keepalive" => call!(self.uv_tcp_keepalive(self.get(name), 1, 60)),
            "keepalive_never" => call!(self.uv_tcp_keepalive(self.get(name), 0, 0)),
            "simultaneous" => call!(self.uv_tcp_simultaneous_accepts(self.get(name), 1)),
            "tcp_peer" => call!(self.uv_tcp_getpeername(self.get(name), address, &raw mut size)),
            "tcp_own" => call!(self.uv_tcp_getsockname(self.get(name), address, &raw mut size)),
            "pipe_peer" => call!(self.uv_pipe_getpeername(self.get(name), text, &raw mut length)),
            "pipe_own" => call!(self.uv_pipe_getsockname(self.get(name), text, &raw mut length)),
            "chmod" => call!(self.uv_pipe_chmod(self.get(name), uv_poll_event_UV_READABLE as c_int)),
            "chmod_none" => call!(self.uv_pipe_chmod(self.get(name), 0)),
            "nonblocking" => call!(self.uv_stream_set_blocking(self.get(name), 0)),
            "window" => call!(self.uv_tty_get_winsize(self.get(name), &raw mut number, &raw mut size)),
            "raw" => call!(self.uv_tty_set_mode(self.get(name), uv_tty_mode_t_UV_TTY_MODE_RAW)),
            "io" => call!(self.uv_tty_set_mode(self.get(name), uv_tty_mode_t_UV_TTY_MODE_IO)),
            "udp_peer" => call!(self.uv_udp_getpeername(self.get(name), address, &raw mut size)),
            "udp_own" => call!(self.uv_udp_getsockname(self.get(name), address, &raw mut size)),
            "broadcast" => call!(self.uv_udp_set_broadcast(self.get(name), 1)),
            "ttl" => call!(self.uv_udp_set_ttl(self.get(name), 9)),
            "ttl_none" => call!(self.uv_udp_set_ttl(self.get(name), 0)),
            "multicast_ttl" => call!(self.uv_udp_set_multicast_ttl(self.get(name), 256)),
            "multicast_loop" => call!(self.uv_udp_set_multicast_loop(self.get(name), 1)),
            "interface" => call!(self.uv_udp_set_multicast_interface(self.get(name), c"nonsense".as_ptr())),
            "join" => self.join(name, c"239.255.0.1".as_ptr()),
            "join_nonsense" => self.join(name, c"nonsense".as_ptr()),
            "disconnect" => call!(self.uv_udp_connect(self.get(name), std::ptr::null())),
            "event_path" => call!(self.uv_fs_event_getpath(self.get(name), text, &raw mut length)),
            "poll_path" => call!(self.uv_fs_poll_getpath(self.get(name), text, &raw mut length)),
            _ => panic!("nothing to ask: {what}"),
        })
    }

    fn join(&self, name: &str, group: *const std::ffi::c_char) -> c_int {
        let membership = uv_membership_UV_JOIN_GROUP;
        call!(self.uv_udp_set_membership(self.get(name), group, c"127.0.0.1".as_ptr(), membership))
    }
}
