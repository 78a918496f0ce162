//! Timers in the order in which they are due.

use oxuv_os::Result;

use crate::heap::{Entry, Heap};
use crate::slab::Slab;

/// What stands in a [`TimerQueue`].
pub(crate) trait Queued: Default {
    /// Nanoseconds of the loop's clock.
    fn due(&self) -> u64;
    /// With that, the place in the order that it wants; its entry in the heap may still be an earlier one.
    fn start_id(&self) -> u32;
}

/// Taking out all timers that are due at a time.
#[derive(Debug)]
pub(crate) struct Pass {
    time: u64,
    /// When so many more have been taken out, it is looked whether the others are better sorted.
    countdown: usize,
}

#[inline]
fn entry_of<T: Queued>(timers: &Slab<T>, timer: u32) -> Entry {
    let wanted = &timers[timer];
    Entry { due: wanted.due(), start_id: wanted.start_id(), timer }
}

/// Timers, those that run in a heap. One that is put off keeps its entry there, which is put right when it comes to the front and
/// somebody asks: a timer that is put off again and again costs next to nothing.
#[derive(Debug)]
pub(crate) struct TimerQueue<T> {
    pub(crate) timers: Slab<T>,
    pub(crate) heap: Heap,
    next_start_id: u32,
}

impl<T: Queued> Default for TimerQueue<T> {
    fn default() -> Self {
        TimerQueue { timers: Slab::new(), heap: Heap::default(), next_start_id: 0 }
    }
}

impl<T: Queued> TimerQueue<T> {
    /// Adds a timer that does not run.
    #[inline]
    pub(crate) fn insert(&mut self, timer: T) -> Result<u32> {
        let timer = self.timers.insert(timer)?;
        if let Err(error) = self.heap.reserve(self.timers.bound()) {
            self.timers.remove(timer);
            return Err(error);
        }
        Ok(timer)
    }

    /// The number of the next start.
    #[inline]
    pub(crate) fn count_start(&mut self) -> u32 {
        let start_id = self.next_start_id;
        self.next_start_id = start_id.wrapping_add(1);
        start_id
    }

    /// The entry that a timer should have.
    #[inline]
    pub(crate) fn entry(&self, timer: u32) -> Entry {
        entry_of(&self.timers, timer)
    }

    /// The first timer's entry.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<Entry> {
        let &first = self.heap.first()?;
        if self.entry(first.timer) == first { Some(first) } else { self.put_first_right() }
    }

    #[inline(never)]
    fn put_first_right(&mut self) -> Option<Entry> {
        while let Some(first) = self.heap.first() {
            let wanted = self.entry(first.timer);
            if wanted == *first {
                return Some(wanted);
            }
            self.heap.change(wanted);
        }
        None
    }

    /// Begins to take out all that are due. Nothing else is done to this before the end of it.
    #[inline]
    pub(crate) fn begin_pass(&self, time: u64) -> Pass {
        // To look at all of them costs little beside what so many cost.
        Pass { time, countdown: 1 + self.heap.len() / 32 }
    }

    /// Takes the first timer out of the heap if it is due.
    #[inline]
    pub(crate) fn next_due(&mut self, pass: &mut Pass) -> Option<u32> {
        if let Some(timer) = self.heap.pop_sorted() {
            return Some(timer);
        }
        if pass.countdown == 0 && self.heap.first().is_some_and(|first| first.due <= pass.time) {
            let TimerQueue { timers, heap, next_start_id } = self;
            heap.sort_due(pass.time, *next_start_id, |timer| entry_of(timers, timer));
            if let Some(timer) = heap.pop_sorted() {
                return Some(timer);
            }
        }
        // Once is enough: it is zero but once.
        pass.countdown = pass.countdown.wrapping_sub(1);
        self.pop_due(pass.time)
    }

    #[inline]
    fn pop_due(&mut self, time: u64) -> Option<u32> {
        // An entry that is too old is too early, too: where it says that nothing is due, nothing is.
        while let Some(first) = self.heap.first().filter(|first| first.due <= time) {
            let wanted = self.entry(first.timer);
            if wanted == *first {
                self.heap.remove(wanted.timer);
                return Some(wanted.timer);
            }
            self.heap.change(wanted);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[derive(Debug, Default, Clone, Copy)]
    struct Timer {
        due: u64,
        start_id: u32,
    }

    impl Queued for Timer {
        fn due(&self) -> u64 {
            self.due
        }

        fn start_id(&self) -> u32 {
            self.start_id
        }
    }

    fn start(queue: &mut TimerQueue<Timer>, timer: u32, due: u64) {
        let start_id = queue.count_start();
        let was_due = std::mem::replace(&mut queue.timers[timer], Timer { due, start_id }).due;
        if !queue.heap.contains(timer) {
            queue.heap.insert(queue.entry(timer));
        } else if due < was_due {
            queue.heap.change(queue.entry(timer));
        }
    }

    /// Some, half and all of many timers are due, among them such as were put off; the start ids wrap meanwhile.
    #[test]
    fn a_pass_takes_all_who_are_due_in_their_order_and_leaves_the_others() {
        for (count, seed) in [(1, 1), (2, 2), (5, 3), (40, 4), (300, 5), (2000, 6)] {
            let mut random = Random::new(seed);
            let mut queue = TimerQueue { next_start_id: u32::MAX - 3 * count / 2, ..TimerQueue::default() };
            let timers: Vec<u32> = (0..count).map(|_| queue.insert(Timer::default()).unwrap()).collect();
            for _ in 0..20 {
                for &timer in &timers {
                    start(&mut queue, timer, 100 + random.below(100) as u64);
                    if random.below(3) == 0 {
                        start(&mut queue, timer, 100 + random.below(1000) as u64);
                    }
                }
                let mut expected: Vec<u32> = timers.clone();
                let next = queue.next_start_id;
                expected
                    .sort_by_key(|&timer| (queue.timers[timer].due, queue.timers[timer].start_id.wrapping_sub(next)));
                for time in [99, 101, 110, 150, 150, 180, 500, 2000] {
                    let mut pass = queue.begin_pass(time);
                    let taken: Vec<u32> = std::iter::from_fn(|| queue.next_due(&mut pass)).collect();
                    let left = expected.split_off(expected.partition_point(|&timer| queue.timers[timer].due <= time));
                    assert_eq!(taken, expected, "{count} timers at {time}");
                    expected = left;
                    assert_eq!(queue.heap.len(), expected.len());
                    assert!(taken.iter().all(|&timer| !queue.heap.contains(timer)));
                    assert!(expected.iter().all(|&timer| queue.heap.contains(timer)));
                    assert_eq!(queue.first().map(|first| first.timer), expected.first().copied());
                }
            }
        }
    }
}
