//! Locks that one thread has at a time.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use libc::{PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
use oxuv_core::Result;

use super::{check, try_exports, void_exports};
use crate::error::code;

/// A lock that one thread has at a time.
pub type uv_mutex_t = libc::pthread_mutex_t;

/// What is wrong with a program is shown by debug builds of this library, as by libuv's: they notice a thread that
/// locks twice, or unlocks what another thread has. Release builds leave out what that costs.
const KIND: c_int = if cfg!(debug_assertions) { PTHREAD_MUTEX_ERRORCHECK } else { PTHREAD_MUTEX_DEFAULT };

/// # Safety
/// `mutex` points to memory for a mutex.
unsafe fn init(mutex: *mut uv_mutex_t, kind: c_int) -> Result<()> {
    let mut memory = MaybeUninit::uninit();
    let attributes = memory.as_mut_ptr();
    // SAFETY: the attributes are initialised before they are used, and not used after they are destroyed, which
    // cannot fail. The mutex keeps nothing of them.
    unsafe {
        check(libc::pthread_mutexattr_init(attributes))?;
        let made = check(libc::pthread_mutexattr_settype(attributes, kind))
            .and_then(|()| check(libc::pthread_mutex_init(mutex, attributes)));
        libc::pthread_mutexattr_destroy(attributes);
        made
    }
}

/// Initialises a mutex. A thread that has it must not lock it again.
///
/// # Safety
/// `mutex` points to memory for a mutex, where none is.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_mutex_init(mutex: *mut uv_mutex_t) -> c_int {
    // SAFETY: passed on to our caller word for word.
    code(unsafe { init(mutex, KIND) })
}

/// Initialises a mutex that a thread may lock again while it has it; it is free after as many unlocks.
///
/// # Safety
/// `mutex` points to memory for a mutex, where none is.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_mutex_init_recursive(mutex: *mut uv_mutex_t) -> c_int {
    // SAFETY: passed on to our caller word for word.
    code(unsafe { init(mutex, PTHREAD_MUTEX_RECURSIVE) })
}

void_exports! {
    /// Ends a mutex. The process is ended if a thread has it.
    uv_mutex_destroy(mutex: *mut uv_mutex_t) = libc::pthread_mutex_destroy;

    /// Locks a mutex, waiting until it is free.
    uv_mutex_lock(mutex: *mut uv_mutex_t) = libc::pthread_mutex_lock;

    /// Unlocks a mutex. The process is ended if it is a recursive one that the calling thread does not have.
    uv_mutex_unlock(mutex: *mut uv_mutex_t) = libc::pthread_mutex_unlock;
}

try_exports! {
    /// Locks a mutex if it is free. UV_EBUSY if it is not.
    uv_mutex_trylock(mutex: *mut uv_mutex_t) = libc::pthread_mutex_trylock;
}
