//! A thread's name, as tools show it.

use std::ffi::{c_char, c_int};
use std::ptr::copy_nonoverlapping;

use oxuv_core::Errno;

use super::{check, uv_thread_self, uv_thread_t};
use crate::error::code;

/// Bytes of a name on Linux, the zero at its end included.
const SIZE: usize = 16;

/// The first bytes of the text at `from`, as many as there is room for, and a zero.
///
/// # Safety
/// At `from` are bytes up to a zero or, if that comes later, as many as are copied; `to` has `size` bytes, and at least
/// one; they do not overlap.
unsafe fn copy(from: *const c_char, to: *mut c_char, size: usize) {
    // SAFETY: neither looks behind the zero at the end of `from`, nor copies more than leaves room for one in `to`.
    unsafe {
        let length = libc::strnlen(from, size - 1);
        copy_nonoverlapping(from, to, length);
        to.add(length).write(0);
    }
}

/// Names the calling thread. What is behind the fifteenth byte is left out.
///
/// UV_EINVAL without a name.
///
/// # Safety
/// `name` is null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_setname(name: *const c_char) -> c_int {
    if name.is_null() {
        return Errno::EINVAL.code();
    }
    let mut short: [c_char; SIZE] = [0; SIZE];
    // SAFETY: `name` is a text, and `short` a local of that size, with a zero at its end when it is handed on.
    code(check(unsafe {
        copy(name, short.as_mut_ptr(), SIZE);
        libc::pthread_setname_np(uv_thread_self(), short.as_ptr())
    }))
}

/// Gets a thread's name, as much of it as has room in `size` bytes with a zero at the end.
///
/// UV_EINVAL without room.
///
/// # Safety
/// `tid` points to a thread that has not ended; `name` is null or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_getname(tid: *mut uv_thread_t, name: *mut c_char, size: usize) -> c_int {
    if name.is_null() || size == 0 {
        return Errno::EINVAL.code();
    }
    let mut whole: [c_char; SIZE] = [0; SIZE];
    // SAFETY: `whole` is a local of the size given, with room for any name and its zero; `name` has `size` bytes.
    code(unsafe {
        let result = check(libc::pthread_getname_np(*tid, whole.as_mut_ptr(), SIZE));
        result.map(|()| copy(whole.as_ptr(), name, size))
    })
}
