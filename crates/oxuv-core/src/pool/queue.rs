//! The jobs that wait for a thread, lane by lane.

use oxuv_os::{Errno, Result};

/// What a job waits for, and with whom it shares the threads.
///
/// Threads take the job that has waited longest, whatever its lane, as libuv's do. But a lane is never passed over for long:
/// after twice as many jobs of other lanes as there are threads (and 8 at least) it is its turn. So ten thousand jobs of
/// one lane do not hold up the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    /// The lane, if it is only one.
    fn only(self) -> Option<Lane> {
        self.0.is_power_of_two().then(|| Lane::ALL[self.0.trailing_zeros() as usize])
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

/// No entry.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Entry<T> {
    generation: u32,
    /// The neighbours in the lane; `next` also links the free entries.
    next: u32,
    previous: u32,
    lane: Lane,
    /// Rises with each submission.
    number: u64,
    /// `None` in a free entry.
    value: Option<T>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    first: u32,
    last: u32,
    len: usize,
    /// Jobs of other lanes that were taken while one of this waited and might have been.
    passed: usize,
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

impl<T> Queue<T> {
    /// An empty queue. Tickets of queues with different `seed`s are different for a long time.
    pub(crate) const fn new(seed: u32) -> Self {
        let line = Line { first: NONE, last: NONE, len: 0, passed: 0 };
        let generation = 1 + (seed << 20);
        Queue { entries: Vec::new(), free: NONE, lines: [line; 3], waiting: Lanes::NONE, next_number: 0, generation }
    }

    pub(crate) fn len(&self, lane: Lane) -> usize {
        self.lines[lane as usize].len
    }

    /// Makes sure that the next [`Queue::push`] needs no memory.
    pub(crate) fn reserve(&mut self) -> Result<()> {
        if self.free == NONE {
            let is_full = self.entries.len() >= NONE as usize;
            if is_full {
                return Err(Errno::ENOMEM);
            }
            self.entries.try_reserve(1)?;
        }
        Ok(())
    }

    /// Puts an element at the end of its lane.
    pub(crate) fn push(&mut self, lane: Lane, value: T) -> Ticket {
        let line = &mut self.lines[lane as usize];
        let (previous, number) = (line.last, self.next_number);
        self.next_number += 1;
        let (index, generation);
        if self.free == NONE {
            (index, generation) = (self.entries.len() as u32, self.generation);
            self.entries.push(Entry { generation, next: NONE, previous, lane, number, value: Some(value) });
        } else {
            index = self.free;
            let entry = &mut self.entries[index as usize];
            generation = entry.generation;
            self.free = entry.next;
            *entry = Entry { generation, next: NONE, previous, lane, number, value: Some(value) };
        }
        if previous == NONE {
            line.first = index;
        } else {
            self.entries[previous as usize].next = index;
        }
        line.last = index;
        line.len += 1;
        self.waiting = self.waiting.with(lane);
        Ticket { index, generation }
    }

    /// Takes out the oldest element of the lanes that are `open`, unless one of these was passed over `patience` times.
    #[inline]
    pub(crate) fn pop(&mut self, patience: usize, open: Lanes) -> Option<(Lane, T)> {
        let able = self.waiting.and(open);
        let lane = match able.only() {
            Some(lane) => lane,
            None => self.choose(patience, able)?,
        };
        self.lines[lane as usize].passed = 0;
        self.unlink(self.lines[lane as usize].first).map(|value| (lane, value))
    }

    /// The lane whose turn it is, of several or none; the others are passed over.
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
        self.lines.iter().map(|line| line.len).sum::<usize>() == 1
    }

    /// True if [`Queue::pop`] would find something.
    pub(crate) fn has_any(&self, open: Lanes) -> bool {
        self.waiting.and(open) != Lanes::NONE
    }

    /// Takes out the element of this ticket; `None` if it is out already.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<T> {
        let entry = self.entries.get(ticket.index as usize)?;
        if entry.generation != ticket.generation {
            return None;
        }
        self.unlink(ticket.index)
    }

    fn unlink(&mut self, index: u32) -> Option<T> {
        let entry = &mut self.entries[index as usize];
        let value = entry.value.take()?;
        let (next, previous, lane) = (entry.next, entry.previous, entry.lane);
        entry.generation = entry.generation.checked_add(1).unwrap_or(1);
        entry.next = self.free;
        self.free = index;
        let line = &mut self.lines[lane as usize];
        line.len -= 1;
        if line.len == 0 {
            self.waiting = self.waiting.without(lane);
        }
        match previous {
            NONE => line.first = next,
            _ => self.entries[previous as usize].next = next,
        }
        match next {
            NONE => line.last = previous,
            _ => self.entries[next as usize].previous = previous,
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;
    use std::collections::VecDeque;

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
                    queue.reserve().unwrap();
                    model[lane as usize].push_back((queue.push(lane, step), step));
                }
                3 => {
                    let line = &mut model[lane as usize];
                    if let Some((ticket, value)) = line.remove(random.below(line.len().max(1))) {
                        assert_eq!(queue.remove(ticket), Some(value));
                        old.push(ticket);
                    }
                }
                4 => {
                    let expected = model[lane as usize].pop_front();
                    let popped = queue.pop(8, Lanes::of(lane));
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
            queue.push(lane, value);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(8, Lanes::ALL)).map(|(_, value)| value).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_lane_is_not_passed_over_for_long() {
        let mut queue = Queue::new(0);
        for value in 0..100 {
            queue.push(Lane::Work, value);
        }
        queue.push(Lane::FastIo, 1000);
        queue.push(Lane::FastIo, 1001);
        queue.push(Lane::SlowIo, 2000);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(8, Lanes::ALL)).map(|(_, value)| value).collect();
        let place = |of| order.iter().position(|&value| value == of);
        let jump = [1000, 2000, 1001].map(|value| place(value).unwrap());
        assert!(jump.iter().all(|&place| (8..=18).contains(&place)), "{jump:?}");
        assert_eq!(order.len(), 103);
    }

    #[test]
    fn a_lane_that_is_not_open_is_passed_over() {
        let mut queue = Queue::new(0);
        queue.push(Lane::SlowIo, 1);
        assert!(!queue.has_any(Lanes::ALL.without(Lane::SlowIo)));
        assert_eq!(queue.pop(8, Lanes::ALL.without(Lane::SlowIo)), None);
        assert_eq!(queue.pop(8, Lanes::ALL), Some((Lane::SlowIo, 1)));
    }

    #[test]
    fn the_default_ticket_is_that_of_no_job() {
        let mut queue = Queue::new(0);
        let ticket = queue.push(Lane::Work, 1);
        assert_eq!(queue.remove(Ticket::default()), None);
        assert_eq!(Ticket::from_u64(ticket.to_u64()), ticket);
        assert_ne!(ticket.to_u64(), 0);
    }
}
