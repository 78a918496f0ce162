//! The memory that a write sends from.

use std::io::IoSlice;

/// One or more byte buffers in a row.
///
/// A write that the kernel does not take at once stays with the core, and its buffers with it, until the write's
/// event: an implementation owns the bytes, or answers for their staying valid. It gives the same bytes at every
/// call.
pub trait Buffers {
    /// The number of buffers.
    fn count(&self) -> usize;

    /// The buffer number `nth`, counted from 0.
    fn get(&self, nth: usize) -> &[u8];

    /// The number of bytes in all buffers, `None` when it overflows.
    fn total(&self) -> Option<usize> {
        (0..self.count()).try_fold(0_usize, |total, nth| total.checked_add(self.get(nth).len()))
    }

    /// All of them in the form in which the kernel takes them, if they lie so in memory.
    #[inline]
    fn slices(&self) -> Option<&[IoSlice<'_>]> {
        None
    }

    /// So many more bytes are sent, of a write that is kept. For a front that shows its user how far a write is.
    #[inline]
    fn note_sent(&self, _bytes: usize) {}
}

/// Whether the front is given back what was kept of its writes: not if there is nothing to drop of it.
pub(crate) const fn are_given_back<B: Buffers>() -> bool {
    std::mem::needs_drop::<B>()
}

/// Anything that holds bytes, as one buffer.
#[derive(Debug, Clone, Copy)]
pub struct One<T>(pub T);

impl<T: AsRef<[u8]>> Buffers for One<T> {
    #[inline]
    fn count(&self) -> usize {
        1
    }

    #[inline]
    fn get(&self, _nth: usize) -> &[u8] {
        self.0.as_ref()
    }
}

/// Several things that hold bytes, as one buffer each.
#[derive(Debug, Clone, Copy)]
pub struct Many<L>(pub L);

impl<T: AsRef<[u8]>> Buffers for Many<Vec<T>> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn get(&self, nth: usize) -> &[u8] {
        self.0[nth].as_ref()
    }
}

impl<T: AsRef<[u8]>> Buffers for Many<&[T]> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn get(&self, nth: usize) -> &[u8] {
        self.0[nth].as_ref()
    }
}

impl<B: Buffers + ?Sized> Buffers for &B {
    #[inline]
    fn count(&self) -> usize {
        (**self).count()
    }

    #[inline]
    fn slices(&self) -> Option<&[IoSlice<'_>]> {
        (**self).slices()
    }

    #[inline]
    fn note_sent(&self, bytes: usize) {
        (**self).note_sent(bytes);
    }

    #[inline]
    fn get(&self, nth: usize) -> &[u8] {
        (**self).get(nth)
    }
}

impl<B: Buffers + ?Sized> Buffers for Box<B> {
    fn count(&self) -> usize {
        (**self).count()
    }

    fn slices(&self) -> Option<&[IoSlice<'_>]> {
        (**self).slices()
    }

    fn note_sent(&self, bytes: usize) {
        (**self).note_sent(bytes);
    }

    fn get(&self, nth: usize) -> &[u8] {
        (**self).get(nth)
    }
}
