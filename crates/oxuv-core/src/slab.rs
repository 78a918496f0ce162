//! A vector whose elements keep their index, with reuse of the freed ones.

use std::ops::{Index, IndexMut};

use oxuv_os::Result;

/// The state of one kind of handle: slots refer to it by index.
///
/// There are no generations here: the slot that owns an element has one, and frees the element with itself.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    entries: Vec<Entry<T>>,
    /// The first free entry, or the length when there is none.
    free: u32,
    len: u32,
}

#[derive(Debug)]
enum Entry<T> {
    Free { next: u32 },
    Used(T),
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Slab { entries: Vec::new(), free: 0, len: 0 }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// One more than the highest index in use so far.
    pub(crate) fn bound(&self) -> usize {
        self.entries.len()
    }

    /// Adds an element, without effect when memory is short.
    pub(crate) fn insert(&mut self, value: T) -> Result<u32> {
        let index = self.free;
        if let Some(entry) = self.entries.get_mut(index as usize) {
            let Entry::Free { next } = *entry else { unreachable!("the free list holds free entries") };
            self.free = next;
            *entry = Entry::Used(value);
        } else {
            self.entries.try_reserve(1)?;
            self.entries.push(Entry::Used(value));
            self.free = index + 1;
        }
        self.len += 1;
        Ok(index)
    }

    /// Takes an element out.
    pub(crate) fn remove(&mut self, index: u32) -> T {
        let entry = std::mem::replace(&mut self.entries[index as usize], Entry::Free { next: self.free });
        let Entry::Used(value) = entry else { unreachable!("an element is removed once") };
        self.free = index;
        self.len -= 1;
        value
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: u32) -> &T {
        match &self.entries[index as usize] {
            Entry::Used(value) => value,
            Entry::Free { .. } => unreachable!("a slot refers to its own state"),
        }
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        match &mut self.entries[index as usize] {
            Entry::Used(value) => value,
            Entry::Free { .. } => unreachable!("a slot refers to its own state"),
        }
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
    #[should_panic(expected = "a slot refers to its own state")]
    fn a_freed_element_cannot_be_read() {
        let mut slab = Slab::new();
        slab.insert(1).unwrap();
        slab.remove(0);
        let _ = slab[0];
    }
}
