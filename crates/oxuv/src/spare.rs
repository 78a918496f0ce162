//! Boxes that have been used, kept for the next values of their types.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};

/// As a rule what is boxed next is of the type that was last unboxed, and else of one of a few: a program that has the same done again and
/// again allocates nothing for it.
#[derive(Default)]
pub(crate) struct Spare {
    last: Cell<Option<Box<dyn Any>>>,
    /// The others, by their types.
    others: RefCell<Vec<OfType>>,
}

type OfType = (TypeId, Vec<Box<dyn Any>>);

/// So many types are known at a time.
const TYPES: usize = 8;

/// So many boxes of a type are kept.
const BOXES: usize = 1024;

impl Spare {
    /// A box of this type, as it was when it was kept.
    #[inline]
    pub(crate) fn take<T: 'static>(&self) -> Option<Box<T>> {
        match self.last.take().map(|last| last.downcast::<T>()) {
            Some(Ok(last)) => Some(last),
            other => self.find(TypeId::of::<T>(), other.and_then(Result::err))?.downcast().ok(),
        }
    }

    /// Boxes a value.
    #[inline]
    pub(crate) fn fill<T: 'static>(&self, value: T) -> Box<T> {
        match self.take() {
            Some(mut spare) => {
                *spare = value;
                spare
            }
            None => Box::new(value),
        }
    }

    /// Keeps a box, in which nothing is any more that anybody would miss.
    #[inline]
    pub(crate) fn keep(&self, used: Box<dyn Any>) {
        if let Some(before) = self.last.replace(Some(used)) {
            self.put_aside(before);
        }
    }

    /// One of this type, if there is one, for the last that is of another.
    #[inline(never)]
    fn find(&self, kind: TypeId, other: Option<Box<dyn Any>>) -> Option<Box<dyn Any>> {
        if let Some(other) = other {
            self.put_aside(other);
        }
        let mut others = self.others.borrow_mut();
        let (_, boxes) = others.iter_mut().find(|(known, _)| *known == kind)?;
        boxes.pop()
    }

    #[inline(never)]
    fn put_aside(&self, used: Box<dyn Any>) {
        let kind = (*used).type_id();
        let mut others = self.others.borrow_mut();
        match others.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, boxes)) if boxes.len() < BOXES => boxes.push(used),
            Some(_) => {}
            None => {
                if others.len() == TYPES {
                    // Whatever came first may be over, and comes back else.
                    others.remove(0);
                }
                others.push((kind, vec![used]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<T>(of: &T) -> *const T {
        of
    }

    #[test]
    fn a_box_is_used_again_for_its_own_type_alone() {
        let spare = Spare::default();
        let first = spare.fill(Some(1_u64));
        let at = place(&*first);
        spare.keep(first);
        let other = spare.fill([3_u8; 64]);
        assert_eq!(*other, [3; 64]);
        spare.keep(other);
        let again = spare.fill(Some(2_u64));
        assert_eq!((place(&*again), *again), (at, Some(2)));
    }

    #[test]
    fn as_many_are_kept_as_were_in_use() {
        let spare = Spare::default();
        let boxes: Vec<Box<u32>> = (0..100).map(|nth| spare.fill(nth)).collect();
        let mut places: Vec<_> = boxes.iter().map(|used| place(&**used)).collect();
        boxes.into_iter().for_each(|used| spare.keep(used));
        let again: Vec<Box<u32>> = (0..100).map(|nth| spare.fill(nth)).collect();
        let mut places_again: Vec<_> = again.iter().map(|used| place(&**used)).collect();
        places.sort();
        places_again.sort();
        assert_eq!(places, places_again);
    }

    #[test]
    fn neither_types_nor_boxes_are_kept_without_end() {
        let spare = Spare::default();
        for _ in 0..2 * BOXES {
            spare.keep(Box::new(0_u64));
        }
        macro_rules! keep {
            ($($size:literal)*) => { $(spare.keep(Box::new([0_u8; $size]));)* };
        }
        keep!(1 2 3 4);
        assert_eq!(spare.others.borrow().iter().map(|(_, boxes)| boxes.len()).max(), Some(BOXES));
        keep!(5 6 7 8 9 10 11 12);
        assert_eq!(spare.others.borrow().len(), TYPES);
    }
}
