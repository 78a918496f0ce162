//! What all handles have in common.

use std::ffi::{c_int, c_uint};

use oxuv_core::Key;

use crate::loop_::{User, with};
use crate::types::{UV_ASYNC, UV_TCP, uv_close_cb, uv_handle_t, uv_handle_type, uv_loop_t, uv_stream_t};

/// Flag of a handle: `uv_close` was called.
pub(crate) const CLOSING: c_uint = 1;

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

/// Closes a handle: it stops at once, and `close_cb`, which may be null, is the last that is heard of it.
///
/// # Safety
/// `handle` was initialised on a loop that is not closed. Its memory stays valid until `close_cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_close(handle: *mut uv_handle_t, close_cb: uv_close_cb) {
    // SAFETY: an initialised handle has its loop and key; the type says whether it is a stream.
    unsafe {
        let key = key(handle);
        if with((*handle).r#loop, |core| core.close(key)).is_err() {
            if cfg!(debug_assertions) {
                eprintln!("uv_close: the handle is closing already");
            }
            return;
        }
        (*handle).close_cb = close_cb;
        (*handle).flags |= CLOSING;
        match (*handle).r#type {
            UV_ASYNC => crate::async_::close(handle.cast()),
            UV_TCP => (*handle.cast::<uv_stream_t>()).io_watcher.fd = -1,
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
    // SAFETY: a handle with a key that is not closing has an open loop, which cannot be closed before it.
    unsafe {
        let key = key(handle);
        if key == Key::default() || uv_is_closing(handle) != 0 {
            return 0;
        }
        with((*handle).r#loop, |core| core.is_active(key).into())
    }
}
