//! A box that has been used, kept for the next value of its type.

use std::any::Any;
use std::cell::Cell;

/// As a rule what is boxed next is of the type that was last unboxed: a program that has the same done again and again allocates
/// nothing for it.
#[derive(Default)]
pub(crate) struct Spare(Cell<Option<Box<dyn Any>>>);

impl Spare {
    /// Boxes a value.
    #[inline]
    pub(crate) fn fill<T: 'static>(&self, value: T) -> Box<T> {
        match self.0.take().map(|spare| spare.downcast::<T>()) {
            Some(Ok(mut spare)) => {
                *spare = value;
                spare
            }
            _ => Box::new(value),
        }
    }

    /// Keeps a box, in which nothing is any more that anybody would miss.
    #[inline]
    pub(crate) fn keep(&self, used: Box<dyn Any>) {
        self.0.set(Some(used));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_used_again_for_its_own_type_alone() {
        let spare = Spare::default();
        let first = spare.fill(Some(1_u64));
        let place = std::ptr::from_ref(&*first);
        spare.keep(first);
        let again = spare.fill(Some(2_u64));
        assert_eq!((std::ptr::from_ref(&*again), *again), (place, Some(2)));
        spare.keep(again);
        assert_eq!(*spare.fill([3_u8; 64]), [3; 64]);
        assert!(spare.0.take().is_none());
    }
}
