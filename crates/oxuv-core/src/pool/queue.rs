//! The jobs that wait for a thread, lane by lane.

use oxuv_os::{Errno, Result};

/// What a job waits for, and with whom it shares the threads.
///
/// Threads take the job that has waited longest, whatever its lane, as libuv's do. But a lane is never passed over for long:
/// after twice as many jobs of other lanes as there are threads (and 8 at least) it is its turn. So ten thousand jobs of
/// one lane do not hold up the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Lane {
    /// Work of the program's own, of any length.
    Work,
    /// What the machine itself answers: files.
    FastIo,
    /// What may wait for the network for long: names. At most half of the threads, rounded up, run such jobs.
    SlowIo,
}

impl Lane {
    /// All lanes, in the order of their numbers.
    pub const ALL: [Lane; 3] = [Lane::Work, Lane::FastIo, Lane::SlowIo];

    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        ["work", "fast_io", "slow_io"][self as usize]
    }
}

/// Some of the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lanes(u8);

impl Lanes {
    const NONE: Lanes = Lanes(0);
    pub(crate) const ALL: Lanes = Lanes(0b111);

    pub(crate) const fn of(lane: Lane) -> Lanes {
        Lanes(1 << lane as u8)
    }

    pub(crate) const fn without(self, lane: Lane) -> Lanes {
        Lanes(self.0 & !Lanes::of(lane).0)
    }

    const fn and(self, others: Lanes) -> Lanes {
        Lanes(self.0 & others.0)
    }

    const fn with(self, lane: Lane) -> Lanes {
        Lanes(self.0 | Lanes::of(lane).0)
    }

    /// The number of the lane if it is only one; any number if there is none.
    const fn only(self) -> Option<usize> {
        let is_one = self.0 & self.0.wrapping_sub(1) == 0;
        if is_one { Some((self.0 >> 1) as usize) } else { None }
    }

    fn iter(self) -> impl Iterator<Item = Lane> {
        Lane::ALL.into_iter().filter(move |&lane| self.and(Lanes::of(lane)) != Lanes::NONE)
    }
}

/// The name of a submitted job, good until it begins or is cancelled.
///
/// The default ticket is that of no job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ticket {
    pub(crate) index: u32,
    /// Not 0 for a job.
    pub(crate) generation: u32,
}

impl Ticket {
    /// The ticket as one number, never 0 for a job.
    #[inline]
    pub const fn to_u64(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The ticket that [`Ticket::to_u64`] made the number of.
    #[inline]
    pub const fn from_u64(number: u64) -> Ticket {
        Ticket { index: number as u32, generation: (number >> 32) as u32 }
    }
}

/// No entry: there is none at this index.
const NONE: u32 = u32::MAX;

impl Line {
    const EMPTY: Line = Line { first: NONE, last: NONE, pushed: 0, popped: 0, removed: 0, passed: 0 };

    fn len(&self) -> usize {
        (self.pushed - self.popped - self.removed) as usize
    }
}

/// A cache line of its own: while a thread takes one, the loop is at the next.
#[derive(Debug)]
#[repr(align(64))]
struct Entry<T> {
    generation: u32,
    /// The neighbours in the lane; `next` also links the free entries.
    next: u32,
    previous: u32,
    /// Rises with each submission.
    number: u64,
    /// `None` in a free entry.
    value: Option<T>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    first: u32,
    last: u32,
    /// The elements that were put in, begun, and taken back.
    pushed: u64,
    popped: u64,
    removed: u64,
    /// Jobs of other lanes that were taken while one of this waited and might have been.
    passed: usize,
}

/// What knows its lane.
pub(crate) trait HasLane {
    fn lane(&self) -> Lane;
}

/// Three queues whose elements can be taken out by their ticket.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    entries: Vec<Entry<T>>,
    free: u32,
    lines: [Line; 3],
    /// Those that are not empty.
    waiting: Lanes,
    /// The number of the next submission.
    next_number: u64,
    /// What the first ticket of each entry is made of.
    generation: u32,
}

impl<T: HasLane> Queue<T> {
    /// An empty queue. Tickets of queues with different `seed`s are different for a long time.
    pub(crate) const fn new(seed: u32) -> Self {
        let generation = 1 + (seed << 20);
        let lines = [Line::EMPTY; 3];
        Queue { entries: Vec::new(), free: NONE, lines, waiting: Lanes::NONE, next_number: 0, generation }
    }

