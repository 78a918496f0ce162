//! A vector whose elements keep their index, with reuse of the freed ones.

use std::ops::{Index, IndexMut};

use oxuv_os::{Errno, Result};

/// The state of one kind of handle: slots refer to it by index.
///
/// There are no generations here: the slot that owns an element has one, and frees the element with itself. A freed
/// element is a default one.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    elements: Vec<T>,
    /// The freed indices.
    free: Vec<u32>,
}

impl<T: Default> Slab<T> {
    pub(crate) fn new() -> Self {
        Slab { elements: Vec::new(), free: Vec::new() }
    }

    /// The number of elements in use.
    pub(crate) fn len(&self) -> usize {
        self.elements.len() - self.free.len()
    }

    /// One more than the highest index in use so far.
    #[inline]
    pub(crate) fn bound(&self) -> usize {
        self.elements.len()
    }

    /// Adds an element, without effect when memory is short.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> Result<u32> {
        // A new place is made first, so that the value need not be in memory for what is rare.
        let index = self.insert_default()?;
        self.elements[index as usize] = value;
        Ok(index)
    }

    /// As [`Slab::insert`], of a default element: a freed one is that already.
    #[inline]
    pub(crate) fn insert_default(&mut self) -> Result<u32> {
        match self.free.pop() {
            Some(index) => Ok(index),
            None => self.add(),
        }
    }

    #[cold]
    fn add(&mut self) -> Result<u32> {
        self.reserve()?;
        self.elements.push(T::default());
        Ok((self.elements.len() - 1) as u32)
    }

    /// Makes sure that the next [`Slab::insert`] needs no memory.
    #[inline]
    pub(crate) fn reserve(&mut self) -> Result<()> {
        if self.free.is_empty() { self.grow() } else { Ok(()) }
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        u32::try_from(self.elements.len()).map_err(|_| Errno::ENOMEM)?;
        // Room in the list of the freed as well: giving an element back must not need memory.
        self.free.try_reserve(self.elements.len() + 1)?;
        Ok(self.elements.try_reserve(1)?)
    }

    /// The element at an index, which may be a freed one.
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        self.elements.get(index as usize)
    }

    /// As [`Slab::get`].
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.elements.get_mut(index as usize)
    }

    /// All elements; the freed ones are default ones.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.elements.iter()
    }

    /// Takes an element out.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> T {
        self.free.push(index);
        std::mem::take(&mut self.elements[index as usize])
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.elements[index as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.elements[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;
    use std::collections::HashMap;

    #[test]
    fn agrees_with_a_map_under_random_operations() {
        let mut random = Random::new(7);
        let (mut slab, mut model) = (Slab::new(), HashMap::new());
        for step in 0..20_000_u32 {
            if random.below(5) < 3 {
                let index = slab.insert(step).unwrap();
                assert_eq!(model.insert(index, step), None, "index {index} was in use");
            } else if let Some(&index) = model.keys().nth(random.below(model.len().max(1))) {
                assert_eq!(Some(slab.remove(index)), model.remove(&index));
            }
            assert_eq!(slab.len(), model.len());
        }
        for (&index, &value) in &model {
            assert_eq!(slab[index], value);
        }
        assert!(slab.bound() <= 20_000);
    }

    #[test]
    fn freed_indices_are_reused_before_it_grows() {
        let mut slab = Slab::new();
        for i in 0..10 {
            slab.insert(i).unwrap();
        }
        slab.remove(3);
        slab.remove(8);
        assert_eq!(slab.insert(0), Ok(8));
        assert_eq!(slab.insert(0), Ok(3));
        assert_eq!(slab.insert(0), Ok(10));
    }

    #[test]
    fn a_freed_element_is_dropped_and_a_default_one_left() {
        let mut slab = Slab::new();
        let value = std::rc::Rc::new(1);
        slab.insert(Some(value.clone())).unwrap();
        drop(slab.remove(0));
        assert_eq!((std::rc::Rc::strong_count(&value), &slab[0]), (1, &None));
    }
}
