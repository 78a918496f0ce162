//! The environment. None of these functions may run while another thread changes it, as libuv's manual says.

use std::ffi::{CStr, c_char, c_int};

use oxuv_core::{Errno, Result};
use oxuv_os::system::env;

use super::block::{Block, hand_out};
use super::room::Room;
use crate::error::code;
use crate::memory::free;

/// A variable.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct uv_env_item_t {
    /// What stands before the first `=`.
    pub name: *mut c_char,
    /// What stands behind it.
    pub value: *mut c_char,
}

/// Copies all variables. What is no variable, since it has no `=`, is left out.
///
/// UV_ENOMEM.
///
/// # Safety
/// `envitems` and `count` are places for the array, to be freed by [`uv_os_free_environ`], and for its length. No other
/// thread changes the environment.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_environ(envitems: *mut *mut uv_env_item_t, count: *mut c_int) -> c_int {
    // SAFETY: passed on to our caller word for word.
    unsafe { hand_out(|| copy_all(), envitems, count) }
}

/// # Safety
/// No other thread changes the environment.
unsafe fn copy_all() -> Result<Block<uv_env_item_t>> {
    // SAFETY: the environment stays as it is, says the caller; nothing of it is kept.
    let variables = unsafe { env::all() };
    let room = |text: &[u8]| Block::<uv_env_item_t>::room_of(text);
    let texts = variables.clone().map(|(name, value)| room(name) + room(value)).sum();
    let mut block = Block::new(variables.clone().count(), texts)?;
    for (name, value) in variables {
        let (name, value) = (block.text(name)?, block.text(value)?);
        block.push(uv_env_item_t { name, value })?;
    }
    Ok(block)
}

/// Frees what [`uv_os_environ`] gave. Null is fine.
///
/// # Safety
/// `envitems` is null, or came from [`uv_os_environ`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_free_environ(envitems: *mut uv_env_item_t, _count: c_int) {
    // SAFETY: the array is one block of `calloc`'s.
    unsafe { free(envitems.cast()) }
}

/// Copies the value of a variable to `buffer`. `*size` is the buffer's, and becomes the value's length.
///
/// UV_ENOENT if there is no such variable; UV_ENOBUFS if the buffer is too small, `*size` is then what it takes, the zero
/// at the end included; UV_EINVAL for null and for a size of 0.
///
/// # Safety
/// `name` is null or a text; `buffer` points to `*size` bytes, or one of them is null. No other thread changes the
/// environment.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_getenv(name: *const c_char, buffer: *mut c_char, size: *mut usize) -> c_int {
    if name.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: passed on to our caller word for word. The value is copied at once; the name, which may lie in the buffer, is
    // out of use by then.
    code(unsafe { Room::new(buffer, size).and_then(|room| room.fill(value(CStr::from_ptr(name))?.to_bytes())) })
}

/// The value of a variable. ENOENT if there is none.
///
/// # Safety
/// No other thread changes the environment, and nobody as long as the value is in use.
pub(super) unsafe fn value<'a>(name: &CStr) -> Result<&'a CStr> {
    // SAFETY: passed on to our caller word for word.
    unsafe { env::get(name) }.ok_or(Errno::ENOENT)
}

/// Sets a variable, or replaces its value.
///
/// UV_EINVAL for null, and for a name that is empty or has a `=` in it; UV_ENOMEM.
///
/// # Safety
/// `name` and `value` are null or texts. No other thread uses the environment.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_setenv(name: *const c_char, value: *const c_char) -> c_int {
    if name.is_null() || value.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: both are texts; the rest is our caller's word.
    code(unsafe { env::set(CStr::from_ptr(name), CStr::from_ptr(value)) })
}

/// Removes a variable, if there is one.
///
/// UV_EINVAL for null, and for a name that is empty or has a `=` in it.
///
/// # Safety
/// `name` is null or a text. No other thread uses the environment.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_unsetenv(name: *const c_char) -> c_int {
    if name.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: it is a text; the rest is our caller's word.
    code(unsafe { env::remove(CStr::from_ptr(name)) })
}
