//! What fuzz targets share: libuv's answers, and bytes as parameters.

use std::ffi::{c_char, c_int, c_void};

/// libuv 1.53's own functions, as `build.rs` has compiled them.
pub mod libuv {
    use super::{c_char, c_int, c_void};

    // They are described in libuv's manual, but for the last, which writes a host name's ASCII form and returns its length.
    #[expect(missing_docs, reason = "they are libuv's")]
    unsafe extern "C" {
        #[link_name = "libuv_uv_inet_pton"]
        pub fn inet_pton(family: c_int, text: *const c_char, to: *mut c_void) -> c_int;
        #[link_name = "libuv_uv_inet_ntop"]
        pub fn inet_ntop(family: c_int, from: *const c_void, text: *mut c_char, size: usize) -> c_int;
        #[link_name = "libuv_uv_utf16_length_as_wtf8"]
        pub fn utf16_length_as_wtf8(utf16: *const u16, length: isize) -> usize;
        #[link_name = "libuv_uv_utf16_to_wtf8"]
        pub fn utf16_to_wtf8(utf16: *const u16, length: isize, text: *mut *mut c_char, size: *mut usize) -> c_int;
        #[link_name = "libuv_uv_wtf8_length_as_utf16"]
        pub fn wtf8_length_as_utf16(text: *const c_char) -> isize;
        #[link_name = "libuv_uv_wtf8_to_utf16"]
        pub fn wtf8_to_utf16(text: *const c_char, utf16: *mut u16, length: usize);
        #[link_name = "uv__idna_toascii"]
        pub fn idna_to_ascii(from: *const c_char, end: *const c_char, to: *mut c_char, room: *mut c_char) -> isize;
    }
}

/// Takes parameters off the fuzzer's bytes; 0 when there are no more.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// What stands before the next zero, without it.
    pub fn text(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|&byte| byte == 0);
        let (text, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest.get(1..).unwrap_or_default();
        text
    }
}
