//! The life of a file request: its arguments are kept in it, its operation is run, its result is put there.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use oxuv_core::{Errno, Lane, Result};

use super::arguments::Request;
use super::directory;
use super::stat::uv_stat_t;
use super::types::{
    UV_FS_MKDTEMP, UV_FS_MKSTEMP, UV_FS_READDIR, UV_FS_READLINK, UV_FS_REALPATH, UV_FS_SCANDIR, UV_FS_STATFS, uv_fs_cb,
    uv_fs_t, uv_fs_type,
};
use crate::error::code;
use crate::job;
use crate::loop_::guard;
use crate::memory::free;
use crate::types::{UV_FS, uv_loop_t};

/// What a request does, by its arguments, on whatever thread. The number is the result.
pub(super) type Operation = fn(Request) -> Result<isize>;

/// What most calls return.
pub(super) fn finished(result: Result<()>) -> Result<isize> {
    result.map(|()| 0)
}

/// A request with its arguments, or the reason why there is none.
#[derive(Debug)]
pub(super) struct Begun(Result<*mut uv_fs_t>);

/// Makes a request of `req`, with its `arguments`.
///
/// UV_EINVAL when `req` is null or the arguments are wrong; UV_ENOMEM.
///
/// # Safety
/// `req` is null or memory for a request, which stays valid until it is done; so does what the arguments point to, but
/// for paths and the array of buffers. `loop_` is null or was initialised.
pub(super) unsafe fn begin(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    kind: uv_fs_type,
    cb: uv_fs_cb,
    arguments: impl FnOnce(*mut uv_fs_t) -> Result<()>,
) -> Begun {
    if req.is_null() {
        return Begun(Err(Errno::EINVAL));
    }
    // SAFETY: the request is memory to write to. It is read only where it was written before.
    unsafe {
        (*req).req.r#type = UV_FS;
        (*req).fs_type = kind;
        (*req).r#loop = loop_;
        (*req).cb = cb;
        (*req).result = 0;
        (*req).ptr = null_mut();
        (*req).path = null_mut();
        (*req).new_path = null_mut();
        (*req).nbufs = 0;
        (*req).bufs = null_mut();
        (*req).job.rest.operation = None;
        (*req).job.rest.names = null_mut();
    }
    Begun(arguments(req).map(|()| req))
}

