//! Loops whose memory is this library's.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr::null_mut;
#[cfg(not(miri))]
use std::time::Duration;

use oxuv_core::Errno;

use crate::error::ignored;
use crate::loop_::{uv_loop_close, uv_loop_init};
use crate::memory;
use crate::types::uv_loop_t;

/// The default loop: zero, thus not initialised, at first.
struct DefaultLoop(UnsafeCell<uv_loop_t>);

// SAFETY: whoever calls `uv_default_loop` promises that no other thread is in it, and the loop itself belongs to one
// thread at a time like any other.
unsafe impl Sync for DefaultLoop {}

// SAFETY: null and zero are values for all fields of a loop.
static DEFAULT_LOOP: DefaultLoop = DefaultLoop(UnsafeCell::new(unsafe { std::mem::zeroed() }));

/// A loop for the whole program, made at the first call; null when that fails. Once it is closed, the next call makes a
/// new one at the same address.
///
/// # Safety
/// No other thread is in this function, and none uses the loop.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_default_loop() -> *mut uv_loop_t {
    let loop_ = DEFAULT_LOOP.0.get();
    // SAFETY: the memory is there for ever, and nobody else's now. Without a core it holds no open loop.
    unsafe { if (*loop_).core.is_null() && uv_loop_init(loop_) != 0 { null_mut() } else { loop_ } }
}

/// A loop in memory of its own, or null. It ends with [`uv_loop_delete`].
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_loop_new() -> *mut uv_loop_t {
    let loop_: *mut uv_loop_t = memory::calloc(1, size_of::<uv_loop_t>()).cast();
    // SAFETY: null, or zeroed memory for a loop that nobody else knows of; it is given back where it came from.
    unsafe {
        if loop_.is_null() || uv_loop_init(loop_) == 0 {
            return loop_;
        }
        memory::free(loop_.cast());
    }
    null_mut()
}

/// Closes a loop, if it is not closed, and frees its memory, but for the default loop's. A loop that cannot be closed
/// stays as it is.
///
/// # Safety
/// `loop_` came from [`uv_loop_new`] or [`uv_default_loop`], and is out of use.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_delete(loop_: *mut uv_loop_t) {
    // SAFETY: an initialised loop, perhaps closed; what is not the default loop's memory came from `uv_loop_new`.
    unsafe {
        if uv_loop_close(loop_) == Errno::EBUSY.code() {
            ignored("uv_loop_delete", "the loop has handles or requests");
        } else if loop_ != DEFAULT_LOOP.0.get() {
            memory::free(loop_.cast());
        }
    }
}

/// The size of a loop in bytes.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_loop_size() -> usize {
    size_of::<uv_loop_t>()
}

/// The program's own value.
///
/// # Safety
/// `loop_` was initialised, or its `data` was set.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_get_data(loop_: *const uv_loop_t) -> *mut c_void {
    // SAFETY: the caller says that the field has a value.
    unsafe { (*loop_).data }
}

/// Sets the program's own value. It stays over init and close.
///
/// # Safety
/// `loop_` points to memory for a loop.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_set_data(loop_: *mut uv_loop_t, data: *mut c_void) {
    // SAFETY: memory to write to, says the caller.
    unsafe { (*loop_).data = data }
}

/// Gives back what the library has outside its loops: the threads, which first run what is queued, but for look-ups, which
/// are cancelled; and the copy of the arguments that `uv_setup_args` made. Loops that are open stay so. Once is enough;
/// more often does no harm. The end of the process does it too, but waits for threads that are at work for a second at most:
/// one that hangs is not to keep the process from ending.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_library_shutdown() {
    crate::loop_::kernel::end_threads(None);
    crate::system::title::give_back();
}

/// The C library calls this when the process ends. If there are threads, the library is not unloaded before: see
/// [`stay_loaded`](crate::dl::stay_loaded).
#[cfg(not(miri))]
extern "C-unwind" fn end() {
    crate::loop_::kernel::end_threads(Some(Duration::from_secs(1)));
    crate::system::title::give_back();
}

#[cfg(not(miri))]
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_THE_END: extern "C-unwind" fn() = end;
