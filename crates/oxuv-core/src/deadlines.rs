//! Times that a front has others wait for, in a heap such as the timers have: many of them under one timer.

use std::collections::VecDeque;

use oxuv_os::Result;

use crate::heap::Entry;
use crate::timer_queue::{Queued, TimerQueue};

#[derive(Debug, Default)]
struct Deadline<T> {
    value: T,
    start_id: u32,
    due: u64,
}

impl<T: Default> Queued for Deadline<T> {
    #[inline]
    fn due(&self) -> u64 {
        self.due
    }

    #[inline]
    fn start_id(&self) -> u32 {
        self.start_id
    }
}

/// Who waits until when. They come by their times; those of the same time in the order in which these were set.
///
/// Each has a number until it is removed, and a value, of which the default is nobody's.
#[derive(Debug, Default)]
pub struct Deadlines<T: Default>(TimerQueue<Deadline<T>>);

impl<T: Default> Deadlines<T> {
    /// One more that waits: its number.
    ///
    /// # Errors
    /// ENOMEM.
    #[inline]
    pub fn add(&mut self, due: u64, value: T) -> Result<u32> {
        let start_id = self.0.count_start();
        let number = self.0.insert(Deadline { value, start_id, due })?;
        self.0.heap.insert(Entry { due, start_id, timer: number });
        Ok(number)
    }

    /// Has it wait until then, whether or not it waits.
    #[inline]
    pub fn set(&mut self, number: u32, due: u64) {
        let start_id = self.0.count_start();
        let entry = Entry { due, start_id, timer: number };
        let deadline = &mut self.0.timers[number];
        let was_due = std::mem::replace(&mut deadline.due, due);
        deadline.start_id = start_id;
        if !self.0.heap.contains(number) {
            self.0.heap.insert(entry);
        } else if due < was_due {
            self.0.heap.change(entry);
        }
    }

    /// It is gone, and its number may be another's.
    #[inline]
    pub fn remove(&mut self, number: u32) -> T {
        self.0.heap.remove(number);
        self.0.timers.remove(number).value
    }

    /// Its value, as long as it waits.
    #[inline]
    pub fn waiting(&mut self, number: u32) -> Option<&mut T> {
        if self.0.heap.contains(number) { Some(&mut self.0.timers[number].value) } else { None }
    }

    /// Whether a change to it may be one of [`Deadlines::first`].
    #[inline]
    pub fn may_be_first(&self, number: u32) -> bool {
        self.0.heap.first().is_some_and(|first| first.timer == number)
    }

    /// The first: its number, and when it is due.
    #[inline]
    pub fn first(&mut self) -> Option<(u32, u64)> {
        self.0.first().map(|first| (first.timer, first.due))
    }

    /// Takes the values of all that are due at `time`, in their order: these keep their numbers, and wait no more.
    #[inline]
    pub fn take_due(&mut self, time: u64, due: &mut VecDeque<T>) {
        let mut pass = self.0.begin_pass(time);
        while let Some(number) = self.0.next_due(&mut pass) {
            due.push_back(std::mem::take(&mut self.0.timers[number].value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due<T: Default>(deadlines: &mut Deadlines<T>, time: u64) -> Vec<T> {
        let mut taken = VecDeque::new();
        deadlines.take_due(time, &mut taken);
        taken.into()
    }

    #[test]
    fn they_come_by_their_times_and_those_of_the_same_time_as_they_were_set() {
        let mut deadlines = Deadlines::default();
        let numbers = [(5, "c"), (7, "e"), (3, "a"), (5, "d"), (3, "b")].map(|(due, name)| deadlines.add(due, name));
        assert_eq!(deadlines.first(), Some((numbers[2].unwrap(), 3)));
        assert_eq!(due(&mut deadlines, 2), [""; 0]);
        assert_eq!(due(&mut deadlines, 5), ["a", "b", "c", "d"]);
        assert_eq!(due(&mut deadlines, u64::MAX), ["e"]);
        assert_eq!(deadlines.first(), None);
    }

    #[test]
    fn one_that_is_set_anew_is_behind_those_of_its_time() {
        let mut deadlines = Deadlines::default();
        let [a, b, c] = ["a", "b", "c"].map(|name| deadlines.add(5, name).unwrap());
        deadlines.set(a, 5);
        assert_eq!(deadlines.first(), Some((b, 5)));
        deadlines.set(c, 1);
        assert_eq!(due(&mut deadlines, 5), ["c", "b", "a"]);
        // It keeps its number, but nobody is told any more.
        assert_eq!(deadlines.waiting(a), None);
        deadlines.set(a, 6);
        *deadlines.waiting(a).unwrap() = "again";
        assert_eq!(due(&mut deadlines, 6), ["again"]);
    }

    #[test]
    fn one_that_is_removed_does_not_come_and_its_number_is_used_again() {
        let mut deadlines = Deadlines::default();
        let [a, b] = ["a", "b"].map(|name| deadlines.add(5, name).unwrap());
        assert_eq!(deadlines.remove(a), "a");
        assert_eq!(deadlines.add(9, "c").unwrap(), a);
        assert_eq!(due(&mut deadlines, 5), ["b"]);
        assert_eq!(deadlines.remove(b), "");
        assert_eq!(deadlines.waiting(a), Some(&mut "c"));
    }
}
