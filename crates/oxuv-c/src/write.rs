//! Writing to a stream, and shutting it down.

use std::ffi::{c_char, c_int, c_uint};
use std::ptr::{copy_nonoverlapping, null_mut};
use std::slice;

use oxuv_core::{Buffers, Errno, Key, Result};

use crate::error::code;
use crate::handle::{self, with_open};
use crate::loop_::User;
use crate::memory::{free, malloc};
use crate::stream::is_closing;
use crate::types::{
    UV_SHUTDOWN, UV_WRITE, uv_buf_t, uv_shutdown_cb, uv_shutdown_t, uv_stream_t, uv_write_cb, uv_write_t,
};

/// An array of buffers in C's hands, with sizes that make sense.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bufs {
    array: *const uv_buf_t,
    count: u32,
    total: u32,
    /// The request that keeps them, or null.
    req: *mut uv_write_t,
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
        Ok(Bufs { array, count, total: total as u32, req: null_mut() })
    }

    /// The same buffers by way of a copy of their array, kept by a request.
    ///
    /// # Safety
    /// [`make_room`] has made room for them in `req`, which stays valid, with its stream, as [`Bufs::new`] says.
    unsafe fn keep_in(self, req: *mut uv_write_t) -> Bufs {
        // SAFETY: the array is valid as long as `self` is; a caller's array does not lie in our room.
        unsafe {
            let array = (*req).bufs;
            copy_nonoverlapping(self.array, array, self.count());
            Bufs { array, req, ..self }
        }
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

    /// Programs see in the handle how much is queued, and in the request how much of it is sent.
    fn note_sent(&self, bytes: usize) {
        // SAFETY: only buffers that a request keeps are told of; it and its stream are valid until the write's event.
        unsafe {
            (*self.req).req.sent += bytes;
            (*self.req).send_handle = null_mut();
            let stream = (*self.req).handle;
            (*stream).write_queue_size = (*stream).write_queue_size.saturating_sub(bytes);
        }
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
/// `handle` was initialised; `bufs` has `nbufs` buffers. `req` and the buffers' bytes stay valid until `cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_write(
    req: *mut uv_write_t,
    handle: *mut uv_stream_t,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    cb: uv_write_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { uv_write2(req, handle, bufs, nbufs, null_mut(), cb) }
}

/// As [`uv_write`]; and unless `send_handle` is null, sends that along with the first byte: the receiver gets a handle of
/// the same socket or pipe. If it is closed before that, the write fails with UV_EBADF.
///
/// UV_EINVAL when `handle` is no pipe that was initialised for this, for no bytes, and for a handle of another loop;
/// UV_EBADF when `send_handle` has no descriptor, or is of a kind that cannot be sent; else as [`uv_write`].
///
/// # Safety
/// As for [`uv_write`]; `send_handle` was initialised, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_write2(
    req: *mut uv_write_t,
    handle: *mut uv_stream_t,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    send_handle: *mut uv_stream_t,
    cb: uv_write_cb,
) -> c_int {
    // SAFETY: the request is memory to write to, and the handle was initialised. What the core keeps until the write's
    // event is our copy of the array, in the room that `free_bufs` frees there, or here if nothing is kept.
    unsafe {
        let checked = Bufs::new(bufs, nbufs).and_then(|bufs| make_room(req, bufs));
        let bufs = match checked {
            Ok(bufs) => bufs,
            Err(error) => return error.code(),
        };
        (*req).req.r#type = UV_WRITE;
        (*req).req.sent = 0;
        (*req).cb = cb;
        (*req).handle = handle;
        (*req).send_handle = null_mut();
        let written = with_open(handle.cast(), |core, key| {
            let (user, keep) = (User::of(req), |bufs: Bufs| bufs.keep_in(req));
            let written = if send_handle.is_null() {
                core.write(key, user, bufs, keep)
            } else {
                (*req).send_handle = send_handle;
                core.write_with_handle(key, user, bufs, handle_to_send(handle, send_handle)?, keep)
            };
            let kept = written.map_err(|refused| refused.error)?.is_none();
            Ok((kept, core.write_queue_size(key)?))
        });
        if !matches!(written, Ok((true, _))) {
            free_bufs(req);
            (*req).send_handle = null_mut();
        }
        match written {
            Ok((kept, size)) => {
                (*handle).write_queue_size = size;
                if !kept {
                    // It was the only one, and what is queued has failed.
                    (*req).req.sent = bufs.total as usize - size;
                }
                0
            }
            Err(error) => closed_is_bad(handle, error).code(),
        }
    }
}

