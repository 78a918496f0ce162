//! What all requests have in common.

use std::ffi::{c_int, c_void};

use oxuv_core::Errno;

use crate::error::code;
use crate::fs::uv_fs_t;
use crate::getaddrinfo::{UV_GETADDRINFO, uv_getaddrinfo_t};
use crate::getnameinfo::{UV_GETNAMEINFO, uv_getnameinfo_t};
use crate::job::{self, Place};
use crate::random::{UV_RANDOM, uv_random_t};
use crate::types::{UV_FS, UV_WRITE, uv_req_t, uv_req_type};
use crate::work::{UV_WORK, uv_work_t};
use crate::write;

/// The loop of a request that threads work on, and its place there.
macro_rules! job_of {
    ($req:ident as $kind:ty) => {{
        let req: *mut $kind = $req.cast();
        ((*req).r#loop, (&raw const (*req).job).cast::<Place>())
    }};
}

/// The program's own value.
///
/// # Safety
/// `req` is a request whose `data` was set.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_req_get_data(req: *const uv_req_t) -> *mut c_void {
    // SAFETY: the caller says that the field has a value.
    unsafe { (*req).data }
}

/// Sets the program's own value. No other function writes it.
///
/// # Safety
/// `req` points to memory for a request.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_req_set_data(req: *mut uv_req_t, data: *mut c_void) {
    // SAFETY: memory to write to, says the caller.
    unsafe { (*req).data = data }
}

/// The request's kind.
///
/// # Safety
/// `req` was given to a function that makes a request of it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_req_get_type(req: *const uv_req_t) -> uv_req_type {
    // SAFETY: that function has written the field.
    unsafe { (*req).r#type }
}

/// Takes a request back: its callback is still to come, and hears UV_ECANCELED. Of a write, what was sent stays sent, and
/// `uv_write_nwritten` tells how much; one that has ended by now keeps its result, and this is 0 all the same.
///
/// What a thread of the pool is to do can be taken back until it has begun: UV_EBUSY from then on, also when it is done.
///
/// UV_EBUSY for a write to a closing stream; UV_EINVAL for a kind of request that cannot be taken back.
///
/// # Safety
/// `req` is a request whose callback has not run, or runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_cancel(req: *mut uv_req_t) -> c_int {
    // SAFETY: the function that made a request of it has written its type, which says what it is, and all of the fields that
    // are looked at.
    unsafe {
        let (loop_, place) = match (*req).r#type {
            UV_WRITE => return code(write::cancel(req.cast())),
            UV_WORK => job_of!(req as uv_work_t),
            UV_GETADDRINFO => job_of!(req as uv_getaddrinfo_t),
            UV_GETNAMEINFO => job_of!(req as uv_getnameinfo_t),
            UV_RANDOM => job_of!(req as uv_random_t),
            UV_FS => job_of!(req as uv_fs_t),
            _ => return Errno::EINVAL.code(),
        };
        code(job::cancel(loop_, place))
    }
}
