//! Writing to a stream, and shutting it down.

use std::ffi::{c_char, c_int, c_uint};
use std::ptr::{copy_nonoverlapping, null_mut};
use std::slice;

use oxuv_core::{Buffers, Errno, Result};

use crate::error::code;
use crate::handle::{CLOSING, key};
use crate::loop_::{User, with};
use crate::memory::{free, malloc};
use crate::types::{
    UV_SHUTDOWN, UV_WRITE, uv_buf_t, uv_shutdown_cb, uv_shutdown_t, uv_stream_t, uv_write_cb, uv_write_t,
};

/// An array of buffers in C's hands, with sizes that make sense.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bufs {
    array: *const uv_buf_t,
    count: u32,
    total: u32,
}

/// libuv's limits: beyond them a number is taken for a negative one gone astray.
const MAX_BUFFERS: u32 = 1024 * 1024;
const MAX_BYTES: u64 = i32::MAX as u64;

/// The buffers whose array fits into a request.
const BUFSML: u32 = 4;

impl Bufs {
    /// EINVAL for no buffer, too many of them or too many bytes, and for bytes at a null address.
    ///
    /// # Safety
    /// If `count` is within the limits, the array and the bytes of its buffers stay valid and unchanged until the
    /// value is out of use: until the write's event, where it is given to the core to keep.
    unsafe fn new(array: *const uv_buf_t, count: c_uint) -> Result<Bufs> {
        if count == 0 || count > MAX_BUFFERS {
            return Err(Errno::EINVAL);
        }
        let mut total = 0;
        for nth in 0..count as usize {
            // SAFETY: `nth` is below `count`, and so many there are.
            let uv_buf_t { base, len } = unsafe { *array.add(nth) };
            let len = len as u64;
            if len > MAX_BYTES - total || (base.is_null() && len > 0) {
                return Err(Errno::EINVAL);
            }
            total += len;
        }
        Ok(Bufs { array, count, total: total as u32 })
    }

    /// The same buffers by way of a copy of their array.
    ///
    /// # Safety
    /// `place` has room for the array, and the copy stays valid as [`Bufs::new`] says.
    unsafe fn copy_to(self, place: *mut uv_buf_t) -> Bufs {
        // SAFETY: the array is valid as long as `self` is; a caller's array does not lie in our room.
        unsafe { copy_nonoverlapping(self.array, place, self.count()) };
        Bufs { array: place, ..self }
    }
}

impl Buffers for Bufs {
    #[inline]
    fn count(&self) -> usize {
        self.count as usize
    }

    #[inline]
    fn get(&self, nth: usize) -> &[u8] {
        assert!(nth < self.count());
        // SAFETY: `nth` is in the array, whose buffers are valid as long as this value is, by the word given to
        // `new`; there each was seen to be no larger than a slice may be. A null one is empty: it is not looked at.
        unsafe {
            let uv_buf_t { base, len } = *self.array.add(nth);
            if len == 0 { &[] } else { slice::from_raw_parts(base.cast(), len) }
        }
    }

    #[inline]
    fn total(&self) -> Option<usize> {
        Some(self.total as usize)
    }
}

/// A buffer of these bytes.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_buf_init(base: *mut c_char, len: c_uint) -> uv_buf_t {
    uv_buf_t { base, len: len as usize }
}

