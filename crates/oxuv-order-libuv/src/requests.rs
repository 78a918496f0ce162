//! Requests: memory that is the library's from the call to the callback.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use libuv_sys2::*;
use oxuv_order::{Outcome, What};

use crate::callbacks::{Slot, error_name, result};
use crate::library::Library;

/// A request with what its callback needs. The library's part comes first, so a pointer to it is one to the whole.
#[repr(C)]
pub(crate) struct Request<T> {
    raw: T,
    slot: Rc<Slot>,
    number: Option<u32>,
    /// What is written, or read into.
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
        Request::make_kept(slot, Vec::new(), |request: *mut uv_work_t, _| {
            // SAFETY: it was made right before, and nobody else has it yet.
            unsafe { (*request.cast::<Request<uv_work_t>>()).work = Some(work) };
            submit(request)
        })
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

pub(crate) unsafe extern "C" fn on_found(request: *mut uv_getaddrinfo_t, status: c_int, found: *mut addrinfo) {
    // SAFETY: the library passes a request of ours, for the last time, and what was found, which is ours to free. Its first address
    // is of the family that it says.
    unsafe {
        let text = match found.as_ref() {
            Some(first) if first.ai_family == libc::AF_INET6 => {
                Ipv6Addr::from((*first.ai_addr.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr).to_string()
            }
            Some(first) => {
                let address = (*first.ai_addr.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                Ipv4Addr::from(address.to_ne_bytes()).to_string()
            }
            None => error_name(status),
        };
        (Library::get().uv_freeaddrinfo)(found);
        Request::told(request, What::Found, text);
    }
}

pub(crate) unsafe extern "C" fn on_name(
    request: *mut uv_getnameinfo_t,
    status: c_int,
    host: *const c_char,
    service: *const c_char,
) {
    // SAFETY: the library passes a request of ours, for the last time, and two C strings if there is no error.
    unsafe {
        let text = |name| CStr::from_ptr(name).to_string_lossy();
        let text = if status < 0 { error_name(status) } else { format!("{}:{}", text(host), text(service)) };
        Request::told(request, What::Found, text);
    }
}

pub(crate) unsafe extern "C" fn on_random(request: *mut uv_random_t, status: c_int, _: *mut c_void, count: usize) {
    // SAFETY: the library passes a request of ours, for the last time.
    unsafe {
        let text = if status < 0 { error_name(status) } else { count.to_string() };
        Request::told(request, What::Found, text);
    }
}

impl<T> Request<T> {
    /// Makes a request that can be taken back.
    pub(crate) fn make_kept(
        slot: Rc<Slot>,
        bytes: Vec<u8>,
        submit: impl FnOnce(*mut T, &uv_buf_t) -> c_int,
    ) -> Outcome<*mut T> {
        let mut made = std::ptr::null_mut();
        Request::make(slot, None, bytes, |request, buffer| {
            made = request;
            submit(request, buffer)
        })?;
        Ok(made)
    }

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
        let bytes = unsafe { &mut (*request).bytes };
        let buffer = uv_buf_t { base: bytes.as_mut_ptr().cast(), len: bytes.len() };
        let status = submit(request.cast::<T>(), &buffer);
        if status == 0 {
            return Ok(());
        }
        // SAFETY: it was refused, so there will be no callback, and the memory is ours again.
        drop(unsafe { Box::from_raw(request) });
        Err(error_name(status))
    }

    unsafe fn ended(request: *mut T, what: What, status: c_int) {
        // SAFETY: the caller's promise.
        unsafe { Request::told(request, what, result(status)) };
    }

    pub(crate) unsafe fn told(request: *mut T, what: What, text: String) {
        // SAFETY: `make` has made it, and the callback comes once: the memory is ours again.
        let request = *unsafe { Box::from_raw(request.cast::<Request<T>>()) };
        request.slot.tell(false, what, request.number, text);
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
