//! What all requests have in common.

use std::ffi::c_void;

use crate::types::{uv_req_t, uv_req_type};

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
