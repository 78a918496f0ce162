//! Error codes, their names and their messages.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int};
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

/// What an error means, in a few words. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_strerror(err: c_int) -> *const c_char {
    text(err, Errno::message)
}

/// The name of an error, `"ECONNRESET"` for example. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_err_name(err: c_int) -> *const c_char {
    text(err, Errno::name)
}

/// A text about an error with a zero at its end, made once for each.
fn text(err: c_int, about: fn(Errno) -> Option<&'static str>) -> *const c_char {
    static TEXTS: Mutex<BTreeMap<String, CString>> = Mutex::new(BTreeMap::new());
    let known = err.checked_neg().filter(|&number| number > 0).and_then(|number| about(Errno::from_raw(number)));
    let text = known.map_or_else(|| format!("Unknown system error {err}"), str::to_owned);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = text.clone().into_bytes();
    texts.entry(text).or_insert_with(|| CString::new(bytes).unwrap_or_default()).as_ptr()
}
