//! Error codes, their names and their messages.

use std::ffi::{CStr, c_char, c_int};
use std::io::{Write, stderr};
use std::iter;
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

/// A text that is kept for ever. It is never moved or freed, so that programs may replace the allocator later.
struct Kept {
    number: c_int,
    text: [u8; UNKNOWN_SIZE],
    older: Option<&'static Kept>,
}

struct Texts {
    count: usize,
    /// The newest text of the numbers that leave this remainder.
    newest: [Option<&'static Kept>; 256],
}

/// The text about a number that is no error, made once for each number. Where it cannot be kept, it is a text without
/// the number.
fn kept(err: c_int) -> &'static CStr {
    static TEXTS: Mutex<Texts> = Mutex::new(Texts { count: 0, newest: [None; 256] });
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let chain = err.rem_euclid(256) as usize;
    let kept = texts.find(chain, err).or_else(|| texts.keep(chain, err));
    kept.and_then(|kept| CStr::from_bytes_until_nul(&kept.text).ok()).unwrap_or(UNKNOWN)
}

impl Texts {
    fn find(&self, chain: usize, number: c_int) -> Option<&'static Kept> {
        iter::successors(self.newest[chain], |kept| kept.older).find(|kept| kept.number == number)
    }

    fn keep(&mut self, chain: usize, number: c_int) -> Option<&'static Kept> {
        let mut place = Vec::new();
        if self.count == MAX_KEPT || place.try_reserve_exact(1).is_err() {
            return None;
        }
        let mut text = [0; UNKNOWN_SIZE];
        unknown(number, &mut text);
        place.push(Kept { number, text, older: self.newest[chain] });
        self.newest[chain] = place.leak().first();
        self.count += 1;
        self.newest[chain]
    }
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