/// Writes all of the buffers, in the order of the calls. `cb`, which may be null, is called later, never from here.
/// The array is copied, the bytes are not.
///
/// UV_EBADF when the stream has no descriptor; UV_EPIPE when it is not connected or was shut down; UV_EINVAL for no
/// buffer, more than 2^20 of them or more than 2^31-1 bytes.
///
/// # Safety
/// `handle` was initialised on a loop that is not closed; `bufs` has `nbufs` buffers. `req` and the buffers' bytes stay
/// valid until `cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_write(
    req: *mut uv_write_t,
    handle: *mut uv_stream_t,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    cb: uv_write_cb,
) -> c_int {
    // SAFETY: the request is memory to write to; an initialised stream has its loop and key. What the core keeps until
    // the write's event is our copy of the array, in the room that `free_bufs` frees there, or here if nothing is kept.
    unsafe {
        let bufs = match Bufs::new(bufs, nbufs).and_then(|bufs| make_room(req, bufs)) {
            Ok(bufs) => bufs,
            Err(error) => return error.code(),
        };
        (*req).req.r#type = UV_WRITE;
        (*req).cb = cb;
        (*req).handle = handle;
        (*req).send_handle = null_mut();
        let key = key(handle.cast());
        let keep = |bufs: Bufs| bufs.copy_to((*req).bufs);
        let asked = with((*handle).handle.r#loop, |core| {
            Some((core.write(key, User::of(req), bufs, keep), core.write_queue_size(key)))
        });
        let Some((written, size)) = asked else { return Errno::EINVAL.code() };
        if !matches!(written, Ok(None)) {
            free_bufs(req);
        }
        if let Err(refused) = written {
            // A closed stream is one without a descriptor, whatever its key says.
            return if is_closing(handle) { Errno::EBADF.code() } else { refused.error.code() };
        }
        (*handle).write_queue_size = size.unwrap_or(0);
    }
    0
}

/// Finds room for a copy of the array: in the request, or memory of its own.
///
/// # Safety
/// `req` is memory to write to.
unsafe fn make_room(req: *mut uv_write_t, bufs: Bufs) -> Result<Bufs> {
    // SAFETY: the request is memory to write to.
    unsafe {
        (*req).nbufs = bufs.count;
        (*req).bufs = if bufs.count <= BUFSML {
            (&raw mut (*req).bufsml).cast()
        } else {
            malloc(bufs.count() * size_of::<uv_buf_t>()).cast()
        };
        if (*req).bufs.is_null() { Err(Errno::ENOMEM) } else { Ok(bufs) }
    }
}

/// Frees the room for the array's copy, once.
///
/// # Safety
/// [`make_room`] has made it, and the core does not use it any more.
#[inline]
pub(crate) unsafe fn free_bufs(req: *mut uv_write_t) {
    // SAFETY: what does not fit into the request came from `malloc`. Once freed it is forgotten, for the write's event.
    unsafe {
        if (*req).nbufs > BUFSML {
            free((*req).bufs.cast());
            (*req).bufs = null_mut();
        }
    }
}

/// Sends what the kernel takes at once, and returns how many bytes that was.
///
/// UV_EAGAIN when it takes nothing, or when bytes are queued; else as [`uv_write`].
///
/// # Safety
/// `handle` was initialised on a loop that is not closed; `bufs` has `nbufs` buffers of valid bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_try_write(handle: *mut uv_stream_t, bufs: *const uv_buf_t, nbufs: c_uint) -> c_int {
    // SAFETY: an initialised stream has its loop and key; the core does not keep the buffers.
    unsafe {
        let key = key(handle.cast());
        let written =
            Bufs::new(bufs, nbufs).and_then(|bufs| with((*handle).handle.r#loop, |core| core.try_write(key, &bufs)));
        match written {
            // Not more than MAX_BYTES.
            Ok(bytes) => bytes as c_int,
            Err(error) => error.code(),
        }
    }
}

/// Shuts the writing side down once everything written so far is sent. `cb`, which may be null, is called later, never
/// from here.
///
/// UV_ENOTCONN when the stream is not connected, was shut down before, or is closing.
///
/// # Safety
/// `handle` was initialised on a loop that is not closed; `req` stays valid until `cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_shutdown(
    req: *mut uv_shutdown_t,
    handle: *mut uv_stream_t,
    cb: uv_shutdown_cb,
) -> c_int {
    // SAFETY: an initialised stream has its loop and key; the request is memory to write to.
    unsafe {
        let key = key(handle.cast());
        let asked = with((*handle).handle.r#loop, |core| core.shutdown(key, User::of(req)));
        if asked.is_err() && is_closing(handle) {
            return Errno::ENOTCONN.code();
        }
        if asked.is_ok() {
            (*req).req.r#type = UV_SHUTDOWN;
            (*req).handle = handle;
            (*req).cb = cb;
            (*handle).shutdown_req = req;
        }
        code(asked)
    }
}

/// # Safety
/// `stream` was initialised.
unsafe fn is_closing(stream: *const uv_stream_t) -> bool {
    // SAFETY: init has written the flags.
    unsafe { (*stream).handle.flags & CLOSING != 0 }
}
