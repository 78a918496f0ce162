//! Random bytes.

use std::ffi::{c_int, c_uint, c_void};
use std::slice;

use oxuv_core::Errno;
use oxuv_os::random;

use crate::error::code;
use crate::types::{uv_loop_t, uv_req_t};

/// Called when the bytes are there, with 0 or a negative error, and with what the request was given.
pub type uv_random_cb = Option<unsafe extern "C-unwind" fn(*mut uv_random_t, c_int, *mut c_void, usize)>;

/// A request for random bytes.
#[repr(C)]
pub struct uv_random_t {
    /// What all requests have.
    pub req: uv_req_t,
    /// The loop it was made on.
    pub r#loop: *mut uv_loop_t,
    _status: c_int,
    _buf: *mut c_void,
    _buflen: usize,
    _cb: uv_random_cb,
    _work: [usize; 5],
}

/// The most bytes that one call gives.
const MOST: usize = i32::MAX as usize;

/// Fills `buf` with random bytes, fit for keys, before it returns; loop and request are not looked at and may be null.
///
/// UV_E2BIG for more than 2^31-1 bytes, UV_EINVAL for any flag, UV_EFAULT when `buf` is null. UV_ENOSYS with a
/// callback, that is, for bytes that come later: this is still missing.
///
/// # Safety
/// `buf` is null or points to `buflen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_random(
    _loop: *mut uv_loop_t,
    _req: *mut uv_random_t,
    buf: *mut c_void,
    buflen: usize,
    flags: c_uint,
    cb: uv_random_cb,
) -> c_int {
    if buflen > MOST {
        return Errno::E2BIG.code();
    }
    if flags != 0 {
        return Errno::EINVAL.code();
    }
    if cb.is_some() {
        return Errno::ENOSYS.code();
    }
    if buf.is_null() {
        return if buflen == 0 { 0 } else { Errno::EFAULT.code() };
    }
    // SAFETY: so many bytes are there, says the caller. They need not be initialised, and are only written.
    code(random::fill(unsafe { slice::from_raw_parts_mut(buf.cast(), buflen) }))
}
