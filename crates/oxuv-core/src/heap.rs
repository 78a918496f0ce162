//! The timer heap: a 4-ary heap with its keys inline and the positions beside it.
//!
//! An entry may be older than what its timer wants by now: a timer that is put off keeps its entry, which is put right
//! when it comes to the front and somebody asks; [`TimerQueue`](crate::timer_queue::TimerQueue) sees to that.

use std::cmp::Reverse;

use oxuv_os::Result;

/// When a timer is due, and who comes first among those due at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Nanoseconds of the loop's clock.
    pub(crate) due: u64,
    /// Counts up with every start, and may wrap.
    pub(crate) start_id: u32,
    /// The timer.
    pub(crate) timer: u32,
}

impl Entry {
    #[inline]
    fn is_before(&self, other: &Entry) -> bool {
        if self.due != other.due {
            return self.due < other.due;
        }
        // Start ids wrap: the earlier is the one from which the other lies less than half the circle ahead.
        (self.start_id.wrapping_sub(other.start_id) as i32) < 0
    }

    /// The place in the order as a number, if the next start has this one.
    #[inline]
    fn rank(&self, next_start_id: u32) -> u128 {
        u128::from(self.due) << 32 | u128::from(self.start_id.wrapping_sub(next_start_id))
    }
}

const CHILDREN: usize = 4;
const ABSENT: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Heap {
    entries: Vec<Entry>,
    /// For each timer its place in `entries`, or [`ABSENT`]. Apart from the timers themselves, so that moving an entry
    /// touches nothing but this and the entries.
    positions: Vec<u32>,
    /// So many at the end of `entries` are in the heap no more: taken out together, the first of them last.
    sorted: usize,
}

