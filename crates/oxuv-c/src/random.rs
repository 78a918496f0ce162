//! Random bytes.

use std::ffi::{c_int, c_uint, c_void};
use std::slice;

use oxuv_core::{Errno, Lane, Result};
use oxuv_os::random;

use crate::error::code;
use crate::job::{self, Place};
use crate::types::{uv_loop_t, uv_req_t, uv_req_type};

/// Called when the bytes are there, with 0 or a negative error, and with what the request was given.
pub type uv_random_cb = Option<unsafe extern "C-unwind" fn(*mut uv_random_t, c_int, *mut c_void, usize)>;

/// Random bytes.
pub const UV_RANDOM: uv_req_type = 10;

/// A request for random bytes.
#[repr(C)]
pub struct uv_random_t {
    /// What all requests have.
    pub req: uv_req_t,
    /// The loop it was made on.
    pub r#loop: *mut uv_loop_t,
    status: c_int,
    buf: *mut c_void,
    buflen: usize,
    pub(crate) cb: uv_random_cb,
    pub(crate) job: Place,
}

/// The most bytes that one call gives.
const MOST: usize = i32::MAX as usize;

/// Fills `buf` with random bytes, fit for keys: with a callback on a thread of the pool, and it is called then, with
/// UV_ECANCELED if the request was cancelled before; without one before this returns, and loop and request are not looked at
/// and may be null. Phase: poll.
///
/// UV_E2BIG for more than 2^31-1 bytes, UV_EINVAL for any flag, and with a callback for no loop or no request. UV_EFAULT when
/// `buf` is null and is not empty, by the callback if there is one.
///
/// # Safety
/// `buf` is null or points to `buflen` bytes. With a callback, `loop_` is null or was initialised, `req` is null or points
/// to memory for a request, and until the callback both memories stay valid and are used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_random(
    loop_: *mut uv_loop_t,
    req: *mut uv_random_t,
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
    if cb.is_none() {
        // SAFETY: so many bytes are there, says the caller.
        return code(unsafe { fill(buf, buflen) });
    }
    if req.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the request is memory to write to, and it and the bytes are this library's until the callback.
    unsafe {
        (*req).req.r#type = UV_RANDOM;
        (*req).r#loop = loop_;
        (*req).status = 0;
        (*req).buf = buf;
        (*req).buflen = buflen;
        (*req).cb = cb;
        code(job::submit(loop_, req.cast(), &raw mut (*req).job, Lane::Work, work))
    }
}

/// # Safety
/// `buf` is null or points to `buflen` bytes, at most [`MOST`].
unsafe fn fill(buf: *mut c_void, buflen: usize) -> Result<()> {
    if buf.is_null() {
        return if buflen == 0 { Ok(()) } else { Err(Errno::EFAULT) };
    }
    // SAFETY: so many bytes are there. They need not be initialised, and are only written.
    random::fill(unsafe { slice::from_raw_parts_mut(buf.cast(), buflen) })
}

/// # Safety
/// `req` was submitted by [`uv_random`].
unsafe fn work(req: *mut c_void) {
    let req: *mut uv_random_t = req.cast();
    // SAFETY: request and bytes are this thread's until it is done.
    unsafe { (*req).status = code(fill((*req).buf, (*req).buflen)) };
}

/// # Safety
/// `req` was submitted by [`uv_random`], and has come back.
pub(crate) unsafe fn done(req: *mut uv_random_t, result: Result<()>) {
    // SAFETY: the request is valid until its callback.
    unsafe {
        let status = result.map_or_else(Errno::code, |()| (*req).status);
        if let Some(cb) = (*req).cb {
            cb(req, status, (*req).buf, (*req).buflen);
        }
    }
}
