//! WTF-8 and UTF-16: as libuv has them.

#![no_main]
#![allow(unsafe_op_in_unsafe_fn, reason = "they are C programs in Rust's clothes")]

use std::ffi::{CString, c_char};
use std::ptr::null_mut;

use libfuzzer_sys::fuzz_target;
use oxuv_fuzz::{Bytes, libuv};
use uv::{uv_utf16_length_as_wtf8, uv_utf16_to_wtf8, uv_wtf8_length_as_utf16, uv_wtf8_to_utf16};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let size = usize::from(bytes.byte());
    let mut units: Vec<u16> = bytes.0.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect();
    let text = CString::new(bytes.text()).expect("it has no zero");
    // SAFETY: a text with its zero; units, with their number or a zero behind them.
    unsafe {
        read(&text);
        write(&units, units.len() as isize, size);
        units.push(0);
        write(&units, -1, size);
    }
});

unsafe fn read(text: &CString) {
    let length = uv_wtf8_length_as_utf16(text.as_ptr());
    assert_eq!(length, libuv::wtf8_length_as_utf16(text.as_ptr()), "{text:?}");
    let Ok(count) = usize::try_from(length) else { return };
    let (mut ours, mut theirs) = (vec![1_u16; count], vec![2_u16; count]);
    uv_wtf8_to_utf16(text.as_ptr(), ours.as_mut_ptr(), count);
    libuv::wtf8_to_utf16(text.as_ptr(), theirs.as_mut_ptr(), count);
    assert_eq!(ours, theirs, "{text:?}");
}

unsafe fn write(units: &[u16], length: isize, size: usize) {
    let needed = uv_utf16_length_as_wtf8(units.as_ptr(), length);
    assert_eq!(needed, libuv::utf16_length_as_wtf8(units.as_ptr(), length), "{units:x?}");

    // Into memory that is made.
    let (mut ours, mut theirs): (*mut c_char, *mut c_char) = (null_mut(), null_mut());
    let (mut ours_length, mut theirs_length) = (0, 0);
    let code = uv_utf16_to_wtf8(units.as_ptr(), length, &mut ours, &mut ours_length);
    assert_eq!(code, libuv::utf16_to_wtf8(units.as_ptr(), length, &mut theirs, &mut theirs_length));
    assert_eq!((code, ours_length, theirs_length), (0, needed, needed));
    let text = |at: *mut c_char| std::slice::from_raw_parts(at.cast::<u8>(), needed + 1).to_vec();
    assert_eq!(text(ours), text(theirs), "{units:x?}");
    libc::free(ours.cast());
    libc::free(theirs.cast());

    // Into memory of this size, with one byte more for the zero.
    let (mut ours, mut theirs) = (vec![1_u8; size + 1], vec![1_u8; size + 1]);
    let (mut ours_length, mut theirs_length) = (size, size);
    let mut at: *mut c_char = ours.as_mut_ptr().cast();
    let code = uv_utf16_to_wtf8(units.as_ptr(), length, &mut at, &mut ours_length);
    let mut at: *mut c_char = theirs.as_mut_ptr().cast();
    let expected = libuv::utf16_to_wtf8(units.as_ptr(), length, &mut at, &mut theirs_length);
    // Where not even the first letter fits libuv counts the room besides what is needed.
    assert_eq!((code, ours_length), (expected, needed), "{units:x?} in {size}");
    assert_eq!(ours, theirs, "{units:x?} in {size}");
}
