//! WTF-8 and UTF-16: texts of Windows as bytes.
//!
//! WTF-8 is UTF-8 in which also a surrogate without its partner has its three bytes, so that whatever 16-bit units there
//! are, they can be written and come back. Like libuv, the reader takes more than the writer writes: pairs of
//! surrogates of three bytes each, and longer forms than needed of three and four bytes.

use std::array;
use std::char::decode_utf16;
use std::ffi::{CStr, c_char, c_int};
use std::iter::Take;
use std::mem::MaybeUninit;
use std::slice;

use oxuv_core::Errno;

use crate::memory;

/// How many bytes the units are in WTF-8, without a zero at the end. A negative `utf16_len`: up to the first zero.
///
/// # Safety
/// `utf16` is null or points to `utf16_len` units, or to units with a zero at their end if that is negative.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_utf16_length_as_wtf8(utf16: *const u16, utf16_len: isize) -> usize {
    // SAFETY: the caller says so.
    length(unsafe { units(utf16, utf16_len) })
}

/// Writes units as WTF-8 with a zero at its end. A negative `utf16_len`: up to the first zero.
///
/// If `*wtf8_ptr` is null, it becomes memory for the text, which the caller frees with `free`, or with that of
/// `uv_replace_allocator`. If `wtf8_ptr` itself is
/// null, nothing is written. In both cases `*wtf8_len_ptr`, unless null, becomes the text's length, as
/// [`uv_utf16_length_as_wtf8`] says. Else `*wtf8_len_ptr` is the room at `*wtf8_ptr`, not counting a byte for the zero,
/// and becomes the text's length.
///
/// UV_ENOBUFS when the room is too small: it holds the beginning, which may end within a character, and
/// `*wtf8_len_ptr` becomes the room needed. UV_ENOMEM; UV_EINVAL for room without its length.
///
/// # Safety
/// As [`uv_utf16_length_as_wtf8`]; the other pointers are null or point to what they are described to point to.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_utf16_to_wtf8(
    utf16: *const u16,
    utf16_len: isize,
    wtf8_ptr: *mut *mut c_char,
    wtf8_len_ptr: *mut usize,
) -> c_int {
    // SAFETY: of each pointer it is looked whether it is null; memory of ours has room for all of the text, memory of the
    // caller's for as much as its length says, and a zero more.
    unsafe {
        let units = units(utf16, utf16_len);
        let needed = length(units);
        let ours = wtf8_ptr.is_null() || (*wtf8_ptr).is_null();
        let room = match wtf8_len_ptr.as_mut() {
            Some(len) if ours => {
                *len = needed;
                needed
            }
            Some(len) => std::mem::replace(len, needed),
            None if ours => needed,
            None => return Errno::EINVAL.code(),
        };
        if wtf8_ptr.is_null() {
            return 0;
        }
        if ours {
            *wtf8_ptr = memory::malloc(needed + 1).cast();
            if (*wtf8_ptr).is_null() {
                return Errno::ENOMEM.code();
            }
        }
        write(units, slice::from_raw_parts_mut((*wtf8_ptr).cast(), room.min(needed) + 1));
        if room < needed { Errno::ENOBUFS.code() } else { 0 }
    }
}

/// How many units the text is in UTF-16, with a zero at the end. UV_EINVAL if it is not WTF-8.
///
/// # Safety
/// `wtf8` is null or a text with a zero at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_wtf8_length_as_utf16(wtf8: *const c_char) -> isize {
    if wtf8.is_null() {
        return Errno::EINVAL.code() as isize;
    }
    // SAFETY: not null, hence a text.
    let text = unsafe { CStr::from_ptr(wtf8) }.to_bytes();
    // Of no text are there more units than bytes.
    units_of(text).try_fold(1, |sum, units| Some(sum + units?.len() as isize)).unwrap_or(Errno::EINVAL.code() as isize)
}

/// Writes a text as UTF-16 with a zero at its end. `utf16_len` is what [`uv_wtf8_length_as_utf16`] says of it. Of a
/// text that is too long, or is not WTF-8 after all, only the beginning is written, and a zero if there is room.
///
/// # Safety
/// `wtf8` is null or a text with a zero at its end; `utf16` is null or points to `utf16_len` units.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_wtf8_to_utf16(wtf8: *const c_char, utf16: *mut u16, utf16_len: usize) {
    if wtf8.is_null() || utf16.is_null() {
        return;
    }
    // SAFETY: not null, hence a text.
    let text = unsafe { CStr::from_ptr(wtf8) }.to_bytes();
    let units = units_of(text).map_while(|units| units).flatten().chain([0]);
    for (place, unit) in units.take(utf16_len).enumerate() {
        // SAFETY: `place` is below `utf16_len`, and so many units there are.
        unsafe { utf16.add(place).write_unaligned(unit) };
    }
}

