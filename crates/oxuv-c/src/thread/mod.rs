//! Threads, and what they synchronise by: the C library's own, under libuv's names.
//!
//! The types are the C library's, so there is nothing to keep beside them. A function hands its object on and turns
//! the error into libuv's; one that returns nothing ends the process if the object is so broken that the C library
//! notices, as libuv does: a program that believes it has a lock must not go on without.
//!
//! Several of these functions may be left by an exception: a thread that waits in one of them is cancelled, or the
//! function that [`uv_once`] calls throws. So none of them keeps anything that would have to be dropped.

#![allow(non_camel_case_types)] // The names are C's.

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

pub use affinity::{uv_cpumask_size, uv_thread_getaffinity, uv_thread_getcpu, uv_thread_setaffinity};
pub use barrier::{uv_barrier_destroy, uv_barrier_init, uv_barrier_t, uv_barrier_wait};
pub use condition::{
    uv_cond_broadcast, uv_cond_destroy, uv_cond_init, uv_cond_signal, uv_cond_t, uv_cond_timedwait, uv_cond_wait,
};
pub use create::{
    UV_THREAD_HAS_STACK_SIZE, UV_THREAD_NO_FLAGS, uv_thread_cb, uv_thread_create, uv_thread_create_ex,
    uv_thread_detach, uv_thread_equal, uv_thread_join, uv_thread_options_t, uv_thread_self, uv_thread_t,
};
pub use key::{uv_key_create, uv_key_delete, uv_key_get, uv_key_set, uv_key_t};
pub use mutex::{
    uv_mutex_destroy, uv_mutex_init, uv_mutex_init_recursive, uv_mutex_lock, uv_mutex_t, uv_mutex_trylock,
    uv_mutex_unlock,
};
pub use name::{uv_thread_getname, uv_thread_setname};
pub use once::{uv_once, uv_once_cb, uv_once_t};
pub use priority::{
    UV_THREAD_PRIORITY_ABOVE_NORMAL, UV_THREAD_PRIORITY_BELOW_NORMAL, UV_THREAD_PRIORITY_HIGHEST,
    UV_THREAD_PRIORITY_LOWEST, UV_THREAD_PRIORITY_NORMAL, uv_thread_getpriority, uv_thread_setpriority,
};
pub use rwlock::{
    uv_rwlock_destroy, uv_rwlock_init, uv_rwlock_rdlock, uv_rwlock_rdunlock, uv_rwlock_t, uv_rwlock_tryrdlock,
    uv_rwlock_trywrlock, uv_rwlock_wrlock, uv_rwlock_wrunlock,
};
pub use semaphore::{uv_sem_destroy, uv_sem_init, uv_sem_post, uv_sem_t, uv_sem_trywait, uv_sem_wait};

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
    // Without the macro, which panics when there is nowhere to print to.
    let _ = writeln!(stderr(), "libuv.so.1 (oxuv): {function}: {error}, aborting");
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
