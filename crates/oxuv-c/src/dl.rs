//! Shared libraries that a program loads while it runs.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Once;

use libc::{RTLD_LAZY, RTLD_NODELETE, RTLD_NOLOAD};

use crate::memory;

/// A shared library, or the reason why there is none.
#[repr(C)]
pub struct uv_lib_t {
    handle: *mut c_void,
    /// The last error's text, or null. It is freed by the next error and by `uv_dlclose`.
    errmsg: *mut c_char,
}

/// What `uv_dlopen` and `uv_dlsym` return on failure. The text says more than any number.
const FAILED: c_int = -1;

/// Loads a shared library. With a null `filename` it is the program itself and all that it was linked with.
///
/// -1 on failure, and `uv_dlerror` has the reason; then, too, `uv_dlclose` frees what `lib` holds.
///
/// # Safety
/// `filename` is null or a text with a zero at its end; `lib` is null or points to memory for a library. What the
/// library's initialisers do is the caller's affair.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_dlopen(filename: *const c_char, lib: *mut uv_lib_t) -> c_int {
    if lib.is_null() {
        return FAILED;
    }
    // SAFETY: `lib` is memory for both fields, whatever they hold now; they are written before they are read.
    unsafe {
        libc::dlerror(); // An older error is none of ours.
        let handle = libc::dlopen(filename, RTLD_LAZY);
        lib.write(uv_lib_t { handle, errmsg: null_mut() });
        if handle.is_null() { keep_error(lib) } else { 0 }
    }
}

/// Unloads a library, and frees the text of its last error. Once more does nothing.
///
/// # Safety
/// `lib` is null or was given to `uv_dlopen`. Nothing of the library is used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_dlclose(lib: *mut uv_lib_t) {
    if lib.is_null() {
        return;
    }
    // SAFETY: `uv_dlopen` has written both fields; each is null from here on, and so is freed once.
    unsafe {
        let uv_lib_t { handle, errmsg } = lib.replace(uv_lib_t { handle: null_mut(), errmsg: null_mut() });
        memory::free(errmsg.cast());
        if !handle.is_null() {
            libc::dlclose(handle);
        }
    }
}

/// Looks up a symbol. Where opening has failed, it is looked up in the program, as after `uv_dlopen` of null.
///
/// -1 on failure, and `uv_dlerror` has the reason. A symbol whose address is null is found: 0.
///
/// # Safety
/// `lib` was given to `uv_dlopen`; `name` is null or a text with a zero at its end; `ptr` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_dlsym(lib: *mut uv_lib_t, name: *const c_char, ptr: *mut *mut c_void) -> c_int {
    if lib.is_null() || name.is_null() || ptr.is_null() {
        return FAILED;
    }
    // SAFETY: `handle` came from `dlopen`, or is null, which is `RTLD_DEFAULT`; name and place are the caller's word.
    unsafe {
        libc::dlerror();
        let address = libc::dlsym((*lib).handle, name);
        ptr.write(address);
        if address.is_null() { keep_error(lib) } else { 0 }
    }
}

/// The text of the last error, or `"no error"`. It is there until the next error or `uv_dlclose`.
///
/// # Safety
/// `lib` is null or was given to `uv_dlopen`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_dlerror(lib: *const uv_lib_t) -> *const c_char {
    // SAFETY: `uv_dlopen` has written the field.
    let errmsg = if lib.is_null() { null_mut() } else { unsafe { (*lib).errmsg } };
    if errmsg.is_null() { c"no error".as_ptr() } else { errmsg }
}

/// Takes the loader's error for the library's. 0 if there was none.
///
/// # Safety
/// The fields of `lib` were written by this module.
unsafe fn keep_error(lib: *mut uv_lib_t) -> c_int {
    // SAFETY: `errmsg` is null or came from `copy_of`; the loader's text is copied before anything can change it.
    unsafe {
        let text = libc::dlerror();
        let copy = if text.is_null() { null_mut() } else { memory::copy_of(CStr::from_ptr(text)) };
        memory::free((&raw mut (*lib).errmsg).replace(copy).cast());
        if text.is_null() { 0 } else { FAILED }
    }
}

/// Keeps this library loaded until the process ends: threads run its code, and one that hangs cannot be waited for.
#[cfg(not(miri))]
pub(crate) fn stay_loaded() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut about = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: there is room for what is said about this function's address; what is said is looked at only if something
        // is. The name is a text of the loader's, which opens nothing that is not there already.
        unsafe {
            let here = stay_loaded as *const c_void;
            if libc::dladdr(here, about.as_mut_ptr()) != 0 && !about.assume_init_ref().dli_fname.is_null() {
                // Linked into the program there is nothing to keep, and this finds nothing.
                libc::dlopen(about.assume_init_ref().dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
            }
        }
    });
}