/// A closed stream is one without a descriptor, whatever its key says.
///
/// # Safety
/// `stream` was initialised.
unsafe fn closed_is_bad(stream: *const uv_stream_t, error: Errno) -> Errno {
    // SAFETY: the handle was initialised.
    if unsafe { is_closing(stream) } { Errno::EBADF } else { error }
}

/// The key of a handle to be sent along, which one of another loop has none of here; a closing one's is stale.
///
/// # Safety
/// Both were initialised.
unsafe fn handle_to_send(stream: *const uv_stream_t, send_handle: *const uv_stream_t) -> Result<Key> {
    // SAFETY: both were initialised.
    unsafe {
        if (*send_handle).handle.r#loop != (*stream).handle.r#loop {
            return Err(Errno::EINVAL);
        }
        Ok(handle::key(send_handle.cast()))
    }
}

/// Takes back what is not sent yet of a write.
///
/// # Safety
/// `req` was given to [`uv_write`], which took it, and its stream is valid.
pub(crate) unsafe fn cancel(req: *mut uv_write_t) -> Result<()> {
    // SAFETY: `uv_write` has written the field.
    unsafe {
        let stream = (*req).handle;
        if is_closing(stream) {
            return Err(Errno::EBUSY);
        }
        with_open(stream.cast(), |core, key| core.cancel_write(key, |user| user.0 == req.cast()))
    }
}

/// How many bytes of a write were sent, for its callback to ask.
///
/// # Safety
/// `req` is a write whose callback runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_write_nwritten(req: *const uv_write_t) -> usize {
    // SAFETY: `uv_write` has written the field.
    unsafe { (*req).req.sent }
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
/// UV_EAGAIN when it takes nothing, while connecting, or when bytes are queued; else as [`uv_write`], and as the
/// connection fails.
///
/// # Safety
/// `handle` was initialised; `bufs` has `nbufs` buffers of valid bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_try_write(handle: *mut uv_stream_t, bufs: *const uv_buf_t, nbufs: c_uint) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { uv_try_write2(handle, bufs, nbufs, null_mut()) }
}

/// As [`uv_try_write`]; and unless `send_handle` is null, sends that along with the first byte, as [`uv_write2`] does.
///
/// As [`uv_try_write`]; as [`uv_write2`].
///
/// # Safety
/// As for [`uv_try_write`]; `send_handle` was initialised, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_try_write2(
    handle: *mut uv_stream_t,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    send_handle: *mut uv_stream_t,
) -> c_int {
    // SAFETY: the handle was initialised; the core does not keep the buffers.
    unsafe {
        if !(*handle).connect_req.is_null() || (*handle).write_queue_size != 0 {
            return Errno::EAGAIN.code();
        }
        let written = Bufs::new(bufs, nbufs).and_then(|bufs| {
            let asked = with_open(handle.cast(), |core, key| match send_handle.is_null() {
                true => core.try_write(key, &bufs),
                false => core.try_write_with_handle(key, &bufs, handle_to_send(handle, send_handle)?),
            });
            asked.map_err(|error| closed_is_bad(handle, error))
        });
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
/// `handle` was initialised; `req` stays valid until `cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_shutdown(
    req: *mut uv_shutdown_t,
    handle: *mut uv_stream_t,
    cb: uv_shutdown_cb,
) -> c_int {
    // SAFETY: the handle was initialised; the request is memory to write to.
    unsafe {
        if is_closing(handle) {
            return Errno::ENOTCONN.code();
        }
        let asked = with_open(handle.cast(), |core, key| core.shutdown(key, User::of(req)));
        if asked.is_ok() {
            (*req).req.r#type = UV_SHUTDOWN;
            (*req).handle = handle;
            (*req).cb = cb;
            (*handle).shutdown_req = req;
        }
        code(asked)
    }
}
