//! Making the unwinder in this library ready for exceptions of others.
//!
//! The shared library has an unwinder of its own, so that it needs the C library alone. A C++ exception, or the
//! cancellation of a thread, is driven through our frames by another copy: that of the program. Where one of our frames
//! has something to drop, that copy asks ours to put values into registers; and a copy that has never unwound anything
//! does not know how large they are, and aborts. So ours takes one step when the library is loaded.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

unsafe extern "C-unwind" {
    fn _Unwind_Backtrace(step: extern "C" fn(*mut c_void, *mut c_void) -> c_int, argument: *mut c_void) -> c_int;
}

/// Any reason but "go on" ends the walk; this one says that all is well.
const NORMAL_STOP: c_int = 4;

extern "C" fn stop(_context: *mut c_void, _argument: *mut c_void) -> c_int {
    NORMAL_STOP
}

extern "C-unwind" fn take_a_step() {
    // SAFETY: the function is that of the unwinder that the standard library uses as well; it calls `stop` for the
    // first frame, and needs nothing that is not there when a library is loaded.
    unsafe { _Unwind_Backtrace(stop, null_mut()) };
}

#[used]
// SAFETY: the section holds addresses of functions without arguments, which the loader calls once each.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C-unwind" fn() = take_a_step;
