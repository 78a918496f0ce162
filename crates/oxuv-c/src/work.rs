//! Work on the threads of the pool.

use std::ffi::{c_int, c_void};

use oxuv_core::{Errno, Lane, Result};

use crate::error::code;
use crate::job::{self, Place};
use crate::types::{uv_loop_t, uv_req_t, uv_req_type};

/// Called on a thread of the pool.
pub type uv_work_cb = Option<unsafe extern "C-unwind" fn(*mut uv_work_t)>;
/// Called on the loop's thread when the work is done, or was cancelled.
pub type uv_after_work_cb = Option<unsafe extern "C-unwind" fn(*mut uv_work_t, c_int)>;

/// Work.
pub const UV_WORK: uv_req_type = 7;

/// Work for a thread of the pool.
#[repr(C)]
pub struct uv_work_t {
    /// What all requests have.
    pub req: uv_req_t,
    /// The loop that hears of it.
    pub r#loop: *mut uv_loop_t,
    pub(crate) work_cb: uv_work_cb,
    pub(crate) after_work_cb: uv_after_work_cb,
    pub(crate) job: Place,
}

/// Calls `work_cb` on a thread of the pool, and afterwards `after_work_cb`, which may be null, on the loop's: with 0, or
/// with UV_ECANCELED if the request was cancelled before it began. Phase: poll. The pool is the same for all loops; it has as many
/// threads as the environment's `UV_THREADPOOL_SIZE` says at first use, 4 if it says nothing.
///
/// UV_EINVAL without a `work_cb`, UV_EAGAIN when no thread can be started, UV_ENOMEM.
///
/// # Safety
/// `loop_` was initialised. `req` points to memory for a request, which stays valid until `after_work_cb`. What `work_cb`
/// does is right on another thread; it does not leave by an exception, a `longjmp` or the end of its thread.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_queue_work(
    loop_: *mut uv_loop_t,
    req: *mut uv_work_t,
    work_cb: uv_work_cb,
    after_work_cb: uv_after_work_cb,
) -> c_int {
    if work_cb.is_none() || req.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the request is memory to write to, and stays valid. The thread reads `work_cb`, which nobody writes.
    unsafe {
        (*req).req.r#type = UV_WORK;
        (*req).r#loop = loop_;
        (*req).work_cb = work_cb;
        (*req).after_work_cb = after_work_cb;
        code(job::submit(loop_, req.cast(), &raw mut (*req).job, Lane::Work, work))
    }
}

/// # Safety
/// `req` was submitted by [`uv_queue_work`].
unsafe fn work(req: *mut c_void) {
    let req: *mut uv_work_t = req.cast();
    // SAFETY: the request is valid, and its callback is fit for this thread.
    unsafe {
        if let Some(cb) = (*req).work_cb {
            cb(req);
        }
    }
}

/// # Safety
/// `req` was submitted by [`uv_queue_work`], and has come back.
pub(crate) unsafe fn done(req: *mut uv_work_t, result: Result<()>) {
    // SAFETY: the request is valid until its callback, if it has one.
    unsafe {
        if let Some(cb) = (*req).after_work_cb {
            cb(req, code(result));
        }
    }
}
