//! Looking up names.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{copy_nonoverlapping, null};

use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage};
use oxuv_core::{Errno, Lane, Result};
use oxuv_os::names;

use crate::address::family;
use crate::error::code;
use crate::getaddrinfo::EAI_CANCELED;
use crate::job::{self, Place};
use crate::types::{uv_loop_t, uv_req_t, uv_req_type};

/// Called when names are looked up, with those of the host and the service; both are null if that failed.
pub type uv_getnameinfo_cb =
    Option<unsafe extern "C-unwind" fn(*mut uv_getnameinfo_t, c_int, *const c_char, *const c_char)>;

/// A look-up of names.
pub const UV_GETNAMEINFO: uv_req_type = 9;

/// A look-up of names.
#[repr(C)]
pub struct uv_getnameinfo_t {
    /// What all requests have.
    pub req: uv_req_t,
    /// The loop it was made on.
    pub r#loop: *mut uv_loop_t,
    pub(crate) job: Place,
    pub(crate) cb: uv_getnameinfo_cb,
    storage: sockaddr_storage,
    flags: c_int,
    /// The host's name, once it was found. Programs read it.
    pub host: [c_char; 1025],
    /// The service's name, once it was found. Programs read it.
    pub service: [c_char; 32],
    retcode: c_int,
}

/// Looks up the names of an address's host and of the service at its port, with the flags of the C library's `getnameinfo`. With
/// a callback that is done by a thread of the pool, of which slow requests never take more than half; without one, before
/// this returns: the names are in `req->host` and `req->service`, and the loop may be null. Phase: poll.
///
/// UV_EINVAL without a request or an address, for an address that is neither IPv4 nor IPv6, and with a callback but no loop.
/// What the resolver says (UV_EAI_NONAME and its kind), and UV_EAI_CANCELED, the callback hears, if there is one.
///
/// # Safety
/// `loop_` is null or was initialised. `req` points to memory for a request, which stays valid until the callback. `addr` is null or
/// points to an address as large as its family says, which is not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_getnameinfo(
    loop_: *mut uv_loop_t,
    req: *mut uv_getnameinfo_t,
    cb: uv_getnameinfo_cb,
    addr: *const sockaddr,
    flags: c_int,
) -> c_int {
    if req.is_null() || addr.is_null() || (cb.is_some() && loop_.is_null()) {
        return Errno::EINVAL.code();
    }
    // SAFETY: the request is memory to write to, and the address is as large as its family says.
    unsafe {
        let Some(size) = size_of_address(addr) else { return Errno::EINVAL.code() };
        copy_nonoverlapping(addr.cast::<u8>(), (&raw mut (*req).storage).cast(), size);
        (*req).req.r#type = UV_GETNAMEINFO;
        (*req).r#loop = loop_;
        (*req).cb = cb;
        (*req).flags = flags;
        (*req).retcode = 0;
        if cb.is_some() {
            return code(job::submit(loop_, req.cast(), &raw mut (*req).job, Lane::SlowIo, work));
        }
        work(req.cast());
        (*req).retcode
    }
}

/// The size of an IPv4 or IPv6 address.
///
/// # Safety
/// `addr` points to an address.
unsafe fn size_of_address(addr: *const sockaddr) -> Option<usize> {
    // SAFETY: the caller says so.
    match unsafe { family(addr) } {
        libc::AF_INET => Some(size_of::<sockaddr_in>()),
        libc::AF_INET6 => Some(size_of::<sockaddr_in6>()),
        _ => None,
    }
}

/// # Safety
/// `req` has its address and its flags.
unsafe fn work(req: *mut c_void) {
    let req: *mut uv_getnameinfo_t = req.cast();
    // SAFETY: the request is this thread's until it is done. The buffers are as large as they are said to be.
    unsafe {
        let addr: *const sockaddr = (&raw const (*req).storage).cast();
        let returned = libc::getnameinfo(
            addr,
            size_of_address(addr).unwrap_or(0) as libc::socklen_t,
            (&raw mut (*req).host).cast(),
            size_of::<[c_char; 1025]>() as _,
            (&raw mut (*req).service).cast(),
            size_of::<[c_char; 32]>() as _,
            (*req).flags,
        );
        (*req).retcode = names::error(returned).map_or(0, Errno::code);
    }
}

/// # Safety
/// `req` was submitted by [`uv_getnameinfo`], and has come back.
pub(crate) unsafe fn done(req: *mut uv_getnameinfo_t, result: Result<()>) {
    // SAFETY: the request is valid until its callback.
    unsafe {
        if result.is_err() {
            (*req).retcode = EAI_CANCELED.code();
        }
        let (mut host, mut service) = (null(), null());
        if (*req).retcode == 0 {
            (host, service) = ((&raw const (*req).host).cast(), (&raw const (*req).service).cast());
        }
        if let Some(cb) = (*req).cb {
            cb(req, (*req).retcode, host, service);
        }
    }
}
