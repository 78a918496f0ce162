//! Options of TCP connections.

use std::ffi::{c_int, c_uint};

use oxuv_core::Result;
use oxuv_core::kernel::Keepalive;

use crate::error::code;
use crate::handle::with_open;
use crate::stream::is_closing;
use crate::types::uv_tcp_t;

/// What libuv has for what a program does not say.
const DEFAULT: Keepalive = Keepalive { idle: 60, interval: 1, count: 10 };

/// Sends small writes at once, or gathers them. Without a socket it is remembered for when there is one.
///
/// # Safety
/// `tcp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_nodelay(tcp: *mut uv_tcp_t, enable: c_int) -> c_int {
    // SAFETY: the handle was initialised.
    unsafe {
        if is_closing(tcp.cast()) {
            return 0;
        }
        code(with_open(tcp.cast(), |core, key| core.tcp_nodelay(key, enable != 0)))
    }
}

/// Has an idle connection probed after `delay` seconds, every second, 10 times; or not.
///
/// UV_EINVAL as for [`uv_tcp_keepalive_ex`].
///
/// # Safety
/// `tcp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_keepalive(tcp: *mut uv_tcp_t, enable: c_int, delay: c_uint) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { uv_tcp_keepalive_ex(tcp, enable, delay, DEFAULT.interval, DEFAULT.count) }
}

/// Has an idle connection probed after `idle` seconds, every `intvl` seconds, and given up after `cnt` unanswered
/// probes; or not. Without a socket it is remembered for when there is one.
///
/// UV_EINVAL, if there is a socket, for a time of 0 or beyond 32767 seconds, or a count of 0 or beyond 127.
///
/// # Safety
/// `tcp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_keepalive_ex(
    tcp: *mut uv_tcp_t,
    on: c_int,
    idle: c_uint,
    intvl: c_uint,
    cnt: c_uint,
) -> c_int {
    let mut keepalive = (on != 0).then_some(Keepalive { idle, interval: intvl, count: cnt });
    // SAFETY: the handle was initialised.
    unsafe {
        if is_closing(tcp.cast()) {
            return 0;
        }
        let set: Result<()> = with_open(tcp.cast(), |core, key| {
            if core.descriptor(key).is_err() && keepalive.is_some_and(|asked| asked.check().is_err()) {
                // Nobody has looked at the numbers before, and programs do not expect an error.
                keepalive = Some(DEFAULT);
            }
            core.tcp_keepalive(key, keepalive)
        });
        code(set)
    }
}

/// There is nothing to be chosen here: it says 0.
///
/// # Safety
/// `tcp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tcp_simultaneous_accepts(_tcp: *mut uv_tcp_t, _enable: c_int) -> c_int {
    0
}
