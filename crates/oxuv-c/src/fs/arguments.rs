//! What a file request was given, and how its operation gets at that.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::os::fd::BorrowedFd;
use std::slice;

use oxuv_core::{Errno, Result};
use oxuv_os::fs::{Metadata, ReadBuf, WriteBuf};

use super::stat::uv_stat_t;
use super::types::{BUFSML, uv_file, uv_fs_t};
use crate::memory::{copy_of, malloc};
use crate::types::uv_buf_t;

/// A request whose operation runs. Its arguments are there and stay as they are, and it is the operation's to put what
/// it finds into it. The rest of it is the program's, who may look on: hence no reference to all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request(*mut uv_fs_t);

impl Request {
    /// # Safety
    /// The request has the arguments that its operation asks for, and both are there as long as this value is in use.
    pub(super) unsafe fn new(req: *mut uv_fs_t) -> Request {
        Request(req)
    }

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
        // SAFETY: `keep_bufs` has put an array there, of buffers that are ours to write to until the request is done,
        // by the promise at `uv_fs_read`. Both types are the system's `iovec`.
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

/// Keeps a path: itself if the request is done at once, else a copy. EINVAL for none.
///
/// # Safety
/// `req` is a request that [`begin`](super::request::begin) makes; `path` is null or a text.
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
/// `req` is a request that [`begin`](super::request::begin) makes.
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
        (*req).path = copy_of(CStr::from_ptr(path));
        if (*req).path.is_null() { Err(Errno::ENOMEM) } else { Ok(()) }
    }
}

/// Keeps an array of buffers: itself if the request is done at once, else a copy. EINVAL for none.
///
/// # Safety
/// `req` is a request that [`begin`](super::request::begin) makes; `bufs` is null or has so many buffers.
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
