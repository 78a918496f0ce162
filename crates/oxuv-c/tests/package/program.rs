//! A Rust program with the C library in it: the two standard libraries must not clash, nor their panics.

use std::ffi::{CStr, c_char};

unsafe extern "C" {
    safe fn uv_version_string() -> *const c_char;
}

fn main() {
    assert!(std::panic::catch_unwind(|| panic!("caught, and printed")).is_err());
    // SAFETY: the text ends with a zero byte and lives for ever.
    println!("{}", unsafe { CStr::from_ptr(uv_version_string()) }.to_str().unwrap());
}
