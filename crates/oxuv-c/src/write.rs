//! Writing to a stream, and shutting it down.

use std::ffi::{c_char, c_int, c_uint};
use std::io::IoSlice;
use std::ptr::{NonNull, copy_nonoverlapping, null_mut};
use std::slice;

use oxuv_core::{Buffers, Errno, Key, Progress, Refused, Result};

use crate::error::code;
use crate::handle::{key, with_open};
use crate::loop_::{Loop, User, ask};
use crate::memory::{free, malloc};
use crate::stream::is_closing;
use crate::types::{
    UV_SHUTDOWN, UV_WRITE, uv_buf_t, uv_shutdown_cb, uv_shutdown_t, uv_stream_t, uv_write_cb, uv_write_t,
};

/// An array of buffers in C's hands, with sizes that make sense.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bufs {
    array: NonNull<uv_buf_t>,
    count: u32,
    total: u32,
    /// The request that keeps them, or null.
    req: *mut uv_write_t,
}

/// libuv's limits: beyond them a number is taken for a negative one gone astray.
const MAX_BUFFERS: u32 = 1024 * 1024;
const MAX_BYTES: u64 = i32::MAX as u64;

/// The buffers whose array fits into a request.
pub(crate) const BUFSML: u32 = 4;

impl Bufs {
    /// EINVAL for no array, no buffer, too many of them or too many bytes, and for bytes at a null address.
    ///
    /// # Safety
    /// If `count` is within the limits, the array and the bytes of its buffers stay valid and unchanged until the
    /// value is out of use: until the write's event, where it is given to the core to keep.
    #[inline]
    pub(crate) unsafe fn new(array: *const uv_buf_t, count: c_uint) -> Result<Bufs> {
        let Some(array) = NonNull::new(array.cast_mut()) else { return Err(Errno::EINVAL) };
        if count == 0 || count > MAX_BUFFERS {
            return Err(Errno::EINVAL);
        }
        // SAFETY: there is one at least.
        let mut total = unsafe { checked_len(array.read())? };
        if count > 1 {
            // SAFETY: so many there are.
            total = unsafe { checked_total(array, count)? };
        }
        Ok(Bufs { array, count, total: total as u32, req: null_mut() })
    }

    /// The bytes of all of them.
    #[inline]
    pub(crate) fn bytes(self) -> usize {
        self.total as usize
    }

    /// The same buffers by way of a copy of their array, kept by a request.
    ///
    /// # Safety
    /// [`make_room`] has made room for them in `req`, which stays valid, with its stream, as [`Bufs::new`] says.
    unsafe fn keep_in(self, req: *mut uv_write_t) -> Bufs {
        // SAFETY: there is room for all of them, says the caller.
        unsafe { Bufs { req, ..self.copy_to((*req).bufs) } }
    }

    /// The same buffers by way of a copy of their array.
    ///
    /// # Safety
    /// There is room for all of them at `array`, which stays valid as [`Bufs::new`] says.
    #[inline]
    pub(crate) unsafe fn copy_to(self, array: *mut uv_buf_t) -> Bufs {
        // SAFETY: the array is valid as long as `self` is; a caller's array does not lie in our room, which is somewhere.
        unsafe {
            match self.count {
                1 => *array = self.array.read(),
                _ => copy_nonoverlapping(self.array.as_ptr(), array, self.count()),
            }
            Bufs { array: NonNull::new_unchecked(array), ..self }
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
            let uv_buf_t { base, len } = self.array.add(nth).read();
            if len == 0 { &[] } else { slice::from_raw_parts(base.cast(), len) }
        }
    }

    #[inline]
    fn total(&self) -> Option<usize> {
        Some(self.total as usize)
    }

