//! Threads, and what they synchronise by: the C library's own, under libuv's names.
//!
//! The types are the C library's, so there is nothing to keep beside them. A function hands its object on and turns
//! the error into libuv's; one that returns nothing ends the process if the object is so broken that the C library
//! notices, as libuv does: a program that believes it has a lock must not go on without.
//!
//! Several of these functions may be left by an exception: a thread that waits in one of them is cancelled, or the
//! function that [`uv_once`] calls throws. What calls them has nothing to drop.

mod affinity;
mod barrier;
mod condition;
mod create;
mod key;
mod mutex;
mod name;
mod once;
mod priority;
mod rwlock;
mod semaphore;

use std::ffi::{c_int, c_void};
use std::io::{Write as _, stderr};
use std::process::abort;

use oxuv_core::{Errno, Result};

// Every module exports its part of the interface.
pub use affinity::*;
pub use barrier::*;
pub use condition::*;
pub use create::*;
pub use key::*;
pub use mutex::*;
pub use name::*;
pub use once::*;
pub use priority::*;
pub use rwlock::*;
pub use semaphore::*;

// What may be left by an exception, which the libc crate's declarations rule out: the C library throws one of its own
// where a thread is cancelled.
unsafe extern "C-unwind" {
    /// Here with the entry as libuv has it. The C library's returns a pointer, for whoever joins; nobody asks for it.
    fn pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        entry: unsafe extern "C-unwind" fn(*mut c_void),
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_join(thread: libc::pthread_t, returned: *mut *mut c_void) -> c_int;
    fn pthread_once(guard: *mut libc::pthread_once_t, callback: unsafe extern "C-unwind" fn()) -> c_int;
    fn pthread_cond_wait(condition: *mut libc::pthread_cond_t, mutex: *mut libc::pthread_mutex_t) -> c_int;
    fn pthread_cond_timedwait(
        condition: *mut libc::pthread_cond_t,
        mutex: *mut libc::pthread_mutex_t,
        until: *const libc::timespec,
    ) -> c_int;
    fn sem_wait(semaphore: *mut libc::sem_t) -> c_int;
}

/// What a function of pthreads returned: an error's number, or 0. They leave `errno` alone.
fn check(number: c_int) -> Result<()> {
    if number == 0 { Ok(()) } else { Err(Errno::from_raw(number)) }
}

/// What is left to do about an error where libuv's function has no way to tell of it.
fn must(function: &str, result: Result<()>) {
    if let Err(error) = result {
        broken(function, error);
    }
}

#[cold]
fn broken(function: &str, error: Errno) -> ! {
    let message = format!("libuv.so.1 (oxuv): {function}: {error}, aborting\n");
    // Without the macro, which panics when there is nowhere to print to.
    let _ = stderr().write_all(message.as_bytes());
    abort();
}

/// What an attempt to lock came to. The one error that a program is told of is that somebody else has the lock.
fn tried(function: &str, number: c_int) -> c_int {
    match check(number) {
        Ok(()) => 0,
        // EAGAIN: it is locked by the caller, as often as can be counted.
        Err(Errno::EBUSY | Errno::EAGAIN) => Errno::EBUSY.code(),
        Err(error) => broken(function, error),
    }
}

/// Exports functions that hand their object to one function of pthreads, and cannot tell of an error.
macro_rules! void_exports {
    ($($(#[$documentation:meta])* $name:ident($object:ident: *mut $type:ty) = $call:path;)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        #[doc = concat!("`", stringify!($object), "` was initialised, and is not destroyed before this is over.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($object: *mut $type) {
            // SAFETY: the caller says that the object is one of the C library's, made by its init, and there still.
            let number = unsafe { $call($object) };
            $crate::thread::must(stringify!($name), $crate::thread::check(number));
        }
    )*};
}

/// Exports functions that try to lock: UV_EBUSY if somebody else has the lock.
macro_rules! try_exports {
    ($($(#[$documentation:meta])* $name:ident($object:ident: *mut $type:ty) = $call:path;)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        #[doc = concat!("`", stringify!($object), "` was initialised, and is not destroyed before this is over.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($object: *mut $type) -> std::ffi::c_int {
            // SAFETY: the caller says that the object is one of the C library's, made by its init, and there still.
            $crate::thread::tried(stringify!($name), unsafe { $call($object) })
        }
    )*};
}

use {try_exports, void_exports};
