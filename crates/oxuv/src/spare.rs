//! Boxes that have been used, kept for the next values of their types.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};

/// A program that has the same done again and again allocates nothing for it: as many boxes of a type are kept as were in use at a time.
///
/// Each type has a shelf. If two have the same one, they throw out each other's boxes.
#[derive(Default)]
pub(crate) struct Spare([Shelf; SHELVES]);

#[derive(Default)]
struct Shelf {
    /// As a rule what is boxed next is of the type that was last unboxed.
    last: Cell<Option<Box<dyn Any>>>,
    others: RefCell<Vec<Box<dyn Any>>>,
}

const SHELVES: usize = 16;

/// No more than these and the last are kept on a shelf.
const MOST: usize = 1024;

impl Spare {
    /// A box of this type, with what was in it when it was kept, or a new one.
    #[inline]
    pub(crate) fn take<T: Default + 'static>(&self) -> Box<T> {
        let shelf = self.shelf::<T>();
        let spare = shelf.last.take().or_else(|| shelf.next());
        spare.and_then(|spare| spare.downcast().ok()).unwrap_or_default()
    }

    /// Keeps a box, in which nothing is any more that anybody would miss.
    #[inline]
    pub(crate) fn keep<T: 'static>(&self, used: Box<T>) {
        let shelf = self.shelf::<T>();
        if let Some(last) = shelf.last.replace(Some(used)) {
            shelf.put_aside(last);
        }
    }

    #[inline]
    fn shelf<T: 'static>(&self) -> &Shelf {
        let mut number = Number(0);
        TypeId::of::<T>().hash(&mut number);
        &self.0[number.0 as usize % SHELVES]
    }
}

impl Shelf {
    #[inline(never)]
    fn next(&self) -> Option<Box<dyn Any>> {
        self.others.borrow_mut().pop()
    }

    #[inline(never)]
    fn put_aside(&self, used: Box<dyn Any>) {
        let mut others = self.others.borrow_mut();
        if others.len() < MOST {
            others.push(used);
        }
    }
}

/// What a type's number is taken for: it is a hash already.
struct Number(u64);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_kept_as_were_in_use() {
        let spare = Spare::default();
        let places = || {
            let boxes: Vec<Box<u32>> = (0..100).map(|_| spare.take()).collect();
            let mut places: Vec<*const u32> = boxes.iter().map(|used| &raw const **used).collect();
            boxes.into_iter().for_each(|used| spare.keep(used));
            places.sort();
            places
        };
        assert_eq!(places(), places());
    }

    #[test]
    fn a_box_is_used_again_for_its_own_type_alone() {
        let spare = Spare::default();
        macro_rules! use_twice {
            ($($size:literal)*) => { $(
                spare.keep(Box::new([$size as u8; $size]));
                spare.keep(spare.take::<[u8; $size]>());
            )* };
        }
        // They are more than there are shelves.
        use_twice!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20);
        assert_eq!((*spare.take::<[u8; 20]>(), *spare.take::<[u8; 20]>()), ([20; 20], [0; 20]));
    }

    #[test]
    fn they_are_not_kept_without_end() {
        let spare = Spare::default();
        (0..2 * MOST as u64).for_each(|nth| spare.keep(Box::new(nth)));
        assert_eq!(spare.0.iter().map(|shelf| shelf.others.borrow().len()).sum::<usize>(), MOST);
    }
}