impl Heap {
    /// Makes sure that timers with numbers below `bound` can be inserted without memory.
    pub(crate) fn reserve(&mut self, bound: usize) -> Result<()> {
        if self.positions.len() < bound {
            self.positions.try_reserve(bound - self.positions.len())?;
            self.positions.resize(bound, ABSENT);
        }
        self.entries.try_reserve(bound - self.entries.len())?;
        Ok(())
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Entry> {
        self.entries.first()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.sorted
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(crate) fn contains(&self, timer: u32) -> bool {
        self.positions.get(timer as usize).is_some_and(|&place| place != ABSENT)
    }

    /// Adds an entry. The timer has none yet, and [`Heap::reserve`] went before.
    #[inline]
    pub(crate) fn insert(&mut self, entry: Entry) {
        debug_assert_eq!(self.positions[entry.timer as usize], ABSENT);
        debug_assert_eq!(self.sorted, 0);
        self.entries.push(entry);
        self.rise(self.entries.len() - 1, entry);
    }

    /// Gives the timer's entry another key.
    #[inline]
    pub(crate) fn change(&mut self, entry: Entry) {
        let place = self.positions[entry.timer as usize];
        debug_assert_ne!(place, ABSENT);
        self.place(place as usize, entry);
    }

    /// Takes out the entry of a timer, if it has one.
    #[inline]
    pub(crate) fn remove(&mut self, timer: u32) {
        let place = self.positions[timer as usize];
        if place == ABSENT {
            return;
        }
        debug_assert_eq!(self.sorted, 0);
        self.positions[timer as usize] = ABSENT;
        let Some(last) = self.entries.pop() else { return };
        if place as usize == self.entries.len() {
            return;
        }
        // The last entry fills the hole, and goes from there to where it belongs.
        self.place(place as usize, last);
    }

    /// Takes out all that are due at `time`, for [`Heap::pop_sorted`], if they are a good part of all: to sort them costs less than to
    /// take out one after the other, and the rest is made a heap anew. Until all of them are popped, nothing else is done to this.
    ///
    /// `wanted` tells what entry a timer should have.
    #[inline(never)]
    pub(crate) fn sort_due(&mut self, time: u64, next_start_id: u32, wanted: impl Fn(u32) -> Entry) {
        let due = self.entries.iter().filter(|entry| entry.due <= time).count();
        if due < self.entries.len() / 8 {
            return;
        }
        let mut left = 0;
        for at in 0..self.entries.len() {
            let mut entry = self.entries[at];
            if entry.due <= time {
                entry = wanted(entry.timer);
                self.entries[at] = entry;
            }
            if entry.due > time {
                self.entries.swap(left, at);
                left += 1;
            }
        }
        let (left, sorted) = self.entries.split_at_mut(left);
        sorted.sort_unstable_by_key(|entry| Reverse(entry.rank(next_start_id)));
        sorted.iter().for_each(|entry| self.positions[entry.timer as usize] = ABSENT);
        left.iter().zip(0..).for_each(|(entry, place)| self.positions[entry.timer as usize] = place);
        self.sorted = sorted.len();
        for place in (0..left.len().div_ceil(CHILDREN)).rev() {
            sink(left, &mut self.positions, place, left[place]);
        }
    }

    /// The next of those that [`Heap::sort_due`] has taken out: its timer.
    #[inline]
    pub(crate) fn pop_sorted(&mut self) -> Option<u32> {
        self.sorted = self.sorted.checked_sub(1)?;
        self.entries.pop().map(|entry| entry.timer)
    }

    /// Puts `entry` at `place`, above it or below it.
    fn place(&mut self, place: usize, entry: Entry) {
        if place > 0 && entry.is_before(&self.entries[(place - 1) / CHILDREN]) {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    /// Puts `entry` at `place` or above it.
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if !entry.is_before(&self.entries[parent]) {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Puts `entry` at `place` or below it.
    fn sink(&mut self, place: usize, entry: Entry) {
        sink(&mut self.entries, &mut self.positions, place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        put(&mut self.entries, &mut self.positions, place, entry);
    }
}

/// As [`Heap::sink`], in these entries.
#[inline]
fn sink(entries: &mut [Entry], positions: &mut [u32], mut place: usize, entry: Entry) {
    loop {
        let first = place * CHILDREN + 1;
        let children = entries.get(first..).unwrap_or_default();
        let mut least: Option<(usize, Entry)> = None;
        for (nth, child) in children.iter().take(CHILDREN).enumerate() {
            if least.is_none_or(|(_, so_far)| child.is_before(&so_far)) {
                least = Some((first + nth, *child));
            }
        }
        match least {
            Some((child, least)) if least.is_before(&entry) => {
                put(entries, positions, place, least);
                place = child;
            }
            _ => break,
        }
    }
    put(entries, positions, place, entry);
}

#[inline]
fn put(entries: &mut [Entry], positions: &mut [u32], place: usize, entry: Entry) {
    entries[place] = entry;
    positions[entry.timer as usize] = place as u32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    const TIMERS: u32 = 300;

    /// Takes the first entry out if it is due at `time`.
    fn pop_due(heap: &mut Heap, time: u64) -> Option<Entry> {
        let first = *heap.first().filter(|first| first.due <= time)?;
        heap.remove(first.timer);
        Some(first)
    }

    #[test]
    fn agrees_with_a_sorted_list_under_random_operations() {
        let mut random = Random::new(11);
        let (mut heap, mut model) = (Heap::default(), Vec::<Entry>::new());
        heap.reserve(TIMERS as usize).unwrap();
        let mut start_id = 0;
        for _ in 0..50_000 {
            let timer = random.below(TIMERS as usize) as u32;
            match random.below(4) {
                0 if model.iter().all(|entry| entry.timer != timer) => {
                    start_id += 1;
                    let entry = Entry { due: random.below(50) as u64, start_id, timer };
                    heap.insert(entry);
                    model.push(entry);
                }
                1 => {
                    heap.remove(timer);
                    model.retain(|entry| entry.timer != timer);
                }
                2 => {
                    if let Some(old) = model.iter_mut().find(|entry| entry.timer == timer) {
                        start_id += 1;
                        *old = Entry { due: random.below(50) as u64, start_id, timer };
                        heap.change(*old);
                    }
                }
                _ => {
                    let time = random.below(20) as u64;
                    let first = model.iter().copied().min_by_key(|entry| (entry.due, entry.start_id));
                    assert_eq!(heap.first().copied(), first);
                    let due = first.filter(|first| first.due <= time);
                    assert_eq!(pop_due(&mut heap, time), due);
                    model.retain(|entry| Some(*entry) != due);
                }
            }
        }
        assert!(start_id > 1000);
    }

    #[test]
    fn equal_times_come_in_the_order_of_their_start_also_when_the_ids_wrap() {
        let mut heap = Heap::default();
        heap.reserve(4).unwrap();
        for (timer, start_id) in [u32::MAX - 1, u32::MAX, 0, 1].into_iter().enumerate() {
            heap.insert(Entry { due: 5, start_id, timer: timer as u32 });
        }
        let order: Vec<u32> = std::iter::from_fn(|| pop_due(&mut heap, 5)).map(|entry| entry.timer).collect();
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn removing_an_absent_timer_changes_nothing() {
        let mut heap = Heap::default();
        heap.reserve(2).unwrap();
        heap.insert(Entry { due: 1, start_id: 0, timer: 0 });
        heap.remove(1);
        assert_eq!(pop_due(&mut heap, 0), None);
        assert_eq!(pop_due(&mut heap, 1).map(|entry| entry.timer), Some(0));
        heap.remove(0);
        assert_eq!(heap.first(), None);
    }
}
