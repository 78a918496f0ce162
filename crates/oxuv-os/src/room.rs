//! Memory that is read into.

use std::mem::MaybeUninit;

/// Memory of a caller's to be written, initialised or not. Whoever gets it can but put bytes into it, so what was initialised still is
/// when it is given back.
#[derive(Debug)]
pub struct Room<'a>(&'a mut [MaybeUninit<u8>]);

impl<'a> Room<'a> {
    /// So much fits in.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if nothing fits in.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The beginning of it, with room for `most` at most.
    #[inline]
    pub fn first(self, most: usize) -> Room<'a> {
        let most = most.min(self.0.len());
        Room(&mut self.0[..most])
    }

    /// Puts as much of `bytes` into it as fits.
    pub fn fill(self, bytes: &[u8]) -> &'a mut [u8] {
        let count = bytes.len().min(self.0.len());
        self.0[..count].write_copy_of_slice(&bytes[..count])
    }

    /// The memory, for a system call that writes to it.
    #[inline]
    pub(crate) fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        self.0
    }

    /// What was written.
    ///
    /// # Safety
    /// The first `count` bytes were.
    #[inline]
    pub(crate) unsafe fn filled(self, count: usize) -> &'a mut [u8] {
        let (filled, _) = self.0.split_at_mut(count);
        // SAFETY: the caller says so.
        unsafe { filled.assume_init_mut() }
    }
}

impl<'a> From<&'a mut [MaybeUninit<u8>]> for Room<'a> {
    #[inline]
    fn from(memory: &'a mut [MaybeUninit<u8>]) -> Room<'a> {
        Room(memory)
    }
}

impl<'a> From<&'a mut [u8]> for Room<'a> {
    #[inline]
    fn from(bytes: &'a mut [u8]) -> Room<'a> {
        let memory = std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>];
        // SAFETY: it is the same memory, borrowed for as long, by a type of the same layout. Only bytes are written to it: `fill` and
        // the system calls of this crate, which alone see it, write nothing else.
        Room(unsafe { &mut *memory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_both_kinds_takes_what_fits() {
        let mut bytes = *b"------";
        assert_eq!(Room::from(&mut bytes[..]).first(4).fill(b"abcdef"), b"abcd");
        assert_eq!(&bytes, b"abcd--");
        let mut memory = [MaybeUninit::uninit(); 2];
        let room = Room::from(&mut memory[..]);
        assert!(room.len() == 2 && !room.is_empty());
        assert_eq!(room.fill(b"x"), b"x");
        assert!(Room::from(&mut bytes[..0]).is_empty());
    }
}
