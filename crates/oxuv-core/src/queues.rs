//! Queues that share their memory: of many streams hardly any has something queued, and an empty queue is two numbers.

use oxuv_os::{Errno, Result};

/// One of the queues. What is in it is in [`Queues`].
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The node of the last element, whose next one is the first; of an empty queue any number.
    last: u32,
    len: u32,
}

impl Queue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }
}

#[derive(Debug)]
struct Node<T> {
    next: u32,
    element: Option<T>,
}

/// The elements of all queues of a kind.
#[derive(Debug)]
pub(crate) struct Queues<T> {
    nodes: Vec<Node<T>>,
    /// The first free node, which leads to the others, or [`NONE`].
    free: u32,
}

const NONE: u32 = u32::MAX;

impl<T> Default for Queues<T> {
    fn default() -> Self {
        Queues { nodes: Vec::new(), free: NONE }
    }
}

impl<T> Queues<T> {
    /// True if one more element can be put into a queue without memory.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.free != NONE
    }

    /// Makes sure of that.
    #[inline]
    pub(crate) fn reserve(&mut self) -> Result<()> {
        if self.has_room() { Ok(()) } else { self.grow() }
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        let index = u32::try_from(self.nodes.len()).ok().filter(|&index| index != NONE).ok_or(Errno::ENOMEM)?;
        self.nodes.try_reserve(1)?;
        self.nodes.push(Node { next: NONE, element: None });
        self.free = index;
        Ok(())
    }

    /// Appends an element. [`Queues::reserve`] goes before.
    #[inline(always)] // Mostly little of an element is to be written.
    pub(crate) fn push_back(&mut self, queue: &mut Queue, element: T) {
        let (index, element) = (self.free, Some(element));
        if let Some(node) = self.nodes.get_mut(index as usize) {
            self.free = node.next;
            node.element = element;
            self.link(queue, index);
        } else {
            self.nodes.push(Node { next: NONE, element });
            self.link(queue, (self.nodes.len() - 1) as u32);
        }
    }

    /// Takes out the first element.
    #[inline(always)] // As to be looked at.
    pub(crate) fn pop_front(&mut self, queue: &mut Queue) -> Option<T> {
        if queue.is_empty() {
            return None;
        }
        let index = self.unlink_after(queue, queue.last);
        let node = &mut self.nodes[index as usize];
        node.next = std::mem::replace(&mut self.free, index);
        node.element.take()
    }

    pub(crate) fn front(&self, queue: &Queue) -> Option<&T> {
        if queue.is_empty() {
            return None;
        }
        self.nodes[self.nodes[queue.last as usize].next as usize].element.as_ref()
    }

    pub(crate) fn front_mut(&mut self, queue: &Queue) -> Option<&mut T> {
        if queue.is_empty() {
            return None;
        }
        let first = self.nodes[queue.last as usize].next;
        self.nodes[first as usize].element.as_mut()
    }

    /// Moves the first element from one queue to the end of another, where it is.
    pub(crate) fn move_front(&mut self, from: &mut Queue, to: &mut Queue) -> Option<&mut T> {
        self.move_first(from, to, |_| true)
    }

    /// As [`Queues::move_front`], of the first element that `is` says is meant.
    pub(crate) fn move_first(
        &mut self,
        from: &mut Queue,
        to: &mut Queue,
        mut is: impl FnMut(&T) -> bool,
    ) -> Option<&mut T> {
        let mut before = from.last;
        for _ in 0..from.len {
            let index = self.nodes[before as usize].next;
            if self.nodes[index as usize].element.as_ref().is_some_and(&mut is) {
                self.unlink_after(from, before);
                self.link(to, index);
                return self.nodes[index as usize].element.as_mut();
            }
            before = index;
        }
        None
    }

    #[inline]
    fn link(&mut self, queue: &mut Queue, index: u32) {
        let first = match queue.len {
            0 => index,
            _ => std::mem::replace(&mut self.nodes[queue.last as usize].next, index),
        };
        self.nodes[index as usize].next = first;
        queue.last = index;
        queue.len += 1;
    }

    /// Takes out the node behind this one, both of a queue that is not empty.
    #[inline]
    fn unlink_after(&mut self, queue: &mut Queue, before: u32) -> u32 {
        let index = self.nodes[before as usize].next;
        self.nodes[before as usize].next = self.nodes[index as usize].next;
        if queue.last == index {
            queue.last = before;
        }
        queue.len -= 1;
        index
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::testing::Random;

    #[test]
    fn agree_with_queues_of_their_own_under_random_operations() {
        let mut random = Random::new(3);
        let mut queues = Queues::default();
        let mut all = [(); 4].map(|()| (Queue::default(), VecDeque::new()));
        for step in 0..20_000_u32 {
            let (from, to) = (random.below(4), random.below(4));
            let (queue, model) = &mut all[from];
            match random.below(4) {
                0 | 1 => {
                    queues.reserve().unwrap();
                    queues.push_back(queue, step);
                    model.push_back(step);
                }
                2 => assert_eq!(queues.pop_front(queue), model.pop_front()),
                _ if from == to => {}
                _ => {
                    let [(from, from_model), (to, to_model)] = all.get_disjoint_mut([from, to]).unwrap();
                    let is = |element: &u32| element.is_multiple_of(3);
                    let moved = queues.move_first(from, to, is).copied();
                    let place = from_model.iter().position(is);
                    assert_eq!(moved, place.and_then(|place| from_model.remove(place)));
                    to_model.extend(moved);
                }
            }
            for (queue, model) in &all {
                assert_eq!((queue.len(), queue.is_empty()), (model.len(), model.is_empty()));
                assert_eq!(queues.front(queue), model.front());
            }
        }
        let most = queues.nodes.len();
        for (queue, model) in &mut all {
            while let Some(element) = queues.pop_front(queue) {
                assert_eq!(Some(element), model.pop_front());
            }
            assert!(model.is_empty());
        }
        (0..most as u32).for_each(|element| queues.push_back(&mut all[0].0, element));
        assert_eq!(queues.nodes.len(), most, "a free node was not used again");
    }

    #[test]
    fn an_element_that_is_taken_out_is_dropped_by_whoever_takes_it() {
        let (mut queues, mut queue) = (Queues::default(), Queue::default());
        let value = std::rc::Rc::new(());
        queues.push_back(&mut queue, value.clone());
        drop(queues.pop_front(&mut queue));
        assert_eq!(std::rc::Rc::strong_count(&value), 1);
    }
}