/// # Safety
/// As [`uv_utf16_length_as_wtf8`]; the units stay as they are for the lifetime that the caller chooses.
unsafe fn units<'a>(utf16: *const u16, len: isize) -> &'a [u16] {
    if utf16.is_null() {
        return &[];
    }
    // SAFETY: without a length there is a zero, and what is before it can be read.
    unsafe {
        let len = usize::try_from(len).unwrap_or_else(|_| (0..).take_while(|&nth| *utf16.add(nth) != 0).count());
        slice::from_raw_parts(utf16, len)
    }
}

/// The bytes of each character, and of each surrogate that has no partner.
fn bytes_of(units: &[u16]) -> impl Iterator<Item = Take<array::IntoIter<u8, 4>>> {
    decode_utf16(units.iter().copied()).map(|character| {
        let mut bytes = [0; 4];
        let length = match character {
            Ok(character) => character.encode_utf8(&mut bytes).len(),
            Err(alone) => {
                let unit = alone.unpaired_surrogate();
                let [first, second, third, _] = &mut bytes;
                *first = 0xe0 | (unit >> 12) as u8;
                *second = 0x80 | (unit >> 6 & 0x3f) as u8;
                *third = 0x80 | (unit & 0x3f) as u8;
                3
            }
        };
        bytes.into_iter().take(length)
    })
}

fn length(units: &[u16]) -> usize {
    bytes_of(units).map(|bytes| bytes.len()).sum()
}

/// Writes the first bytes of the units, and a zero in the last place. There are no more places than that needs.
fn write(units: &[u16], text: &mut [MaybeUninit<u8>]) {
    let Some((zero, places)) = text.split_last_mut() else { return };
    for (place, byte) in places.iter_mut().zip(bytes_of(units).flatten()) {
        place.write(byte);
    }
    zero.write(0);
}

/// The one or two units of each character, and `None` at its end for a text that is not WTF-8.
fn units_of(mut text: &[u8]) -> impl Iterator<Item = Option<Take<array::IntoIter<u16, 2>>>> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let Some((number, rest)) = decode(text) else {
            text = &[];
            return Some(None);
        };
        text = rest;
        let mut units = [number as u16, 0];
        let length = match char::from_u32(number) {
            Some(character) => character.encode_utf16(&mut units).len(),
            None => 1, // A surrogate.
        };
        Some(Some(units.into_iter().take(length)))
    })
}

/// The number of the first character, and what follows it.
fn decode(text: &[u8]) -> Option<(u32, &[u8])> {
    let (&first, rest) = text.split_first()?;
    let (length, bits) = match first {
        0x00..=0x7f => (0, 0x7f),
        0xc2..=0xdf => (1, 0x1f),
        0xe0..=0xef => (2, 0x0f),
        0xf0..=0xf4 => (3, 0x07),
        _ => return None,
    };
    let (more, rest) = rest.split_at_checked(length)?;
    let number = more.iter().try_fold(u32::from(first & bits), |number, &byte| {
        (byte & 0xc0 == 0x80).then_some(number << 6 | u32::from(byte & 0x3f))
    })?;
    (number <= char::MAX.into()).then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(units: &[u16]) -> Vec<u8> {
        bytes_of(units).flatten().collect()
    }

    fn decode_all(text: &[u8]) -> Option<Vec<u16>> {
        Some(units_of(text).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn assert_round_trip(units: &[u16]) {
        let text = encode(units);
        assert_eq!(length(units), text.len());
        assert_eq!(decode_all(&text).as_deref(), Some(units), "{units:x?} as {text:x?}");
        if let Ok(valid) = String::from_utf16(units) {
            assert_eq!(text, valid.as_bytes());
        }
    }

    #[test]
    fn every_sequence_of_units_comes_back() {
        for unit in 0..=u16::MAX {
            assert_round_trip(&[unit]);
        }
        // All sequences of up to four of the units at which something changes.
        let edges = [0, 1, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff];
        let mut sequences = vec![vec![]];
        for _ in 0..4 {
            sequences = sequences
                .iter()
                .flat_map(|sequence| edges.map(|unit| [&sequence[..], &[unit]].concat()))
                .inspect(|sequence| assert_round_trip(sequence))
                .collect();
        }
    }

    #[test]
    fn the_reader_takes_more_than_the_writer_writes() {
        assert_eq!(decode_all(b"\xed\xa0\x80\xed\xb0\x80"), Some(vec![0xd800, 0xdc00]));
        assert_eq!(decode_all(b"\xe0\x80\x80\xe0\x81\x81"), Some(vec![0, 0x41]));
        assert_eq!(decode_all(b"\xf0\x80\x80\x80\xf0\x8f\xbf\xbf"), Some(vec![0, 0xffff]));
    }

    #[test]
    fn what_is_not_wtf8_is_refused() {
        let texts: [&[u8]; 13] = [
            b"\x80",
            b"\xbf",
            b"\xc0\x80",
            b"\xc1\xbf",
            b"\xc2",
            b"\xc2A",
            b"\xe0\x80",
            b"\xe1\x80A",
            b"\xf0\x90\x80",
            b"\xf4\x90\x80\x80",
            b"\xf5\x80\x80\x80",
            b"\xff",
            b"fine\xc3",
        ];
        for text in texts {
            assert_eq!(decode_all(text), None, "{text:x?}");
        }
    }
}