impl Begun {
    /// Has the operation run: at once if there is no callback, and then its result is returned.
    ///
    /// UV_EINVAL for a callback without a loop, UV_EAGAIN without a thread, UV_ENOMEM.
    ///
    /// # Safety
    /// The arguments given to [`begin`] are all that `operation` asks for.
    pub(super) unsafe fn run(self, operation: Operation) -> c_int {
        let req = match self.0 {
            Ok(req) => req,
            Err(error) => return error.code(),
        };
        // SAFETY: `begin`'s caller has said that the request and what it speaks of are valid until it is done.
        unsafe {
            (*req).job.rest.operation = Some(operation);
            if (*req).cb.is_some() {
                let submitted = job::submit((*req).r#loop, req.cast(), &raw mut (*req).job, Lane::FastIo, perform);
                match submitted {
                    // The thread, if it is one, does not look at it.
                    Ok(()) => {
                        let is_for_thread = !job::is_of_ring(&raw const (*req).job);
                        (&raw mut (*req).job.rest.is_for_thread).write(is_for_thread.into());
                    }
                    Err(_) => uv_fs_req_cleanup(req),
                }
                return code(submitted);
            }
            guard(|| perform(req.cast()));
            free_bufs(req);
            // libuv's type; what does not fit has its number in the request.
            (*req).result as c_int
        }
    }
}

/// Runs the operation, and puts its result where the program looks for it.
///
/// # Safety
/// `req` is a request from [`begin`] with its operation, which has not run.
unsafe fn perform(req: *mut c_void) {
    let req: *mut uv_fs_t = req.cast();
    // SAFETY: the fields are written, and what the operation needs is there.
    unsafe {
        if let Some(operation) = (*req).job.rest.operation {
            (*req).result = operation(Request::new(req)).unwrap_or_else(|error| error.code() as isize);
        }
    }
}

/// A request has come back from the pool: calls its callback.
///
/// # Safety
/// `req` was submitted by [`Begun::run`], and has come back.
pub(crate) unsafe fn done(req: *mut uv_fs_t, result: Result<()>) {
    // SAFETY: the request is valid until its callback.
    unsafe {
        if let Err(error) = result {
            (*req).result = error.code() as isize;
        }
        free_bufs(req);
        if let Some(cb) = (*req).cb {
            cb(req);
        }
    }
}

/// Forgets the buffers, and frees a copy of their array.
///
/// # Safety
/// `req` was given to [`begin`], and its operation does not run.
unsafe fn free_bufs(req: *mut uv_fs_t) {
    // SAFETY: with a callback the array is a copy, which is in the request or came from `malloc`.
    unsafe {
        if (*req).cb.is_some() && (*req).bufs != (&raw mut (*req).bufsml).cast() {
            free((*req).bufs.cast());
        }
        (*req).bufs = null_mut();
    }
}

/// Frees what the request holds. What `path`, `ptr` and the names of a directory's entries point to is gone then, but
/// for an opened directory, which waits for [`uv_fs_closedir`](crate::uv_fs_closedir). Doing it twice does nothing.
///
/// # Safety
/// `req` is null, or was given to one of the functions here and is done, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_req_cleanup(req: *mut uv_fs_t) {
    if req.is_null() {
        return;
    }
    // SAFETY: each field has a value since `begin`, or is zero. What the request has of its own is told by its kind and
    // by whether there is a callback; each pointer is null from here on, and so is freed once.
    unsafe {
        let kind = (*req).fs_type;
        if (*req).cb.is_some() || [UV_FS_MKDTEMP, UV_FS_MKSTEMP].contains(&kind) {
            free((*req).path.cast_mut().cast());
        }
        (*req).path = null_mut();
        (*req).new_path = null_mut();
        free_bufs(req);
        let ptr = (&raw mut (*req).ptr).replace(null_mut());
        match kind {
            UV_FS_SCANDIR => directory::free_listing(ptr),
            UV_FS_READLINK | UV_FS_REALPATH | UV_FS_STATFS => free(ptr),
            UV_FS_READDIR => free((&raw mut (*req).job.rest.names).replace(null_mut()).cast()),
            _ => {}
        }
    }
}

/// What the request is about.
///
/// # Safety
/// `req` was given to one of the functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_get_type(req: *const uv_fs_t) -> uv_fs_type {
    // SAFETY: `begin` has written the field; so it has in all that follow.
    unsafe { (*req).fs_type }
}

/// What the call returned, or a negative error.
///
/// # Safety
/// `req` was given to one of the functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_get_result(req: *const uv_fs_t) -> isize {
    // SAFETY: see `uv_fs_get_type`.
    unsafe { (*req).result }
}

/// The system's number of the error, which is positive.
///
/// # Safety
/// `req` was given to one of the functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_get_system_error(req: *const uv_fs_t) -> c_int {
    // SAFETY: see `uv_fs_get_type`.
    unsafe { (*req).result.wrapping_neg() as c_int }
}

/// What the call has found, or null.
///
/// # Safety
/// `req` was given to one of the functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_get_ptr(req: *const uv_fs_t) -> *mut c_void {
    // SAFETY: see `uv_fs_get_type`.
    unsafe { (*req).ptr }
}

/// The path, or null.
///
/// # Safety
/// `req` was given to one of the functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_get_path(req: *const uv_fs_t) -> *const c_char {
    // SAFETY: see `uv_fs_get_type`.
    unsafe { (*req).path }
}

/// Where `uv_fs_stat` and its like put what they find.
///
/// # Safety
/// `req` is memory for a request.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_get_statbuf(req: *mut uv_fs_t) -> *mut uv_stat_t {
    // SAFETY: only an address.
    unsafe { &raw mut (*req).statbuf }
}
