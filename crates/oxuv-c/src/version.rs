//! The version of libuv that this library stands in for.

use std::ffi::{CStr, c_char, c_uint};

const MAJOR: c_uint = 1;
const MINOR: c_uint = 53;
const PATCH: c_uint = 0;
const STRING: &CStr = c"1.53.0";

/// The version as one number: the major one above the lowest 16 bits, the minor one above the lowest 8, the patch in
/// these. Programs compare it with that of the header they were compiled with.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_version() -> c_uint {
    MAJOR << 16 | MINOR << 8 | PATCH
}

/// The version as text. It is never freed.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_version_string() -> *const c_char {
    STRING.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_and_the_text_say_the_same() {
        // SAFETY: the text ends with a zero byte and lives for ever.
        let text = unsafe { CStr::from_ptr(uv_version_string()) };
        let number = uv_version();
        let of_number = format!("{}.{}.{}", number >> 16, number >> 8 & 0xff, number & 0xff);
        assert_eq!((text.to_str(), number), (Ok(of_number.as_str()), 0x01_35_00));
    }
}
