//! The lists that Node keeps its timers in, without a loop.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Which timer of [`TimerLists`]. The key of a timer that is gone names no other, until its place was used two million
/// times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerKey {
    index: u32,
    generation: u32,
}

impl TimerKey {
    /// The key as a number of at most 53 bits, for languages whose numbers are doubles. It is never 0.
    pub fn to_bits(self) -> u64 {
        (u64::from(self.generation) << 32 | u64::from(self.index)) + 1
    }

    /// The key of such a number.
    pub fn from_bits(bits: u64) -> TimerKey {
        let bits = bits.wrapping_sub(1);
        TimerKey { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

/// Timers as Node keeps them: one list per duration in whole milliseconds, in the order in which they were started, and
/// the lists in a queue by the time at which the first of them is due.
///
/// Starting a timer costs a look-up of its duration, whatever the number of timers: programs use few durations. It also
/// makes an order of its own: a list that is late runs all that is due in it before the next list gets its turn.
///
/// Times are milliseconds since a point that the caller chooses. A timer carries a value of the caller's, and comes once:
/// one that repeats is started anew after its callback.
#[derive(Debug)]
pub struct TimerLists<T> {
    timers: Vec<Slot<T>>,
    /// The slot freed last.
    free: u32,
    lists: HashMap<u32, List, BuildHasherDefault<OfDuration>>,
    /// Which duration is due when; lists of the same time in the order in which they got it.
    queue: BTreeMap<(u64, u64), u32>,
    /// The number of the next list, or of one that gets another time.
    next_number: u64,
    referenced: usize,
}

/// Spreads durations over a table. Programs choose few of them, and harm nobody but themselves by choosing badly.
#[derive(Debug, Default)]
struct OfDuration(u64);

impl Hasher for OfDuration {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }

    fn write_u32(&mut self, duration: u32) {
        self.0 = (self.0 ^ u64::from(duration)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    previous: u32,
    next: u32,
    duration: u32,
    start: u64,
    is_referenced: bool,
    value: Option<T>,
}

#[derive(Debug)]
struct List {
    /// Its place in the queue.
    place: (u64, u64),
    /// Tells it from another list of the same duration, made after this one was removed.
    serial: u64,
    first: u32,
    last: u32,
}

const NONE: u32 = u32::MAX;

/// So that a key fits into a double.
const GENERATIONS: u32 = 1 << 21;

/// One pass over what is due: see [`TimerLists::next`].
#[derive(Debug)]
pub struct Pass {
    now: u64,
    /// The list that is worked off: duration and serial.
    list: Option<(u32, u64)>,
}

impl Pass {
    /// A pass over all that is due at `now`. The time stays the same for the whole pass.
    pub fn new(now: u64) -> Pass {
        Pass { now, list: None }
    }
}

impl<T> Default for TimerLists<T> {
    fn default() -> TimerLists<T> {
        TimerLists {
            timers: Vec::new(),
            free: NONE,
            lists: HashMap::default(),
            queue: BTreeMap::new(),
            next_number: 0,
            referenced: 0,
        }
    }
}

impl<T> TimerLists<T> {
    /// Starts a timer: at the end of the list of its duration, counted from `start`.
    pub fn insert(&mut self, value: T, duration: u32, start: u64, is_referenced: bool) -> TimerKey {
        let slot =
            Slot { generation: 0, previous: NONE, next: NONE, duration, start, is_referenced, value: Some(value) };
        let index = self.store(slot);
        let next_number = &mut self.next_number;
        let queue = &mut self.queue;
        let list = self.lists.entry(duration).or_insert_with(|| {
            let place = (start + u64::from(duration), *next_number);
            *next_number += 1;
            queue.insert(place, duration);
            List { place, serial: place.1, first: NONE, last: NONE }
        });
        let last = std::mem::replace(&mut list.last, index);
        match last {
            NONE => list.first = index,
            last => self.timers[last as usize].next = index,
        }
        self.timers[index as usize].previous = last;
        self.referenced += usize::from(is_referenced);
        TimerKey { index, generation: self.timers[index as usize].generation }
    }

    /// Stops a timer, and gives its value back. A list that has no timer any more goes away, unless the timer was
    /// unreferenced: such lists are likely to be used again soon.
    pub fn remove(&mut self, key: TimerKey) -> Option<T> {
        self.get(key)?;
        let slot = &self.timers[key.index as usize];
        let (duration, is_referenced) = (slot.duration, slot.is_referenced);
        let value = self.take(key);
        if is_referenced && self.lists.get(&duration).is_some_and(|list| list.first == NONE) {
            self.remove_list(duration);
        }
        value
    }

    /// Whether the timer keeps its loop alive; nothing happens if it is gone.
    pub fn set_referenced(&mut self, key: TimerKey, is_referenced: bool) {
        if self.get(key).is_some() {
            let slot = &mut self.timers[key.index as usize];
            let was = std::mem::replace(&mut slot.is_referenced, is_referenced);
            self.referenced = self.referenced - usize::from(was) + usize::from(is_referenced);
        }
    }

    /// The value of a timer that is running.
    pub fn get(&self, key: TimerKey) -> Option<&T> {
        let slot = self.timers.get(key.index as usize)?;
        if slot.generation == key.generation { slot.value.as_ref() } else { None }
    }

    /// Whether there is a timer that keeps the loop alive.
    pub fn has_referenced(&self) -> bool {
        self.referenced > 0
    }

    /// When the first list is due.
    pub fn due(&self) -> Option<u64> {
        self.queue.first_key_value().map(|((due, _), _)| *due)
    }

    /// The timer that the pass comes to next. It is to be taken by [`take`](TimerLists::take), before which the caller
    /// may run whatever must come in between; if that stops the timer, `take` has nothing.
    ///
    /// A list is left when its first timer is not due yet, and gets that timer's time, but one later than the pass's.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self, pass: &mut Pass) -> Option<TimerKey> {
        loop {
            let (duration, serial) = match pass.list {
                Some(list) => list,
                None => {
                    let (&(due, _), &duration) = self.queue.first_key_value()?;
                    if due > pass.now {
                        return None;
                    }
                    *pass.list.insert((duration, self.lists[&duration].serial))
                }
            };
            let Some(list) = self.lists.get_mut(&duration).filter(|list| list.serial == serial) else {
                pass.list = None;
                continue;
            };
            if list.first == NONE {
                self.remove_list(duration);
                pass.list = None;
                continue;
            }
            let first = &self.timers[list.first as usize];
            if pass.now.saturating_sub(first.start) >= u64::from(duration) {
                return Some(TimerKey { index: list.first, generation: first.generation });
            }
            let place = ((first.start + u64::from(duration)).max(pass.now + 1), self.next_number);
            self.next_number += 1;
            self.queue.remove(&list.place);
            self.queue.insert(place, duration);
            list.place = place;
            pass.list = None;
        }
    }

    /// Takes all that the pass comes to before it leaves the list. Nothing that is started from now on can be among it.
    ///
    /// The list stays, though it may be empty, until the pass comes to it again.
    pub fn take_list(&mut self, pass: &mut Pass) -> Vec<T> {
        let mut values = Vec::new();
        let Some(first) = self.next(pass) else { return values };
        let duration = self.timers[first.index as usize].duration;
        let mut index = first.index;
        while index != NONE {
            let slot = &mut self.timers[index as usize];
            if pass.now.saturating_sub(slot.start) < u64::from(duration) {
                break;
            }
            values.extend(slot.value.take());
            slot.generation = (slot.generation + 1) % GENERATIONS;
            self.referenced -= usize::from(slot.is_referenced);
            let next = std::mem::replace(&mut slot.next, self.free);
            self.free = std::mem::replace(&mut index, next);
        }
        if let Some(slot) = self.timers.get_mut(index as usize) {
            slot.previous = NONE;
        }
        if let Some(list) = self.lists.get_mut(&duration) {
            list.first = index;
            if index == NONE {
                list.last = NONE;
            }
        }
        values
    }

    /// Takes a timer out of its list, and its value with it: it has come.
    pub fn take(&mut self, key: TimerKey) -> Option<T> {
        self.get(key)?;
        let slot = &mut self.timers[key.index as usize];
        let value = slot.value.take();
        let (previous, next, duration) = (slot.previous, slot.next, slot.duration);
        slot.generation = (slot.generation + 1) % GENERATIONS;
        slot.next = std::mem::replace(&mut self.free, key.index);
        self.referenced -= usize::from(slot.is_referenced);
        let list = self.lists.get_mut(&duration);
        match previous {
            NONE => list.into_iter().for_each(|list| list.first = next),
            previous => self.timers[previous as usize].next = next,
        }
        match next {
            NONE => self.lists.get_mut(&duration).into_iter().for_each(|list| list.last = previous),
            next => self.timers[next as usize].previous = previous,
        }
        value
    }

    fn store(&mut self, mut slot: Slot<T>) -> u32 {
        match self.timers.get_mut(self.free as usize) {
            Some(old) => {
                slot.generation = old.generation;
                let index = std::mem::replace(&mut self.free, old.next);
                *old = slot;
                index
            }
            None => {
                self.timers.push(slot);
                (self.timers.len() - 1) as u32
            }
        }
    }

    fn remove_list(&mut self, duration: u32) {
        if let Some(list) = self.lists.remove(&duration) {
            self.queue.remove(&list.place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works off what is due, and says what came.
    fn run<T>(lists: &mut TimerLists<T>, now: u64) -> Vec<T> {
        let mut pass = Pass::new(now);
        let mut came = Vec::new();
        while let Some(key) = lists.next(&mut pass) {
            came.extend(lists.take(key));
        }
        came
    }

    #[test]
    fn a_list_keeps_the_order_in_which_timers_were_started() {
        let mut lists = TimerLists::default();
        for name in ["a", "b", "c"] {
            lists.insert(name, 10, 0, true);
        }
        assert_eq!(lists.due(), Some(10));
        assert!(run(&mut lists, 9).is_empty());
        assert_eq!(run(&mut lists, 10), ["a", "b", "c"]);
        assert_eq!(lists.due(), None);
        assert!(!lists.has_referenced());
    }

    #[test]
    fn lists_come_by_the_time_they_are_due() {
        let mut lists = TimerLists::default();
        lists.insert("20 from 0", 20, 0, true);
        lists.insert("5 from 10", 5, 10, true);
        lists.insert("1 from 19", 1, 19, true);
        assert_eq!(run(&mut lists, 20), ["5 from 10", "20 from 0", "1 from 19"]);
    }

    #[test]
    fn a_late_list_runs_all_that_is_due_in_it_first() {
        let mut lists = TimerLists::default();
        lists.insert("10 from 0", 10, 0, true);
        lists.insert("2 from 9", 2, 9, true);
        lists.insert("10 from 5", 10, 5, true);
        assert_eq!(run(&mut lists, 30), ["10 from 0", "10 from 5", "2 from 9"]);
    }

    #[test]
    fn a_timer_started_meanwhile_waits_for_its_time() {
        let mut lists = TimerLists::default();
        lists.insert("first", 1, 0, true);
        let mut pass = Pass::new(5);
        let key = lists.next(&mut pass).unwrap();
        assert_eq!(lists.take(key), Some("first"));
        lists.insert("second", 1, 5, true);
        assert_eq!(lists.next(&mut pass), None);
        assert_eq!(lists.due(), Some(6));
        assert_eq!(run(&mut lists, 6), ["second"]);
    }

    #[test]
    fn a_stopped_timer_does_not_come_and_its_list_goes() {
        let mut lists = TimerLists::default();
        let first = lists.insert("first", 7, 0, true);
        assert_eq!(lists.remove(first), Some("first"));
        assert_eq!(lists.remove(first), None);
        assert_eq!(lists.due(), None);
        // The slot is used again; the old key means nothing.
        let second = lists.insert("second", 7, 1, true);
        assert_eq!(second.index, first.index);
        assert_eq!(lists.get(first), None);
        assert_eq!(TimerKey::from_bits(second.to_bits()), second);
        assert_eq!(run(&mut lists, 8), ["second"]);
    }

    #[test]
    fn one_stopped_between_next_and_take_is_gone() {
        let mut lists = TimerLists::default();
        lists.insert("first", 3, 0, true);
        let second = lists.insert("second", 3, 0, true);
        lists.insert("third", 3, 0, true);
        let mut pass = Pass::new(3);
        let key = lists.next(&mut pass).unwrap();
        assert_eq!(lists.take(key), Some("first"));
        assert_eq!(lists.next(&mut pass), Some(second));
        assert_eq!(lists.remove(second), Some("second"));
        assert_eq!(lists.take(second), None);
        let key = lists.next(&mut pass).unwrap();
        assert_eq!(lists.take(key), Some("third"));
    }

    #[test]
    fn a_list_is_taken_as_far_as_it_is_due() {
        let mut lists = TimerLists::default();
        lists.insert("10 from 0", 10, 0, true);
        lists.insert("10 from 5", 10, 5, false);
        let last = lists.insert("10 from 25", 10, 25, true);
        lists.insert("2 from 9", 2, 9, true);
        let mut pass = Pass::new(30);
        assert_eq!(lists.take_list(&mut pass), ["10 from 0", "10 from 5"]);
        lists.insert("10 from 30", 10, 30, true);
        assert_eq!(lists.take_list(&mut pass), ["2 from 9"]);
        assert!(lists.take_list(&mut pass).is_empty());
        assert_eq!(lists.due(), Some(35));
        assert_eq!(lists.remove(last), Some("10 from 25"));
        assert_eq!(run(&mut lists, 40), ["10 from 30"]);
        assert!(lists.lists.is_empty() && lists.queue.is_empty() && !lists.has_referenced());
    }

    #[test]
    fn references_are_counted_once() {
        let mut lists = TimerLists::default();
        let key = lists.insert((), 3, 0, false);
        assert!(!lists.has_referenced());
        lists.set_referenced(key, true);
        lists.set_referenced(key, true);
        assert!(lists.has_referenced());
        lists.set_referenced(key, false);
        assert!(!lists.has_referenced());
        lists.set_referenced(key, true);
        lists.remove(key);
        assert!(!lists.has_referenced());
    }

    #[test]
    fn many_timers_of_many_durations_come_in_order() {
        let mut lists = TimerLists::default();
        for n in 0..10_000u64 {
            let duration = (n * 7919 % 97 + 1) as u32;
            lists.insert((u64::from(duration), n), duration, 0, true);
        }
        let came = run(&mut lists, 97);
        assert_eq!(came.len(), 10_000);
        assert!(came.is_sorted());
        assert!(lists.lists.is_empty() && lists.queue.is_empty());
    }
}
