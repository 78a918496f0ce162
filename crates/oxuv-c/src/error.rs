//! Error codes, their names and their messages.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::ptr::copy_nonoverlapping;
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
    known(err, Errno::c_message).unwrap_or_else(|| kept(err)).as_ptr()
}

/// The name of an error, `"ECONNRESET"` for example. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_err_name(err: c_int) -> *const c_char {
    known(err, Errno::c_name).unwrap_or_else(|| kept(err)).as_ptr()
}

/// As [`uv_strerror`], in the caller's memory, which is returned: as much as fits, and a zero behind it.
///
/// # Safety
/// `buf` points to `buflen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_strerror_r(err: c_int, buf: *mut c_char, buflen: usize) -> *mut c_char {
    // SAFETY: the caller says so.
    unsafe { copy(known(err, Errno::c_message), err, buf, buflen) }
}

/// As [`uv_err_name`], in the caller's memory, which is returned: as much as fits, and a zero behind it.
///
/// # Safety
/// `buf` points to `buflen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_err_name_r(err: c_int, buf: *mut c_char, buflen: usize) -> *mut c_char {
    // SAFETY: the caller says so.
    unsafe { copy(known(err, Errno::c_name), err, buf, buflen) }
}

/// A number of the system's, positive, as libuv's: negative. Other numbers are such already, or 0.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_translate_sys_error(sys_errno: c_int) -> c_int {
    if sys_errno > 0 { -sys_errno } else { sys_errno }
}

fn known(err: c_int, about: fn(Errno) -> Option<&'static CStr>) -> Option<&'static CStr> {
    let number = err.checked_neg().filter(|&number| number > 0)?;
    about(Errno::from_raw(number))
}

/// Copies what is known about a number, or else that nothing is.
///
/// # Safety
/// `buf` points to `buflen` bytes.
unsafe fn copy(known: Option<&CStr>, err: c_int, buf: *mut c_char, buflen: usize) -> *mut c_char {
    let mut memory = [0; UNKNOWN_SIZE];
    let text = known.unwrap_or_else(|| unknown(err, &mut memory)).to_bytes();
    if buf.is_null() || buflen == 0 {
        return buf;
    }
    let length = text.len().min(buflen - 1);
    // SAFETY: the text's part and the zero behind it are `buflen` bytes at most.
    unsafe {
        copy_nonoverlapping(text.as_ptr(), buf.cast(), length);
        buf.add(length).write(0);
    }
    buf
}

const UNKNOWN: &CStr = c"Unknown system error";
const UNKNOWN_SIZE: usize = UNKNOWN.count_bytes() + " -2147483648\0".len();

/// The text about a number that is no error.
fn unknown(err: c_int, memory: &mut [u8; UNKNOWN_SIZE]) -> &CStr {
    // The last byte stays zero.
    let written = write!(&mut memory[..UNKNOWN_SIZE - 1], "Unknown system error {err}");
    match CStr::from_bytes_until_nul(memory) {
        Ok(text) if written.is_ok() => text,
        _ => UNKNOWN,
    }
}

/// How many texts about such numbers are kept, at most. A program that tries out numbers must not eat the memory.
const MAX_KEPT: usize = 1 << 16;

/// That text for ever: made once for each number, and without the number if it cannot be kept.
fn kept(err: c_int) -> &'static CStr {
    static KEPT: Mutex<Vec<(c_int, &'static CStr)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match kept.binary_search_by_key(&err, |&(number, _)| number) {
        Ok(place) => kept[place].1,
        Err(place) => {
            if kept.len() == MAX_KEPT || kept.try_reserve(1).is_err() {
                return UNKNOWN;
            }
            let text = leak(unknown(err, &mut [0; UNKNOWN_SIZE]));
            if let Some(text) = text {
                kept.insert(place, (err, text));
            }
            text.unwrap_or(UNKNOWN)
        }
    }
}

fn leak(text: &CStr) -> Option<&'static CStr> {
    let text = text.to_bytes_with_nul();
    let mut memory = Vec::new();
    memory.try_reserve_exact(text.len()).ok()?;
    memory.extend_from_slice(text);
    CStr::from_bytes_with_nul(memory.leak()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_text_about_an_unknown_number_has_room() {
        assert_eq!(unknown(c_int::MIN, &mut [0; UNKNOWN_SIZE]), c"Unknown system error -2147483648");
        assert_eq!(unknown(0, &mut [0; UNKNOWN_SIZE]), c"Unknown system error 0");
    }

    #[test]
    fn a_text_is_made_once_and_their_number_is_bounded() {
        let first = kept(1);
        assert_eq!(first, c"Unknown system error 1");
        for number in 0..2 * MAX_KEPT as c_int {
            kept(number);
        }
        assert_eq!(kept(1).as_ptr(), first.as_ptr());
        assert_eq!(kept(-77_777_777), UNKNOWN);
    }
}
