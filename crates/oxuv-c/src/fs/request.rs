//! The life of a file request: its arguments are kept in it, its operation is run, its result is put there.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::os::fd::BorrowedFd;
use std::ptr::null_mut;
use std::slice;

use oxuv_core::{Errno, Lane, Result};
use oxuv_os::fs::{Metadata, ReadBuf, WriteBuf};

use super::directory;
use super::stat::uv_stat_t;
use super::types::{
    BUFSML, UV_FS_MKDTEMP, UV_FS_MKSTEMP, UV_FS_READDIR, UV_FS_READLINK, UV_FS_REALPATH, UV_FS_SCANDIR, UV_FS_STATFS,
    uv_file, uv_fs_cb, uv_fs_t, uv_fs_type,
};
use crate::error::code;
use crate::job;
use crate::loop_::guard;
use crate::memory::{free, malloc};
use crate::types::{UV_FS, uv_buf_t, uv_loop_t};

/// What a request does, by its arguments, on whatever thread. The number is the result.
pub(super) type Operation = fn(Request) -> Result<isize>;

/// What most calls return.
pub(super) fn finished(result: Result<()>) -> Result<isize> {
    result.map(|()| 0)
}

/// A request whose operation runs. Its arguments are there and stay as they are, and it is the operation's to put what it
/// finds into it. The rest of it is the program's, who may look on: hence no reference to all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request(*mut uv_fs_t);

impl Request {
    /// The path. Only of requests that have one.
    pub(super) fn path(&self) -> &CStr {
        // SAFETY: `keep_path` has put a text there.
        unsafe { CStr::from_ptr((*self.0).path) }
    }

    /// The second path. Only of requests that have one.
    pub(super) fn new_path(&self) -> &CStr {
        // SAFETY: `keep_paths` has put a text there.
        unsafe { CStr::from_ptr((*self.0).new_path) }
    }

    /// The path that is to become another, with its zero. Only of requests that have their own.
    pub(super) fn template(&mut self) -> &mut [u8] {
        // SAFETY: `keep_template` has put a text there, in memory of the request's.
        unsafe {
            let path = (*self.0).path.cast_mut();
            slice::from_raw_parts_mut(path.cast(), CStr::from_ptr(path).count_bytes() + 1)
        }
    }

