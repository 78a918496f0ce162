//! Requests that threads of the pool work on.
//!
//! Such a request has a [`Place`] in its private part, where it remembers its ticket. [`submit`] gives the request's address
//! to the pool with a function, which a thread calls with it: what that finds out it writes into the request. Then the loop
//! calls [`done`], which looks at the request's type. Between the two the request is the library's, by the promise that
//! comes with every request: it stays valid until its callback. So neither side needs a lock.
//!
//! To add a kind: its structure with a place, a function for the thread, a line in [`other_done`] and one in [`place_of`].

use std::ffi::c_void;
use std::fmt;

use oxuv_core::kernel::{Job, Operation};
use oxuv_core::{Lane, Look, Result, Ticket};
use oxuv_os::Shared;

use crate::fs::{self, uv_fs_t};
use crate::getaddrinfo::{self, UV_GETADDRINFO, uv_getaddrinfo_t};
use crate::getnameinfo::{self, UV_GETNAMEINFO, uv_getnameinfo_t};
use crate::loop_::{User, kernel, with};
use crate::random::{self, UV_RANDOM, uv_random_t};
use crate::types::{UV_FS, uv_loop_t, uv_req_t};
use crate::work::{self, UV_WORK, uv_work_t};

/// Where a request remembers what it is to the pool. As large as what libuv has there; what is left of it is the kind's.
#[repr(C)]
pub(crate) struct Place<R = [usize; 4]> {
    /// The ticket as a number; 0 of what was never submitted; [`CANCELED`].
    ticket: u64,
    pub(crate) rest: R,
}

/// In the place of a ticket: the request was taken back, and its callback has not begun. It is no ticket's number, whose index
/// would be that of no entry.
const CANCELED: u64 = u64::MAX;