    /// The array is the kernel's own form of it.
    #[inline]
    fn slices(&self) -> Option<&[IoSlice<'_>]> {
        // SAFETY: the array, which is not empty, is valid as `get` says. An `IoSlice` is laid out as a `iovec`, and so is a `uv_buf_t`; one may be
        // looked at as a slice of bytes, so it has an address.
        unsafe {
            let bufs = slice::from_raw_parts(self.array.as_ptr(), self.count());
            let all_are_somewhere = bufs.iter().all(|buf| !buf.base.is_null());
            all_are_somewhere.then(|| slice::from_raw_parts(self.array.as_ptr().cast(), self.count()))
        }
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

/// The size of a buffer. EINVAL for too many bytes, and for bytes at a null address.
#[inline]
fn checked_len(buf: uv_buf_t) -> Result<u64> {
    let len = buf.len as u64;
    let most = if buf.base.is_null() { 0 } else { MAX_BYTES };
    if len > most { Err(Errno::EINVAL) } else { Ok(len) }
}

/// The size of several buffers. EINVAL for too many bytes, and for bytes at a null address.
///
/// # Safety
/// The array has so many buffers.
#[inline(never)] // Most have one.
unsafe fn checked_total(array: NonNull<uv_buf_t>, count: u32) -> Result<u64> {
    let mut total = 0;
    for nth in 0..count as usize {
        // SAFETY: `nth` is below `count`, and so many there are.
        total += unsafe { checked_len(array.add(nth).read())? };
        if total > MAX_BYTES {
            return Err(Errno::EINVAL);
        }
    }
    Ok(total)
}

/// One buffer in C's hands, which is what most programs write: where the number is known, the core has less to do.
pub(crate) struct OneBuf {
    buf: uv_buf_t,
}

impl OneBuf {
    /// EINVAL for too many bytes, and for bytes at a null address.
    ///
    /// # Safety
    /// If the size is within the limit, the bytes stay valid and unchanged until the value is out of use.
    #[inline]
    pub(crate) unsafe fn new(buf: uv_buf_t) -> Result<OneBuf> {
        checked_len(buf)?;
        Ok(OneBuf { buf })
    }

    /// The same buffer by way of an array of one.
    ///
    /// # Safety
    /// There is room for it at `array`, which stays valid as [`Bufs::new`] says.
    #[inline]
    pub(crate) unsafe fn keep_at(self, array: *mut uv_buf_t) -> Bufs {
        // SAFETY: there is room, says the caller, so it is no null pointer.
        unsafe {
            *array = self.buf;
            Bufs { array: NonNull::new_unchecked(array), count: 1, total: self.buf.len as u32, req: null_mut() }
        }
    }
}

impl Buffers for OneBuf {
    #[inline]
    fn count(&self) -> usize {
        1
    }

    #[inline]
    fn get(&self, _nth: usize) -> &[u8] {
        let uv_buf_t { base, len } = self.buf;
        // SAFETY: the bytes are valid as long as this value is, by the word given to `new`, where they were seen to be
        // no more than a slice may have. A null buffer is empty: it is not looked at.
        unsafe { if len == 0 { &[] } else { slice::from_raw_parts(base.cast(), len) } }
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
    unsafe {
        match nbufs {
            1 if !bufs.is_null() => write_one(req, handle, *bufs, cb),
            _ => write_many(req, handle, bufs, nbufs, cb),
        }
    }
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
    // SAFETY: the same is asked of our caller. As in `write_many`, the core keeps our copy of the array.
    unsafe {
        if send_handle.is_null() {
            return uv_write(req, handle, bufs, nbufs, cb);
        }
        let bufs = match Bufs::new(bufs, nbufs).and_then(|bufs| make_room(req, bufs)) {
            Ok(bufs) => bufs,
            Err(error) => return error.code(),
        };
        let written = write(req, handle, bufs.total as usize, cb, |core, key| {
            let sent = handle_to_send(handle, send_handle).map_err(|error| Refused { error, given: bufs })?;
            // Until its first byte is sent.
            (*req).send_handle = send_handle;
            core.write_with_handle(key, User::of(req), bufs, sent, |bufs| bufs.keep_in(req))
        });
        if written != Ok(true) {
            free_bufs(req);
            (*req).send_handle = null_mut();
        }
        code(written.map(|_| ()))
    }
}

/// # Safety
/// As for [`uv_write`], with one buffer.
#[inline]
unsafe fn write_one(req: *mut uv_write_t, handle: *mut uv_stream_t, buf: uv_buf_t, cb: uv_write_cb) -> c_int {
    // SAFETY: the same is asked of our caller. The request has room for the array of one, which is the copy of `buf`.
    unsafe {
        let one = match OneBuf::new(buf) {
            Ok(one) => one,
            Err(error) => return error.code(),
        };
        (*req).nbufs = 1;
        let keep = |one: OneBuf| {
            (*req).bufs = (&raw mut (*req).bufsml).cast();
            Bufs { req, ..one.keep_at((*req).bufs) }
        };
        let asked = write(req, handle, buf.len, cb, |core, key| core.write(key, User::of(req), one, keep));
        code(asked.map(|_| ()))
    }
}

/// # Safety
/// As for [`uv_write`].
#[inline(never)]
unsafe fn write_many(
    req: *mut uv_write_t,
    handle: *mut uv_stream_t,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    cb: uv_write_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller. What the core keeps until the write's event is our copy of the array, in
    // the room that `free_bufs` frees there, or here if nothing is kept.
    unsafe {
        let bufs = match Bufs::new(bufs, nbufs).and_then(|bufs| make_room(req, bufs)) {
            Ok(bufs) => bufs,
            Err(error) => return error.code(),
        };
        let written = write(req, handle, bufs.total as usize, cb, |core, key| {
            core.write(key, User::of(req), bufs, |bufs| bufs.keep_in(req))
        });
        if written != Ok(true) {
            free_bufs(req);
        }
        code(written.map(|_| ()))
    }
}

/// Writes, as `ask` says to the core, and says whether the core keeps the buffers.
///
/// # Safety
/// As for [`uv_write`]; and the request has room for what is kept.
#[inline]
unsafe fn write<T>(
    req: *mut uv_write_t,
    handle: *mut uv_stream_t,
    total: usize,
    cb: uv_write_cb,
    ask: impl FnOnce(&mut Loop, Key) -> Result<Progress<T>, Refused<T>>,
) -> Result<bool> {
    // SAFETY: the request is memory to write to, and the handle was initialised.
    unsafe {
        (*req).req.r#type = UV_WRITE;
        (*req).req.sent = 0;
        (*req).cb = cb;
        (*req).handle = handle;
        (*req).send_handle = null_mut();
        let written = with_open(handle.cast(), |core, key| ask(core, key).map_err(|refused| refused.error));
        match written {
            Ok(Progress::Sent(_)) => {
                // Nothing was queued before, nor is there now.
                (*req).req.sent = total;
                Ok(false)
            }
            Ok(progress) => {
                show_queue_size(handle);
                Ok(matches!(progress, Progress::Kept))
            }
            Err(error) => Err(closed_is_bad(handle, error)),
        }
    }
}

/// Shows programs in the handle how much is queued.
///
/// # Safety
/// `stream` was initialised.
#[cold]
pub(crate) unsafe fn show_queue_size(stream: *mut uv_stream_t) {
    // SAFETY: the handle was initialised.
    unsafe {
        let key = key(stream.cast());
        if let Ok(size) = ask((*stream).handle.r#loop, |core| core.write_queue_size(key)) {
            (*stream).write_queue_size = size;
        }
    }
}

/// A closed stream is one without a descriptor, whatever its key says.
///
/// # Safety
/// `stream` was initialised.
#[cold]
unsafe fn closed_is_bad(stream: *const uv_stream_t, error: Errno) -> Errno {
    // SAFETY: the handle was initialised.
    if unsafe { is_closing(stream) } { Errno::EBADF } else { error }
}

/// The core's key of a handle to be sent along.
///
/// UV_EINVAL for a handle of another loop, where the core has none for it.
///
/// # Safety
/// Both were initialised.
unsafe fn handle_to_send(stream: *const uv_stream_t, send_handle: *const uv_stream_t) -> Result<Key> {
    // SAFETY: both were initialised.
    unsafe {
        let is_ours = (*send_handle).handle.r#loop == (*stream).handle.r#loop;
        if is_ours { Ok(key(send_handle.cast())) } else { Err(Errno::EINVAL) }
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
    // SAFETY: the handle was initialised; the core does not keep the buffers.
    unsafe {
        if !(*handle).connect_req.is_null() || (*handle).write_queue_size != 0 {
            return Errno::EAGAIN.code();
        }
        match nbufs {
            1 if !bufs.is_null() => bytes_or_code(OneBuf::new(*bufs).and_then(|one| try_write(handle, &one))),
            _ => try_write_many(handle, bufs, nbufs),
        }
    }
}

/// What is told of so many bytes, which are not more than [`MAX_BYTES`].
#[inline]
fn bytes_or_code(written: Result<usize>) -> c_int {
    match written {
        Ok(bytes) => bytes as c_int,
        Err(error) => error.code(),
    }
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
    // SAFETY: the same is asked of our caller.
    unsafe {
        if !(*handle).connect_req.is_null() || (*handle).write_queue_size != 0 {
            return Errno::EAGAIN.code();
        }
        if send_handle.is_null() {
            return uv_try_write(handle, bufs, nbufs);
        }
        let written = Bufs::new(bufs, nbufs).and_then(|bufs| {
            let asked = with_open(handle.cast(), |core, key| {
                core.try_write_with_handle(key, &bufs, handle_to_send(handle, send_handle)?)
            });
            asked.map_err(|error| closed_is_bad(handle, error))
        });
        bytes_or_code(written)
    }
}

/// # Safety
/// As for [`uv_try_write`].
#[inline(never)]
unsafe fn try_write_many(handle: *mut uv_stream_t, bufs: *const uv_buf_t, nbufs: c_uint) -> c_int {
    // SAFETY: the same is asked of our caller; the core does not keep the buffers.
    unsafe { bytes_or_code(Bufs::new(bufs, nbufs).and_then(|bufs| try_write(handle, &bufs))) }
}

/// # Safety
/// `handle` was initialised.
#[inline]
unsafe fn try_write(handle: *mut uv_stream_t, buffers: &impl Buffers) -> Result<usize> {
    // SAFETY: the handle was initialised.
    unsafe {
        with_open(handle.cast(), |core, key| core.try_write(key, buffers)).map_err(|error| closed_is_bad(handle, error))
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