    /// The descriptor. EBADF for a number that none can have.
    pub(super) fn file(&self) -> Result<BorrowedFd<'_>> {
        // SAFETY: `begin` was given all that the operation asks for.
        borrow(unsafe { (*self.0).file })
    }

    /// The descriptor that is read from, of a request that has two.
    pub(super) fn source(&self) -> Result<BorrowedFd<'_>> {
        borrow(self.flags())
    }

    pub(super) fn flags(&self) -> c_int {
        // SAFETY: as in `file`; so it is in all that follow.
        unsafe { (*self.0).flags }
    }

    pub(super) fn mode(&self) -> c_uint {
        // SAFETY: see `flags`.
        unsafe { (*self.0).mode }
    }

    /// Owner and group.
    pub(super) fn owner(&self) -> (c_uint, c_uint) {
        // SAFETY: see `flags`.
        unsafe { ((*self.0).uid, (*self.0).gid) }
    }

    /// The times of access and of change, in seconds.
    pub(super) fn times(&self) -> (f64, f64) {
        // SAFETY: see `flags`.
        unsafe { ((*self.0).atime, (*self.0).mtime) }
    }

    /// The offset; negative is none.
    pub(super) fn offset(&self) -> i64 {
        // SAFETY: see `flags`.
        unsafe { (*self.0).off }
    }

    /// The bytes to be moved, of a request that has two descriptors.
    pub(super) fn length(&self) -> usize {
        // SAFETY: see `flags`.
        unsafe { (*self.0).bufsml[0].len }
    }

    /// The buffers to read into.
    pub(super) fn room(&self) -> &[ReadBuf<'_>] {
        const { assert!(size_of::<ReadBuf<'_>>() == size_of::<uv_buf_t>()) };
        // SAFETY: `keep_bufs` has put an array there, of buffers that are ours to write to until the request is done, by
        // the promise at `uv_fs_read`. Both types are the system's `iovec`.
        unsafe { slice::from_raw_parts((*self.0).bufs.cast(), (*self.0).nbufs as usize) }
    }

    /// The buffers to be written.
    pub(super) fn bytes(&self) -> &[WriteBuf<'_>] {
        const { assert!(size_of::<WriteBuf<'_>>() == size_of::<uv_buf_t>()) };
        // SAFETY: as in `room`, of bytes that stay as they are, by the promise at `uv_fs_write`.
        unsafe { slice::from_raw_parts((*self.0).bufs.cast(), (*self.0).nbufs as usize) }
    }

    /// What `ptr` points to.
    pub(super) fn ptr(&self) -> *mut c_void {
        // SAFETY: see `flags`.
        unsafe { (*self.0).ptr }
    }

    /// Hands something to the program.
    pub(super) fn set_ptr(&self, ptr: *mut c_void) {
        // SAFETY: the field is the operation's to write.
        unsafe { (*self.0).ptr = ptr }
    }

    /// Hands a file's data to the program.
    pub(super) fn set_stat(&self, found: Metadata) {
        // SAFETY: both fields are the operation's to write.
        unsafe {
            (*self.0).statbuf = uv_stat_t::from(found);
            (*self.0).ptr = (&raw mut (*self.0).statbuf).cast();
        }
    }

    /// Keeps the names of a directory's entries until the request is cleaned up.
    pub(super) fn set_names(&self, names: *mut c_char) {
        // SAFETY: the field is the operation's to write.
        unsafe { (*self.0).job.rest.names = names }
    }
}

/// The program's descriptor of this number, for as long as its request takes. EBADF for a number that none can have.
fn borrow<'a>(number: c_int) -> Result<BorrowedFd<'a>> {
    if number < 0 {
        return Err(Errno::EBADF);
    }
    // SAFETY: not -1; and the program has said that it is its own and stays open. If not, the system says EBADF.
    Ok(unsafe { BorrowedFd::borrow_raw(number) })
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
                if submitted.is_err() {
                    uv_fs_req_cleanup(req);
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
            (*req).result = operation(Request(req)).unwrap_or_else(|error| error.code() as isize);
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

/// Keeps a path: itself if the request is done at once, else a copy. EINVAL for none.
///
/// # Safety
/// `req` is a request that [`begin`] makes; `path` is null or a text.
pub(super) unsafe fn keep_path(req: *mut uv_fs_t, path: *const c_char) -> Result<()> {
    // SAFETY: the request is memory to write to; the rest is passed on word for word.
    unsafe {
        if (*req).cb.is_some() || path.is_null() {
            return keep_template(req, path);
        }
        (*req).path = path;
    }
    Ok(())
}

/// Keeps a descriptor.
///
/// # Safety
/// `req` is a request that [`begin`] makes.
pub(super) unsafe fn keep_file(req: *mut uv_fs_t, file: uv_file) -> Result<()> {
    // SAFETY: the request is memory to write to.
    unsafe { (*req).file = file };
    Ok(())
}

/// Keeps two paths, as [`keep_path`]. Copies are one piece of memory.
///
/// # Safety
/// As for [`keep_path`], of both.
pub(super) unsafe fn keep_paths(req: *mut uv_fs_t, path: *const c_char, new_path: *const c_char) -> Result<()> {
    if path.is_null() || new_path.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: both are texts, and the new memory has room for both with their zeros.
    unsafe {
        if (*req).cb.is_none() {
            (*req).path = path;
            (*req).new_path = new_path;
            return Ok(());
        }
        let [first, second] = [path, new_path].map(|path| CStr::from_ptr(path).to_bytes_with_nul());
        let copy: *mut u8 = malloc(first.len() + second.len()).cast();
        if copy.is_null() {
            return Err(Errno::ENOMEM);
        }
        copy.copy_from_nonoverlapping(first.as_ptr(), first.len());
        copy.add(first.len()).copy_from_nonoverlapping(second.as_ptr(), second.len());
        (*req).path = copy.cast();
        (*req).new_path = copy.add(first.len()).cast();
        Ok(())
    }
}

/// Keeps a copy of a path in any case, to be changed. EINVAL for none.
///
/// # Safety
/// As for [`keep_path`].
pub(super) unsafe fn keep_template(req: *mut uv_fs_t, path: *const c_char) -> Result<()> {
    if path.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: the path is a text.
    unsafe {
        (*req).path = crate::memory::copy_of(CStr::from_ptr(path));
        if (*req).path.is_null() { Err(Errno::ENOMEM) } else { Ok(()) }
    }
}

/// Keeps an array of buffers: itself if the request is done at once, else a copy. EINVAL for none.
///
/// # Safety
/// `req` is a request that [`begin`] makes; `bufs` is null or has so many buffers.
pub(super) unsafe fn keep_bufs(req: *mut uv_fs_t, bufs: *const uv_buf_t, nbufs: c_uint) -> Result<()> {
    if bufs.is_null() || nbufs == 0 {
        return Err(Errno::EINVAL);
    }
    // SAFETY: the room is as large as the array. An array that is not copied is only read.
    unsafe {
        (*req).nbufs = nbufs;
        if (*req).cb.is_none() {
            (*req).bufs = bufs.cast_mut();
            return Ok(());
        }
        let room = if nbufs <= BUFSML {
            (&raw mut (*req).bufsml).cast()
        } else {
            malloc(nbufs as usize * size_of::<uv_buf_t>()).cast::<uv_buf_t>()
        };
        if room.is_null() {
            return Err(Errno::ENOMEM);
        }
        room.copy_from_nonoverlapping(bufs, nbufs as usize);
        (*req).bufs = room;
        Ok(())
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

/// Frees what the request holds. What `path`, `ptr` and the names of a directory's entries point to is gone then, but for
/// an opened directory, which waits for [`uv_fs_closedir`](crate::uv_fs_closedir). Doing it twice does nothing.
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
