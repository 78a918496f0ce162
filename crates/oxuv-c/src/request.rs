//! What all requests have in common.

use std::ffi::{c_int, c_void};

use oxuv_core::Errno;

use crate::error::code;
use crate::job;
use crate::types::{UV_WRITE, uv_req_t, uv_req_type};
use crate::write;

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
/// What a thread of the pool is to do can be taken back until it has begun: UV_EBUSY from then on, also when it is done. Taken
/// back it stays until its callback, and this says 0 again.
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
        if (*req).r#type == UV_WRITE {
            return code(write::cancel(req.cast()));
        }
        let canceled = job::place_of(req).map(|(loop_, place)| job::cancel(loop_, place));
        code(canceled.unwrap_or(Err(Errno::EINVAL)))
    }
}
