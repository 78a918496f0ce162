//! All handles of a loop, to be visited or printed.

use std::ffi::{CStr, c_char, c_int, c_void};

use libc::{FILE, fprintf, fputs};

use crate::default_loop::uv_default_loop;
use crate::error::ignored;
use crate::kinds::handle_name;
use crate::loop_::with;
use crate::types::{uv_handle_t, uv_loop_t};

/// Called for each handle of a loop.
pub type uv_walk_cb = Option<unsafe extern "C-unwind" fn(*mut uv_handle_t, *mut c_void)>;

/// Calls `walk_cb` for each handle in the order of their initialisation, those being closed included. Handles that it
/// makes are not visited. It may do anything else, too: close handles, run the loop, walk once more, leave by an
/// exception or a `longjmp`.
///
/// # Safety
/// `loop_` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_walk(loop_: *mut uv_loop_t, walk_cb: uv_walk_cb, arg: *mut c_void) {
    let Some(walk_cb) = walk_cb else { return ignored("uv_walk", "there is no callback") };
    // SAFETY: `loop_` was initialised. The callback may close it, which ends the walk; nothing is borrowed or waits to be
    // dropped while it runs. A handle is valid until its close callback.
    unsafe {
        let Ok(mut walk) = with(loop_, |core| Ok(core.walk_begin())) else { return };
        while let Some((_, user)) = with(loop_, |core| core.walk_next(&mut walk)) {
            walk_cb(user.0.cast(), arg);
        }
    }
}

/// Prints all handles of a loop to `stream`: for each its flags in brackets, its kind and its address. The flags are R
/// for a referenced handle and A for an active one; a third place stays empty, it is for handles that libuv keeps for
/// itself. No loop is the default loop, no stream is stderr.
///
/// # Safety
/// `loop_` is null or was initialised; `stream` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_print_all_handles(loop_: *mut uv_loop_t, stream: *mut FILE) {
    // SAFETY: the same is asked of our caller.
    unsafe { print(loop_, false, stream) }
}

/// As [`uv_print_all_handles`], for the active ones only.
///
/// # Safety
/// As for [`uv_print_all_handles`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_print_active_handles(loop_: *mut uv_loop_t, stream: *mut FILE) {
    // SAFETY: the same is asked of our caller.
    unsafe { print(loop_, true, stream) }
}

/// # Safety
/// As for [`uv_print_all_handles`].
unsafe fn print(mut loop_: *mut uv_loop_t, only_active: bool, mut stream: *mut FILE) {
    unsafe extern "C" {
        static stderr: *mut FILE;
    }
    // SAFETY: C's standard stream; the default loop, or the caller's, which is not in use. A stream of the program's own
    // making may call it, and that may do to the loop what a walk's callback may.
    unsafe {
        if stream.is_null() {
            stream = stderr;
        }
        if loop_.is_null() {
            loop_ = uv_default_loop();
        }
        if loop_.is_null() {
            fputs(c"uv_default_loop() failed\n".as_ptr(), stream);
            return;
        }
        let Ok(mut walk) = with(loop_, |core| Ok(core.walk_begin())) else { return };
        let mut next = || {
            with(loop_, |core| {
                let (key, user) = core.walk_next(&mut walk)?;
                Some((user.0.cast(), core.is_referenced(key), core.is_active(key)))
            })
        };
        while let Some((handle, is_referenced, is_active)) = next() {
            if is_active || !only_active {
                print_handle(handle, is_referenced, is_active, stream);
            }
        }
    }
}

/// # Safety
/// `handle` is open, `stream` too.
unsafe fn print_handle(handle: *const uv_handle_t, is_referenced: bool, is_active: bool, stream: *mut FILE) {
    let flag = |is_set: bool, letter: u8| c_int::from(if is_set { letter } else { b'-' });
    // SAFETY: the format asks for three characters, a text with a zero at its end, and an address.
    unsafe {
        let name: *const c_char = handle_name((*handle).r#type).map_or(c"<unknown>".as_ptr(), CStr::as_ptr);
        let (referenced, active) = (flag(is_referenced, b'R'), flag(is_active, b'A'));
        fprintf(stream, c"[%c%c%c] %-8s %p\n".as_ptr(), referenced, active, flag(false, b'I'), name, handle);
    }
}
