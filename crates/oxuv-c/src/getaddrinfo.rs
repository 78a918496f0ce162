//! Looking up addresses.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{copy_nonoverlapping, null_mut};

use libc::addrinfo;
use oxuv_core::{Errno, Lane, Result};
use oxuv_os::names::{self, HostName};

use crate::error::code;
use crate::job::{self, Place};
use crate::memory;
use crate::types::{uv_loop_t, uv_req_t, uv_req_type};

/// Called when addresses are looked up, with the first of them, for [`uv_freeaddrinfo`].
pub type uv_getaddrinfo_cb = Option<unsafe extern "C-unwind" fn(*mut uv_getaddrinfo_t, c_int, *mut addrinfo)>;

/// A look-up of addresses.
pub const UV_GETADDRINFO: uv_req_type = 8;

/// The status of a look-up that was cancelled: UV_EAI_CANCELED.
pub(crate) const EAI_CANCELED: Errno = Errno::from_raw(3003);

/// A look-up of addresses.
#[repr(C)]
pub struct uv_getaddrinfo_t {
    /// What all requests have.
    pub req: uv_req_t,
    /// The loop it was made on.
    pub r#loop: *mut uv_loop_t,
    pub(crate) job: Place,
    pub(crate) cb: uv_getaddrinfo_cb,
    /// Copies of what was asked, or null, in one piece of memory: [`Question`].
    question: *mut Question,
    _hostname: *mut c_char,
    _service: *mut c_char,
    /// The addresses that were found, for [`uv_freeaddrinfo`]; null if there are none. Programs read it.
    pub addrinfo: *mut addrinfo,
    retcode: c_int,
}

/// What was asked; behind it lies the service, with a zero at its end.
struct Question {
    host: Option<HostName>,
    hints: Option<addrinfo>,
    has_service: bool,
}

impl Question {
    /// A copy in memory of its own.
    ///
    /// ENOMEM.
    ///
    /// # Safety
    /// `hints` is null or points to hints.
    unsafe fn new(host: Option<HostName>, service: Option<&CStr>, hints: *const addrinfo) -> Result<*mut Question> {
        let text = service.map_or(&[][..], CStr::to_bytes_with_nul);
        let question: *mut Question = memory::malloc(size_of::<Question>() + text.len()).cast();
        if question.is_null() {
            return Err(Errno::ENOMEM);
        }
        // SAFETY: memory of `malloc` is aligned for it, and there is room for the text behind it; the hints are the caller's.
        unsafe {
            let hints = if hints.is_null() { None } else { Some(hints.read()) };
            question.write(Question { host, hints, has_service: service.is_some() });
            copy_nonoverlapping(text.as_ptr(), question.add(1).cast(), text.len());
        }
        Ok(question)
    }

    /// Asks the resolver.
    ///
    /// # Safety
    /// `question` came from [`Question::new`]; nobody writes to it.
    unsafe fn ask(question: *const Question, found: &mut *mut addrinfo) -> Result<()> {
        // SAFETY: the texts end with zeros; the hints' pointers are not looked at, and the result is the caller's variable.
        let returned = unsafe {
            let Question { host, hints, has_service } = &*question;
            let host = host.as_ref().map_or(std::ptr::null(), |host| host.as_c_str().as_ptr());
            let service = if *has_service { question.add(1).cast() } else { std::ptr::null() };
            let hints = hints.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            libc::getaddrinfo(host, service, hints, found)
        };
        names::error(returned).map_or(Ok(()), Err)
    }
}

/// Looks up the addresses of a host, of a service, or of a service at a host; `node`, `service` and `hints` may be null, but not the
/// first two at once. With a callback that is done by a thread of the pool, of which slow requests never take more than half;
/// without one, before this returns, and the loop may be null. What was found is in `req->addrinfo`, too. Host names beyond ASCII are
/// encoded by UTS 46. Phase: poll.
///
/// UV_EINVAL without a request, without anything to look up, with a callback but no loop, and for a name that is longer than
/// 255 bytes, empty, or cannot be encoded; UV_ENOMEM. What the resolver says (UV_EAI_NONAME and its kind), and UV_EAI_CANCELED, the
/// callback hears, if there is one.
///
/// # Safety
/// `loop_` is null or was initialised. `req` points to memory for a request, which stays valid until the callback. The texts end with
/// a zero; they and the hints are not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_getaddrinfo(
    loop_: *mut uv_loop_t,
    req: *mut uv_getaddrinfo_t,
    cb: uv_getaddrinfo_cb,
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
) -> c_int {
    if req.is_null() || (node.is_null() && service.is_null()) || (cb.is_some() && loop_.is_null()) {
        return Errno::EINVAL.code();
    }
    // SAFETY: the texts are the caller's, as are the hints; the request is memory to write to.
    unsafe {
        let text = |text: *const c_char| if text.is_null() { None } else { Some(CStr::from_ptr(text)) };
        let host = text(node).map(|name| HostName::new(name.to_bytes())).transpose();
        let question = match host.and_then(|host| Question::new(host, text(service), hints)) {
            Ok(question) => question,
            Err(error) => return error.code(),
        };
        (*req).req.r#type = UV_GETADDRINFO;
        (*req).r#loop = loop_;
        (*req).cb = cb;
        (*req).question = question;
        (*req).addrinfo = null_mut();
        (*req).retcode = 0;
        if cb.is_some() {
            let submitted = job::submit(loop_, req.cast(), &raw mut (*req).job, Lane::SlowIo, work);
            if submitted.is_err() {
                forget(req);
            }
            return code(submitted);
        }
        work(req.cast());
        forget(req);
        (*req).retcode
    }
}

/// # Safety
/// `req` has its question, which nobody else looks at.
unsafe fn work(req: *mut c_void) {
    let req: *mut uv_getaddrinfo_t = req.cast();
    // SAFETY: request and question are this thread's until it is done.
    unsafe {
        let mut found = null_mut();
        (*req).retcode = code(Question::ask((*req).question, &mut found));
        (*req).addrinfo = found;
    }
}

/// # Safety
/// `req` was submitted by [`uv_getaddrinfo`], and has come back.
pub(crate) unsafe fn done(req: *mut uv_getaddrinfo_t, result: Result<()>) {
    // SAFETY: the request is valid until its callback.
    unsafe {
        forget(req);
        if result.is_err() {
            (*req).retcode = EAI_CANCELED.code();
        }
        if let Some(cb) = (*req).cb {
            cb(req, (*req).retcode, (*req).addrinfo);
        }
    }
}

/// Frees the question.
///
/// # Safety
/// `req` has one, which is out of use.
unsafe fn forget(req: *mut uv_getaddrinfo_t) {
    // SAFETY: it came from `malloc` and is freed once, as null is left. It owns nothing.
    unsafe { memory::free(std::mem::replace(&mut (*req).question, null_mut()).cast()) };
}

/// Frees addresses that were found; null is fine.
///
/// # Safety
/// `ai` is null, or the first of the addresses that [`uv_getaddrinfo`] has found, which are out of use.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_freeaddrinfo(ai: *mut addrinfo) {
    if !ai.is_null() {
        // SAFETY: the list is the resolver's, and given back once.
        unsafe { libc::freeaddrinfo(ai) };
    }
}