    pub(crate) fn len(&self, lane: Lane) -> usize {
        self.lines[lane as usize].len()
    }

    /// How many elements of a lane were taken out by [`Queue::pop`].
    #[inline]
    pub(crate) fn popped(&self, lane: Lane) -> u64 {
        self.lines[lane as usize].popped
    }

    /// True if there is room for one more.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.free != NONE
    }

    /// Makes sure that there is room for one more.
    pub(crate) fn reserve(&mut self) -> Result<()> {
        if self.has_room() {
            return Ok(());
        }
        let index = self.entries.len();
        if index >= NONE as usize {
            return Err(Errno::ENOMEM);
        }
        self.entries.try_reserve(1)?;
        let generation = self.generation;
        self.entries.push(Entry { generation, next: NONE, previous: NONE, number: 0, value: None });
        self.free = index as u32;
        Ok(())
    }

    /// Puts an element at the end of its lane. There is room: see [`Queue::has_room`].
    #[inline]
    pub(crate) fn push(&mut self, value: T) -> Ticket {
        let lane = value.lane();
        let line = &mut self.lines[lane as usize];
        let index = self.free;
        let entry = &mut self.entries[index as usize];
        self.free = entry.next;
        (entry.next, entry.previous, entry.number) = (NONE, line.last, self.next_number);
        // A free entry has nothing to be dropped.
        std::mem::forget(entry.value.replace(value));
        let generation = entry.generation;
        self.next_number += 1;
        match self.entries.get_mut(line.last as usize) {
            Some(previous) => previous.next = index,
            None => line.first = index,
        }
        line.last = index;
        line.pushed += 1;
        self.waiting = self.waiting.with(lane);
        Ticket { index, generation }
    }

    /// Takes out the oldest element of the lanes that are `open`, unless one of these was passed over `patience` times.
    #[inline]
    pub(crate) fn pop(&mut self, open: Lanes, patience: impl FnOnce() -> usize) -> Option<T> {
        let able = self.waiting.and(open);
        let nth = match able.only() {
            Some(_) if able == Lanes::NONE => return None,
            Some(nth) => nth,
            None => self.choose(patience(), able)? as usize,
        };
        let line = self.lines.get_mut(nth)?;
        let index = line.first;
        let entry = self.entries.get_mut(index as usize)?;
        let value = entry.value.take()?;
        line.first = entry.next;
        line.passed = 0;
        line.popped += 1;
        entry.generation = next_generation(entry.generation);
        entry.next = self.free;
        self.free = index;
        match self.entries.get_mut(line.first as usize) {
            Some(first) => first.previous = NONE,
            None => {
                line.last = NONE;
                self.waiting = self.waiting.without(value.lane());
            }
        }
        Some(value)
    }

    /// The lane whose turn it is, of several; the others are passed over.
    #[inline(never)]
    fn choose(&mut self, patience: usize, able: Lanes) -> Option<Lane> {
        let line = |lane: Lane| &self.lines[lane as usize];
        let impatient = able.iter().filter(|&lane| line(lane).passed >= patience).max_by_key(|&lane| line(lane).passed);
        let oldest = || able.iter().min_by_key(|&lane| self.entries[line(lane).first as usize].number);
        let chosen = impatient.or_else(oldest)?;
        for other in able.iter() {
            self.lines[other as usize].passed += 1;
        }
        Some(chosen)
    }

    /// True if there is only one element.
    pub(crate) fn has_one(&self) -> bool {
        self.lines.iter().map(Line::len).sum::<usize>() == 1
    }

    /// True if [`Queue::pop`] would find something.
    #[inline]
    pub(crate) fn has_any(&self, open: Lanes) -> bool {
        self.waiting.and(open) != Lanes::NONE
    }

    /// Takes back the element of this ticket; `None` if it is out already.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<T> {
        let Ticket { index, generation } = ticket;
        let entry = self.entries.get_mut(index as usize)?;
        if entry.generation != generation {
            return None;
        }
        let value = entry.value.take()?;
        let (next, previous) = (entry.next, entry.previous);
        entry.generation = next_generation(generation);
        entry.next = self.free;
        self.free = index;
        let lane = value.lane();
        let line = &mut self.lines[lane as usize];
        line.removed += 1;
        match self.entries.get_mut(previous as usize) {
            Some(previous) => previous.next = next,
            None => line.first = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(next) => next.previous = previous,
            None => line.last = previous,
        }
        if line.first == NONE {
            self.waiting = self.waiting.without(lane);
        }
        Some(value)
    }

    /// Takes back the oldest element of a lane.
    pub(crate) fn remove_first(&mut self, lane: Lane) -> Option<T> {
        let index = self.lines[lane as usize].first;
        let generation = self.entries.get(index as usize)?.generation;
        self.remove(Ticket { index, generation })
    }
}

