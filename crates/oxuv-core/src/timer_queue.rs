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
        let wanted = &self.timers[timer];
        Entry { due: wanted.due(), start_id: wanted.start_id(), timer }
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

    /// Takes the first timer out of the heap if it is due at `time`.
    #[inline]
    pub(crate) fn pop_due(&mut self, time: u64) -> Option<u32> {
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
