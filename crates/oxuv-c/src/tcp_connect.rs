//! Connecting.

use std::ffi::c_int;

use libc::sockaddr;

use crate::address::read_address;
use crate::error::code;
use crate::handle::with_open;
use crate::loop_::User;
use crate::stream;
use crate::types::{uv_req_t, uv_req_type, uv_stream_t, uv_tcp_t};

/// Called when a connect is done or has failed.
pub type uv_connect_cb = Option<unsafe extern "C-unwind" fn(*mut uv_connect_t, c_int)>;

/// A connect.
pub const UV_CONNECT: uv_req_type = 2;

/// A connect.
#[repr(C)]
pub struct uv_connect_t {
    /// What all requests have.
    pub req: uv_req_t,
    pub(crate) cb: uv_connect_cb,
    /// The stream that connects.
    pub handle: *mut uv_stream_t,
    _queue: [usize; 2],
}

/// Connects to an IPv4 or IPv6 address; the unspecified one is this machine. `cb`, which may be null, is called later,
/// never from here. What is written until then is sent afterwards.
///
/// UV_EINVAL for an address of another family and for a closing handle; UV_EALREADY while connecting; UV_EISCONN;
/// UV_ENETUNREACH and others that the kernel knows at once. A refusal, and what `uv_tcp_bind` found in use, `cb` tells.
///
/// # Safety
/// `tcp` was initialised, and stays valid until it is closed; `addr` points to an address as large as its family says;
/// `req` stays valid until `cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_connect(
    req: *mut uv_connect_t,
    tcp: *mut uv_tcp_t,
    addr: *const sockaddr,
    cb: uv_connect_cb,
) -> c_int {
    // SAFETY: the handle was initialised, the request is memory to write to, and the address is the caller's word.
    unsafe {
        let asked = read_address(addr)
            .and_then(|address| with_open(tcp.cast(), |core, key| core.tcp_connect(key, User::of(req), &address)));
        if asked.is_ok() {
            (*req).req.r#type = UV_CONNECT;
            (*req).cb = cb;
            (*req).handle = tcp.cast();
            (*tcp).stream.connect_req = req;
        }
        // A connect that fails may have made the socket all the same.
        stream::show_descriptor(tcp.cast());
        code(asked)
    }
}