const fn next_generation(generation: u32) -> u32 {
    match generation.wrapping_add(1) {
        0 => 1,
        next => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;
    use std::collections::VecDeque;

    impl HasLane for (Lane, u32) {
        fn lane(&self) -> Lane {
            self.0
        }
    }

    fn push(queue: &mut Queue<(Lane, u32)>, lane: Lane, value: u32) -> Ticket {
        queue.reserve().unwrap();
        queue.push((lane, value))
    }

    fn pop(queue: &mut Queue<(Lane, u32)>, open: Lanes) -> Option<(Lane, u32)> {
        queue.pop(open, || 8)
    }

    #[test]
    fn agrees_with_three_plain_queues_under_random_operations() {
        let mut random = Random::new(3);
        let mut queue = Queue::new(0);
        let mut model: [VecDeque<(Ticket, u32)>; 3] = Default::default();
        let mut old = Vec::new();
        for step in 0..50_000_u32 {
            let lane = Lane::ALL[random.below(3)];
            match random.below(6) {
                0..=2 => {
                    model[lane as usize].push_back((push(&mut queue, lane, step), step));
                }
                3 => {
                    let line = &mut model[lane as usize];
                    if let Some((ticket, value)) = line.remove(random.below(line.len().max(1))) {
                        assert_eq!(queue.remove(ticket), Some((lane, value)));
                        old.push(ticket);
                    }
                }
                4 => {
                    let expected = model[lane as usize].pop_front();
                    let popped = pop(&mut queue, Lanes::of(lane));
                    assert_eq!(popped, expected.map(|(_, value)| (lane, value)));
                    old.extend(expected.map(|(ticket, _)| ticket));
                }
                _ => {
                    if let Some(&ticket) = old.get(random.below(old.len().max(1))) {
                        assert_eq!(queue.remove(ticket), None, "a ticket is good once");
                    }
                }
            }
            for lane in Lane::ALL {
                assert_eq!(queue.len(lane), model[lane as usize].len());
            }
        }
    }

    #[test]
    fn the_oldest_comes_first_whatever_its_lane() {
        let mut queue = Queue::new(0);
        for (lane, value) in [(Lane::Work, 1), (Lane::SlowIo, 2), (Lane::Work, 3), (Lane::FastIo, 4), (Lane::SlowIo, 5)]
        {
            push(&mut queue, lane, value);
        }
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut queue, Lanes::ALL)).map(|(_, value)| value).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_lane_is_not_passed_over_for_long() {
        let mut queue = Queue::new(0);
        for value in 0..100 {
            push(&mut queue, Lane::Work, value);
        }
        push(&mut queue, Lane::FastIo, 1000);
        push(&mut queue, Lane::FastIo, 1001);
        push(&mut queue, Lane::SlowIo, 2000);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut queue, Lanes::ALL)).map(|(_, value)| value).collect();
        let place = |of| order.iter().position(|&value| value == of);
        let jump = [1000, 2000, 1001].map(|value| place(value).unwrap());
        assert!(jump.iter().all(|&place| (8..=18).contains(&place)), "{jump:?}");
        assert_eq!(order.len(), 103);
    }

    #[test]
    fn a_lane_that_is_not_open_is_passed_over() {
        let mut queue = Queue::new(0);
        push(&mut queue, Lane::SlowIo, 1);
        assert!(!queue.has_any(Lanes::ALL.without(Lane::SlowIo)));
        assert_eq!(pop(&mut queue, Lanes::ALL.without(Lane::SlowIo)), None);
        assert_eq!(pop(&mut queue, Lanes::ALL), Some((Lane::SlowIo, 1)));
    }

    #[test]
    fn the_default_ticket_is_that_of_no_job() {
        let mut queue = Queue::new(0);
        let ticket = push(&mut queue, Lane::Work, 1);
        assert_eq!(queue.remove(Ticket::default()), None);
        assert_eq!(Ticket::from_u64(ticket.to_u64()), ticket);
        assert_ne!(ticket.to_u64(), 0);
    }
}
