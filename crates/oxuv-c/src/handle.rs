//! What all handles have in common.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null;

use oxuv_core::{Errno, Key, Result};

use crate::error::{code, ignored};
use crate::loop_::{Loop, User, with, with_core};
use crate::poll::{UV_POLL, uv_poll_t};
use crate::process::{CHILDLESS, make_closable};
use crate::signal::{UV_SIGNAL, uv_signal_t};
use crate::types::{
    UV_ASYNC, UV_NAMED_PIPE, UV_TCP, UV_TTY, uv_close_cb, uv_handle_t, uv_handle_type, uv_loop_t, uv_pipe_t,
    uv_stream_t,
};
use crate::udp::{UV_UDP, uv_udp_t};

/// Flag of a handle: `uv_close` was called.
pub(crate) const CLOSING: c_uint = 1;
/// Flag of a handle: its close callback has begun. From here on nothing is known of its loop.
pub(crate) const CLOSED: c_uint = 2;

/// Flag of a handle, libuv's: a stream can be read. It is never set here. Programs set it in pipes that they open for
/// writing, to learn by a read that the other end is closed.
pub(crate) const READABLE: c_uint = 0x4000;

impl User {
    /// The value for a handle or a request.
    #[inline]
    pub(crate) fn of<T>(memory: *mut T) -> User {
        User(memory.cast())
    }
}

/// Writes what all handles have, except `data`.
///
/// # Safety
/// `handle` points to memory for a handle.
pub(crate) unsafe fn init(handle: *mut uv_handle_t, loop_: *mut uv_loop_t, r#type: uv_handle_type, key: Key) {
    // SAFETY: the caller has memory for all of a handle there; what it holds so far is not looked at.
    unsafe {
        (*handle).r#loop = loop_;
        (*handle).r#type = r#type;
        (*handle).close_cb = None;
        (*handle).key = key.to_u64();
        (*handle).flags = 0;
    }
}

/// The core's key of a handle.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[inline]
pub(crate) unsafe fn key(handle: *const uv_handle_t) -> Key {
    // SAFETY: the caller says that the field has a value.
    Key::from_u64(unsafe { (*handle).key })
}

/// Calls into the core about an open handle.
///
/// EINVAL for one that is closing or zero, and what `call` says.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[inline]
pub(crate) unsafe fn with_open<R>(
    handle: *const uv_handle_t,
    call: impl FnOnce(&mut Loop, Key) -> Result<R>,
) -> Result<R> {
    // SAFETY: the caller says that the fields have a value. A handle with a key that is not closing has an open loop,
    // which cannot be closed before it.
    unsafe {
        // As one number: of the default key that is 0.
        if (*handle).key == 0 || (*handle).flags & CLOSING != 0 {
            return Err(Errno::EINVAL);
        }
        let key = key(handle);
        with_core((*handle).r#loop, |core| call(core, key))
    }
}

/// As [`with_open`], for a call that concerns closing handles, too.
///
/// EINVAL for one that is closed or zero, and what `call` says.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[inline]
pub(crate) unsafe fn with_unclosed<R>(
    handle: *const uv_handle_t,
    call: impl FnOnce(&mut Loop, Key) -> Result<R>,
) -> Result<R> {
    // SAFETY: the caller says that the fields have a value. Until a handle's close event its loop cannot be closed.
    unsafe {
        let key = key(handle);
        if key == Key::default() || (*handle).flags & CLOSED != 0 {
            return Err(Errno::EINVAL);
        }
        with((*handle).r#loop, |core| call(core, key))
    }
}

/// Stops a handle, of which one that is closing or closed has no need.
///
/// UV_EINVAL for a zero one.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[inline]
pub(crate) unsafe fn stop(handle: *const uv_handle_t, call: impl FnOnce(&mut Loop, Key) -> Result<()>) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { if (*handle).flags & CLOSING != 0 { 0 } else { code(with_open(handle, call)) } }
}

/// Closes a handle: it stops at once, and `close_cb`, which may be null, is the last that is heard of it. Closing one
/// twice is ignored.
///
/// # Safety
/// `handle` was initialised, or is zero. Its memory stays valid until `close_cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_close(handle: *mut uv_handle_t, close_cb: uv_close_cb) {
    // SAFETY: an open handle is memory to write to; the type says whether it is a stream.
    unsafe {
        if (*handle).flags & CHILDLESS != 0 {
            make_closable(handle);
        }
        if with_open(handle, |core, key| core.close(key)).is_err() {
            return ignored("uv_close", "the handle is closing, or was never initialised");
        }
        (*handle).close_cb = close_cb;
        (*handle).flags |= CLOSING;
        match (*handle).r#type {
            UV_ASYNC => crate::async_::close(handle.cast()),
            UV_TCP | UV_TTY => (*handle.cast::<uv_stream_t>()).io_watcher.fd = -1,
            UV_NAMED_PIPE => {
                (*handle.cast::<uv_stream_t>()).io_watcher.fd = -1;
                (*handle.cast::<uv_pipe_t>()).pipe_fname = null();
            }
            UV_SIGNAL => (*handle.cast::<uv_signal_t>()).signum = 0,
            UV_UDP => (*handle.cast::<uv_udp_t>()).io_watcher.fd = -1,
            _ => {}
        }
    }
}

