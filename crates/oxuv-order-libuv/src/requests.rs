//! Requests: memory that is the library's from the call to the callback.

use std::ffi::c_int;
use std::rc::Rc;

use libuv_sys2::*;
use oxuv_order::{Outcome, What};

use crate::callbacks::{Slot, error_name, result};

/// A request with what its callback needs. The library's part comes first, so a pointer to it is one to the whole.
#[repr(C)]
pub(crate) struct Request<T> {
    raw: T,
    slot: Rc<Slot>,
    number: Option<u32>,
    /// What is written.
    bytes: Vec<u8>,
    /// What a thread is to do.
    work: Option<Box<dyn FnOnce() + Send>>,
}

impl Request<uv_work_t> {
    /// Submits a job, with `submit`, and returns its request.
    pub(crate) fn make_job(
        slot: Rc<Slot>,
        work: Box<dyn FnOnce() + Send>,
        submit: impl FnOnce(*mut uv_work_t) -> c_int,
    ) -> Outcome<*mut uv_work_t> {
        let mut made = std::ptr::null_mut();
        let submit = |request: *mut uv_work_t, _: &uv_buf_t| {
            made = request;
            // SAFETY: it was made right before, and nobody else has it yet.
            unsafe { (*request.cast::<Request<uv_work_t>>()).work = Some(work) };
            submit(request)
        };
        Request::make(slot, None, Vec::new(), submit).map(|()| made)
    }
}

/// On a thread of the pool.
pub(crate) unsafe extern "C" fn on_work(request: *mut uv_work_t) {
    // SAFETY: the library passes a request of ours, which has been submitted: until it comes back, its work is the thread's.
    if let Some(work) = unsafe { (*request.cast::<Request<uv_work_t>>()).work.take() } {
        work();
    }
}

pub(crate) unsafe extern "C" fn after_work(request: *mut uv_work_t, status: c_int) {
    // SAFETY: the library passes a request of ours, for the last time.
    unsafe { Request::ended(request, What::Work, status) };
}

impl<T> Request<T> {
    /// Makes a request, with `submit`, which gets its memory and the bytes, in that memory too.
    pub(crate) fn make(
        slot: Rc<Slot>,
        number: Option<u32>,
        bytes: Vec<u8>,
        submit: impl FnOnce(*mut T, &uv_buf_t) -> c_int,
    ) -> Outcome {
        // SAFETY: the library's requests are made of numbers, pointers that may be null, and optional functions.
        let raw: T = unsafe { std::mem::zeroed() };
        let request = Box::into_raw(Box::new(Request { raw, slot, number, bytes, work: None }));
        // SAFETY: it was made in the line above, and nobody else has it yet.
        let buffer = buffer_of(unsafe { &(*request).bytes });
        let status = submit(request.cast::<T>(), &buffer);
        if status == 0 {
            return Ok(());
        }
        // SAFETY: it was refused, so there will be no callback, and the memory is ours again.
        drop(unsafe { Box::from_raw(request) });
        Err(error_name(status))
    }

    unsafe fn ended(request: *mut T, what: What, status: c_int) {
        // SAFETY: `make` has made it, and the callback comes once: the memory is ours again.
        let request = *unsafe { Box::from_raw(request.cast::<Request<T>>()) };
        request.slot.tell(false, what, request.number, result(status));
    }
}

/// The library takes a pointer that it could write through, but a write only reads there.
pub(crate) fn buffer_of(bytes: &[u8]) -> uv_buf_t {
    uv_buf_t { base: bytes.as_ptr().cast_mut().cast(), len: bytes.len() }
}

pub(crate) unsafe extern "C" fn on_connect(request: *mut uv_connect_t, status: c_int) {
    // SAFETY: the library passes a request of ours, for the last time.
    unsafe { Request::ended(request, What::Connect, status) };
}

pub(crate) unsafe extern "C" fn on_write(request: *mut uv_write_t, status: c_int) {
    // SAFETY: the library passes a request of ours, for the last time.
    unsafe { Request::ended(request, What::Write, status) };
}

pub(crate) unsafe extern "C" fn on_send(request: *mut uv_udp_send_t, status: c_int) {
    // SAFETY: the library passes a request of ours, for the last time.
    unsafe { Request::ended(request, What::Send, status) };
}

pub(crate) unsafe extern "C" fn on_shutdown(request: *mut uv_shutdown_t, status: c_int) {
    // SAFETY: the library passes a request of ours, for the last time.
    unsafe { Request::ended(request, What::Shutdown, status) };
}
