//! Where the program wants a text: its buffer, and the place that says how large that is and hears how much it has got.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use oxuv_core::{Errno, Result};

/// Room for a text, not empty.
#[derive(Debug)]
pub(crate) struct Room {
    buffer: *mut c_char,
    size: *mut usize,
}

impl Room {
    /// UV_EINVAL when either is null, or the size 0.
    ///
    /// # Safety
    /// `buffer` points to `*size` bytes, which nothing else uses as long as the room is there; or one of them is null.
    pub(crate) unsafe fn new(buffer: *mut c_char, size: *mut usize) -> Result<Room> {
        // SAFETY: a size that is not null can be read.
        if buffer.is_null() || size.is_null() || unsafe { *size } == 0 {
            return Err(Errno::EINVAL);
        }
        Ok(Room { buffer, size })
    }

    /// The buffer, to be written to. Where less than all of it is used, [`Room::end`] says where that ends.
    pub(super) fn bytes(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: the buffer has so many bytes, and is ours.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.cast(), *self.size) }
    }

    /// Ends the text in the buffer after `length` bytes, or where the buffer ends: zero behind it, and the size is its
    /// length.
    pub(super) fn end(mut self, length: usize) {
        let bytes = self.bytes();
        let length = length.min(bytes.len() - 1);
        bytes[length] = MaybeUninit::new(0);
        // SAFETY: the place of the size was read before.
        unsafe { *self.size = length }
    }

    /// Says how much it takes for a text of this length and a zero. UV_ENOBUFS.
    pub(super) fn too_small_for(self, length: usize) -> Errno {
        // SAFETY: the place of the size was read before.
        unsafe { *self.size = length + 1 }
        Errno::ENOBUFS
    }

    /// Writes a text. UV_ENOBUFS when it is too long; the size then is what it takes.
    pub(crate) fn fill(mut self, text: &[u8]) -> Result<()> {
        match self.bytes().get_mut(..text.len() + 1) {
            Some(place) => {
                place[..text.len()].write_copy_of_slice(text);
                self.end(text.len());
                Ok(())
            }
            None => Err(self.too_small_for(text.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;

    fn fill(buffer: &mut [u8], size: &mut usize, text: &[u8]) -> Result<()> {
        assert!(*size <= buffer.len());
        // SAFETY: the buffer has these bytes.
        unsafe { Room::new(buffer.as_mut_ptr().cast(), size) }?.fill(text)
    }

    #[test]
    fn the_size_is_the_length_or_what_it_takes() {
        let (mut buffer, mut size) = ([b'x'; 8], 4);
        assert_eq!(fill(&mut buffer, &mut size, b"abc"), Ok(()));
        assert_eq!((size, &buffer), (3, b"abc\0xxxx"));
        assert_eq!(fill(&mut buffer, &mut size, b"abc"), Err(Errno::ENOBUFS));
        assert_eq!((size, &buffer), (4, b"abc\0xxxx"));
        size = 1;
        assert_eq!(fill(&mut buffer, &mut size, b""), Ok(()));
        assert_eq!((size, &buffer), (0, b"\0bc\0xxxx"));
    }

    #[test]
    fn no_room_is_an_error() {
        let (mut buffer, mut size) = ([b'x'; 8], 0);
        assert_eq!(fill(&mut buffer, &mut size, b""), Err(Errno::EINVAL));
        // SAFETY: one of them is null.
        unsafe {
            assert_eq!(Room::new(null_mut(), &mut size).unwrap_err(), Errno::EINVAL);
            assert_eq!(Room::new(buffer.as_mut_ptr().cast(), null_mut()).unwrap_err(), Errno::EINVAL);
        }
    }
}
