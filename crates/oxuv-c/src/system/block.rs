//! What the program gets as an array, in one piece of memory with the texts that its elements point to.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use oxuv_core::{Errno, Result};

use crate::memory::{calloc, free};

/// An array under construction. It is freed unless [`Block::finish`] hands it out.
#[derive(Debug)]
pub(super) struct Block<T> {
    array: *mut T,
    length: usize,
    capacity: usize,
    /// Where the next text goes, and how many bytes there are for it.
    text: *mut c_char,
    room: usize,
}

impl<T: Copy> Block<T> {
    /// Memory for so many elements and so many bytes of texts, all of it zero.
    pub(super) fn new(capacity: usize, room: usize) -> Result<Block<T>> {
        // What is 8 bytes at most is aligned as `calloc` promises.
        const { assert!(align_of::<T>() <= 8) };
        let elements = capacity.checked_mul(size_of::<T>()).ok_or(Errno::ENOMEM)?;
        let size = elements.checked_add(room).ok_or(Errno::ENOMEM)?;
        let array: *mut T = calloc(1, size.max(1)).cast();
        if array.is_null() {
            return Err(Errno::ENOMEM);
        }
        Ok(Block { array, length: 0, capacity, text: array.wrapping_add(capacity).cast(), room })
    }

    /// The bytes that a text takes.
    pub(super) fn room_of(text: &[u8]) -> usize {
        text.len() + 1
    }

    /// Puts an element behind those that are there. ENOBUFS when more come than were counted before.
    pub(super) fn push(&mut self, element: T) -> Result<()> {
        if self.length == self.capacity {
            return Err(Errno::ENOBUFS);
        }
        // SAFETY: there is memory for `capacity` elements.
        unsafe { self.array.add(self.length).write(element) };
        self.length += 1;
        Ok(())
    }

    /// Copies a text behind those that are there, and a zero behind it. ENOBUFS when they are longer than was counted
    /// before.
    pub(super) fn text(&mut self, text: &[u8]) -> Result<*mut c_char> {
        let place = self.text;
        self.room = self.room.checked_sub(Self::room_of(text)).ok_or(Errno::ENOBUFS)?;
        // SAFETY: there was room for the text and a zero; the zero is there since `new`.
        unsafe { place.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
        self.text = place.wrapping_add(Self::room_of(text));
        Ok(place)
    }

    /// The array, which is the program's from now on.
    pub(super) fn finish(self) -> *mut T {
        let array = self.array;
        std::mem::forget(self);
        array
    }
}

impl<T> Drop for Block<T> {
    fn drop(&mut self) {
        // SAFETY: the memory is from `calloc`, and was not handed out.
        unsafe { free(self.array.cast()) }
    }
}

/// Hands an array and its length to the program; null and 0 on an error, and when there is nothing in it.
///
/// # Safety
/// `array` and `count` are places for them, or null, which is UV_EINVAL.
pub(super) unsafe fn hand_out<T: Copy>(
    make: impl FnOnce() -> Result<Block<T>>,
    array: *mut *mut T,
    count: *mut c_int,
) -> c_int {
    if array.is_null() || count.is_null() {
        return Errno::EINVAL.code();
    }
    let (code, elements, length) = match make() {
        Ok(block) if block.length == 0 => (0, null_mut(), 0),
        Ok(block) => match c_int::try_from(block.length) {
            Ok(length) => (0, block.finish(), length),
            Err(_) => (Errno::ENOMEM.code(), null_mut(), 0),
        },
        Err(error) => (error.code(), null_mut(), 0),
    };
    // SAFETY: the caller has places for both.
    unsafe {
        array.write(elements);
        count.write(length);
    }
    code
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn elements_and_texts_are_as_many_as_there_is_room_for() {
        let mut block = Block::<*mut c_char>::new(2, 6).unwrap();
        for text in [b"one".as_slice(), b"x"] {
            let text = block.text(text).unwrap();
            block.push(text).unwrap();
        }
        assert_eq!(block.text(b""), Err(Errno::ENOBUFS));
        assert_eq!(block.push(null_mut()), Err(Errno::ENOBUFS));
        let array = block.finish();
        // SAFETY: the array has the two texts, and is freed once.
        unsafe {
            assert_eq!(CStr::from_ptr(*array), c"one");
            assert_eq!(CStr::from_ptr(*array.add(1)), c"x");
            free(array.cast());
        }
    }

    #[test]
    fn too_much_is_an_error() {
        assert_eq!(Block::<u64>::new(usize::MAX / 4, 0).unwrap_err(), Errno::ENOMEM);
        assert_eq!(Block::<u64>::new(1, usize::MAX - 4).unwrap_err(), Errno::ENOMEM);
    }

    #[test]
    fn an_empty_array_and_an_error_are_null() {
        let (mut array, mut count) = (std::ptr::dangling_mut::<u64>(), 7);
        // SAFETY: both places are there.
        unsafe {
            assert_eq!(hand_out(|| Block::new(0, 0), &mut array, &mut count), 0);
            assert!(array.is_null() && count == 0);
            (array, count) = (std::ptr::dangling_mut(), 7);
            assert_eq!(hand_out(|| Err(Errno::EACCES), &mut array, &mut count), Errno::EACCES.code());
            assert!(array.is_null() && count == 0);
            assert_eq!(hand_out(|| Block::<u64>::new(0, 0), null_mut(), &mut count), Errno::EINVAL.code());
        }
    }
}