/// Not 0 from `uv_close` on, also after the close callback, as long as the memory is there.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_is_closing(handle: *const uv_handle_t) -> c_int {
    // SAFETY: the caller says that the flags have a value. The core is not asked: programs ask after close, when
    // there may be no loop any more.
    c_int::from(unsafe { (*handle).flags } & CLOSING != 0)
}

/// Not 0 for a handle that was started and has something to wait for.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_is_active(handle: *const uv_handle_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    let active = unsafe { with_open(handle, |core, key| Ok(core.is_active(key))) };
    (active == Ok(true)).into()
}

/// Lets a handle keep its loop alive while it is active, as it does from its init on. Again is the same as once.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_ref(handle: *mut uv_handle_t) {
    // SAFETY: the same is asked of our caller.
    if unsafe { with_unclosed(handle, |core, key| core.reference(key)) }.is_err() {
        ignored("uv_ref", "the handle is closed, or was never initialised");
    }
}

/// Lets a loop end although this handle is active. Again is the same as once.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_unref(handle: *mut uv_handle_t) {
    // SAFETY: the same is asked of our caller.
    if unsafe { with_unclosed(handle, |core, key| core.unreference(key)) }.is_err() {
        ignored("uv_unref", "the handle is closed, or was never initialised");
    }
}

/// Not 0 for a handle that keeps its loop alive while it is active. A closed one does not.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_has_ref(handle: *const uv_handle_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    let referenced = unsafe { with_unclosed(handle, |core, key| Ok(core.is_referenced(key))) };
    (referenced == Ok(true)).into()
}

/// The descriptor of a TCP, pipe, terminal, UDP or poll handle.
///
/// UV_EINVAL for other kinds; UV_EBADF when there is none (yet), and for a closing handle.
///
/// # Safety
/// `handle` was initialised, or is zero; `fd` points to memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fileno(handle: *const uv_handle_t, fd: *mut c_int) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        if fd.is_null() {
            return Errno::EINVAL.code();
        }
        // What programs are shown is what the core has. The core is not asked: uvloop asks for each request it answers.
        let number = match (*handle).r#type {
            UV_NAMED_PIPE | UV_TCP | UV_TTY => (*handle.cast::<uv_stream_t>()).io_watcher.fd,
            UV_UDP => (*handle.cast::<uv_udp_t>()).io_watcher.fd,
            UV_POLL => (*handle.cast::<uv_poll_t>()).io_watcher.fd,
            _ => return Errno::EINVAL.code(),
        };
        if number < 0 || (*handle).flags & CLOSING != 0 {
            return Errno::EBADF.code();
        }
        *fd = number;
    }
    0
}

/// The handle's kind.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_handle_get_type(handle: *const uv_handle_t) -> uv_handle_type {
    // SAFETY: the caller says that the field has a value.
    unsafe { (*handle).r#type }
}

/// The loop that the handle was initialised on.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_handle_get_loop(handle: *const uv_handle_t) -> *mut uv_loop_t {
    // SAFETY: the caller says that the field has a value.
    unsafe { (*handle).r#loop }
}

/// The program's own value.
///
/// # Safety
/// `handle` is a handle whose `data` was set.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_handle_get_data(handle: *const uv_handle_t) -> *mut c_void {
    // SAFETY: the caller says that the field has a value.
    unsafe { (*handle).data }
}

/// Sets the program's own value. No other function writes it.
///
/// # Safety
/// `handle` points to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_handle_set_data(handle: *mut uv_handle_t, data: *mut c_void) {
    // SAFETY: memory to write to, says the caller.
    unsafe { (*handle).data = data }
}
