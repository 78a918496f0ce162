//! Error codes, their names and their messages.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::io::{Write as _, stderr};
use std::sync::{Mutex, PoisonError};

use oxuv_core::{Errno, Result};

/// What libuv's functions return: 0 or a negative error.
#[inline]
pub(crate) fn code(result: Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => error.code(),
    }
}

/// Tells of a call that a mistake made meaningless, in debug builds: it has no code to tell it by.
#[cold]
pub(crate) fn ignored(call: &str, why: &str) {
    if cfg!(debug_assertions) {
        let _ = writeln!(stderr(), "{call}: ignored: {why}");
    }
}

/// What an error means, in a few words. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_strerror(err: c_int) -> *const c_char {
    text(err, Errno::c_message)
}

/// The name of an error, `"ECONNRESET"` for example. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_err_name(err: c_int) -> *const c_char {
    text(err, Errno::c_name)
}

fn text(err: c_int, about: fn(Errno) -> Option<&'static CStr>) -> *const c_char {
    let number = err.checked_neg().filter(|&number| number > 0);
    let known = number.and_then(|number| about(Errno::from_raw(number)));
    known.map_or_else(|| unknown(err), CStr::as_ptr)
}

/// The text about a number that is no error, made once for each.
fn unknown(err: c_int) -> *const c_char {
    static TEXTS: Mutex<BTreeMap<c_int, CString>> = Mutex::new(BTreeMap::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = texts
        .entry(err)
        .or_insert_with(|| CString::new(format!("Unknown system error {err}")).expect("a number has no zero byte"));
    text.as_ptr()
}
