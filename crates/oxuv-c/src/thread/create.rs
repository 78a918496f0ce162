//! Threads: made, detached, joined, told apart.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use oxuv_core::{Errno, Result};
use oxuv_os::thread::{stack_size, stack_size_for};

use super::{check, pthread_create, pthread_join};
use crate::error::code;

/// A thread.
pub type uv_thread_t = libc::pthread_t;

/// What a new thread runs.
pub type uv_thread_cb = Option<unsafe extern "C-unwind" fn(*mut c_void)>;

/// How a thread is to be.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct uv_thread_options_t {
    /// Which of the other fields are set. Those that are not are not looked at.
    pub flags: c_uint,
    /// Bytes, rounded up to whole pages. 0 means as large as without.
    pub stack_size: usize,
}

/// Nothing is set.
pub const UV_THREAD_NO_FLAGS: c_uint = 0;
/// `stack_size` is set.
pub const UV_THREAD_HAS_STACK_SIZE: c_uint = 1;

/// Starts a thread that calls `entry(arg)`, with a stack as large as the main thread's may become (`RLIMIT_STACK`;
/// 2 MiB where that is unlimited).
///
/// UV_EAGAIN when the system has no room for another thread; UV_EINVAL without an entry.
///
/// # Safety
/// `tid` points to memory for a thread. What `entry` does with `arg` is right on another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_create(
    tid: *mut uv_thread_t,
    entry: uv_thread_cb,
    arg: *mut c_void,
) -> c_int {
    let params = uv_thread_options_t { flags: UV_THREAD_NO_FLAGS, stack_size: 0 };
    // SAFETY: `params` is a local; the rest is as our caller promises.
    unsafe { uv_thread_create_ex(tid, &raw const params, entry, arg) }
}

/// As [`uv_thread_create`], with options. A stack too small for any thread is made as large as need be.
///
/// # Safety
/// As for [`uv_thread_create`]; `params` points to options of which `flags`, and what these name, has a value.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_create_ex(
    tid: *mut uv_thread_t,
    params: *const uv_thread_options_t,
    entry: uv_thread_cb,
    arg: *mut c_void,
) -> c_int {
    let Some(entry) = entry else { return Errno::EINVAL.code() };
    if tid.is_null() || params.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: `params` has its flags. The other field is read only if they say so: callers built for an older
    // interface leave it without a value.
    let wanted = unsafe { if (*params).flags & UV_THREAD_HAS_STACK_SIZE == 0 { 0 } else { (*params).stack_size } };
    let size = if wanted == 0 { stack_size() } else { stack_size_for(wanted) };
    code(Attributes::with_stack(size).and_then(|attributes| {
        // SAFETY: `tid` is memory for what is written there. The entry goes to the C library as it is: it may end its
        // thread from within, and does not pass through anything of ours then.
        check(unsafe { pthread_create(tid, &raw const attributes.0, entry, arg) })
    }))
}

/// How a thread is to be, in the C library's terms.
struct Attributes(libc::pthread_attr_t);

impl Attributes {
    fn with_stack(size: usize) -> Result<Attributes> {
        let mut memory = MaybeUninit::uninit();
        // SAFETY: init gives all of it a value, and only then is it taken for initialised, and destroyed some day.
        let mut attributes = unsafe {
            check(libc::pthread_attr_init(memory.as_mut_ptr()))?;
            Attributes(memory.assume_init())
        };
        // SAFETY: initialised just now.
        check(unsafe { libc::pthread_attr_setstacksize(&raw mut attributes.0, size) })?;
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised by the only function that makes one, and not used any more. It cannot fail.
        unsafe { libc::pthread_attr_destroy(&raw mut self.0) };
    }
}

/// Lets a thread end for itself: nobody has to join it, nor may.
///
/// UV_EINVAL if it is detached already.
///
/// # Safety
/// `tid` points to a thread that was neither joined nor, if it has ended, detached.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_detach(tid: *mut uv_thread_t) -> c_int {
    // SAFETY: the C library still knows this thread.
    code(check(unsafe { libc::pthread_detach(*tid) }))
}

/// Waits until a thread has ended, and lets go of it.
///
/// The negative EDEADLK, for which libuv has no name, for the calling thread itself; UV_EINVAL if it is detached, or
/// another thread waits for it.
///
/// # Safety
/// `tid` points to a thread that was neither joined nor, if it has ended, detached.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_join(tid: *mut uv_thread_t) -> c_int {
    // SAFETY: the C library still knows this thread. What its entry returns is not asked for: it returns nothing.
    code(check(unsafe { pthread_join(*tid, null_mut()) }))
}

/// The calling thread.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_thread_self() -> uv_thread_t {
    // SAFETY: every thread has a number, and this touches nothing else.
    unsafe { libc::pthread_self() }
}

/// Not 0 if both are the same thread.
///
/// # Safety
/// Both point to a thread.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_equal(t1: *const uv_thread_t, t2: *const uv_thread_t) -> c_int {
    // SAFETY: reads two numbers, and compares them.
    unsafe { libc::pthread_equal(*t1, *t2) }
}