/// The loop of a request that threads work on, and its place there; `None` for any other request.
///
/// # Safety
/// `req` was given to a function that makes a request of it.
pub(crate) unsafe fn place_of(req: *mut uv_req_t) -> Option<(*mut uv_loop_t, *mut Place)> {
    macro_rules! place_in {
        ($kind:ty) => {{
            let req: *mut $kind = req.cast();
            Some(((*req).r#loop, (&raw mut (*req).job).cast::<Place>()))
        }};
    }
    // SAFETY: that function has written the type, which says what it is, and the loop.
    unsafe {
        match (*req).r#type {
            UV_WORK => place_in!(uv_work_t),
            UV_GETADDRINFO => place_in!(uv_getaddrinfo_t),
            UV_GETNAMEINFO => place_in!(uv_getnameinfo_t),
            UV_RANDOM => place_in!(uv_random_t),
            UV_FS => place_in!(uv_fs_t),
            _ => None,
        }
    }
}

/// What a thread is to do.
pub(crate) enum Request {
    /// Something with the request at an address.
    Program { address: *mut c_void, run: unsafe fn(*mut c_void) },
    /// A look at a file, for a handle.
    Look(Shared<Look>),
}

// SAFETY: whoever submits a request promises that it may be worked on by another thread; a look may be.
unsafe impl Send for Request {}

impl Job for Request {
    fn run(&mut self) {
        match self {
            // SAFETY: `submit` has them from somebody who promises that they belong together; a job is run once.
            Request::Program { address, run } => unsafe { run(*address) },
            Request::Look(look) => look.run(),
        }
    }

    fn run_at_once(&mut self) -> bool {
        // SAFETY: as above: the request is valid, and nobody else uses it until it has come back.
        unsafe { self.file_request().is_some_and(|req| fs::run_at_once(req)) }
    }

    fn may_be_quick(&self) -> bool {
        // SAFETY: as above.
        unsafe { self.file_request().is_some_and(|req| fs::may_be_quick(req)) }
    }

    fn put_operation(&mut self, place: &mut Operation) {
        // SAFETY: `submit` had a request, which stays valid until it has come back.
        unsafe {
            if let Some(req) = self.file_request() {
                fs::put_operation(req, place);
            }
        }
    }

    fn answered(&mut self, result: Result<usize>, operation: &mut Operation) {
        // SAFETY: as above; the answer is to the operation that was made of this request.
        unsafe {
            if let Some(req) = self.file_request() {
                fs::answered(req, result.map(|number| operation.answer(number)));
            }
        }
    }
}

impl From<Shared<Look>> for Request {
    fn from(look: Shared<Look>) -> Self {
        Request::Look(look)
    }
}

impl Request {
    /// The request, if it is about files.
    ///
    /// # Safety
    /// It is valid.
    unsafe fn file_request(&self) -> Option<*mut fs::uv_fs_t> {
        let Request::Program { address, .. } = *self else { return None };
        let req: *mut uv_req_t = address.cast();
        // SAFETY: the function that submitted it has written its type.
        unsafe { ((*req).r#type == UV_FS).then_some(req.cast()) }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Program { address, .. } => f.debug_tuple("Request").field(address).finish(),
            Request::Look(look) => look.fmt(f),
        }
    }
}

/// Has a thread call `run` with the address of a request, or a ring do the same, and [`done`] will hear of it.
///
/// EINVAL without a loop, EAGAIN without a thread, ENOMEM.
///
/// # Safety
/// `loop_` was initialised. `req` points to a request of the type that `run` is about, which stays valid until `done`; until
/// then nobody but `run` uses what that uses, which is fit to be used on another thread. `place` is the place in it.
pub(crate) unsafe fn submit<R>(
    loop_: *mut uv_loop_t,
    req: *mut c_void,
    place: *mut Place<R>,
    lane: Lane,
    run: unsafe fn(*mut c_void),
) -> Result<()> {
    #[cfg(not(miri))]
    crate::dl::stay_loaded();
    let request = kernel::job(Request::Program { address: req, run });
    // SAFETY: passed on to our caller. The place is written after the thread may have begun, which does not look at it.
    unsafe {
        let ticket = with(loop_, |core| core.submit(lane, request, User(req)).map_err(|refused| refused.error))?;
        (&raw mut (*place).ticket).write(ticket.to_u64());
    }
    Ok(())
}

/// Whether a submitted request is a ring's to do, not a thread's.
///
/// # Safety
/// `place` is its place.
pub(crate) unsafe fn is_of_ring<R>(place: *const Place<R>) -> bool {
    // SAFETY: `submit` has written it, and nobody else does.
    Ticket::from_u64(unsafe { (&raw const (*place).ticket).read() }).is_of_ring()
}

/// Takes a request back that no thread has begun with; [`done`] will hear of it. Again is the same as once.
///
/// EBUSY when a thread has begun; EINVAL without a loop.
///
/// # Safety
/// `loop_` is the one that it was submitted to, and `place` is its place; its callback has not run, or runs.
pub(crate) unsafe fn cancel(loop_: *mut uv_loop_t, place: *mut Place) -> Result<()> {
    // SAFETY: passed on to our caller.
    unsafe {
        let ticket = &raw mut (*place).ticket;
        if ticket.read() != CANCELED {
            with(loop_, |core| core.cancel(Ticket::from_u64(ticket.read())))?;
            ticket.write(CANCELED);
        }
    }
    Ok(())
}

/// A request has come back from the pool: calls its callback.
///
/// # Safety
/// `req` was submitted, and its event has just come with this result.
#[inline]
pub(crate) unsafe fn done(req: *mut uv_req_t, result: Result<()>) {
    // SAFETY: the function that submitted it has written its type, by which it is what each of these asks for.
    unsafe {
        if result.is_err() {
            no_longer_canceled(req);
        }
        match (*req).r#type {
            UV_WORK => work::done(req.cast(), result),
            _ => other_done(req, result),
        }
    }
}

/// As [`done`], for what takes longer than to look what it is.
///
/// # Safety
/// As [`done`].
#[inline(never)]
unsafe fn other_done(req: *mut uv_req_t, result: Result<()>) {
    // SAFETY: as in `done`.
    unsafe {
        match (*req).r#type {
            UV_GETADDRINFO => getaddrinfo::done(req.cast(), result),
            UV_GETNAMEINFO => getnameinfo::done(req.cast(), result),
            UV_RANDOM => random::done(req.cast(), result),
            UV_FS => fs::done(req.cast(), result),
            _ => unreachable!("nothing else is submitted"),
        }
    }
}

/// From its callback on a request cannot be taken back, as one that was not taken back.
///
/// # Safety
/// As [`done`].
#[cold]
unsafe fn no_longer_canceled(req: *mut uv_req_t) {
    // SAFETY: the request is valid, says the caller.
    unsafe {
        if let Some((_, place)) = place_of(req) {
            (&raw mut (*place).ticket).write(0);
        }
    }
}
