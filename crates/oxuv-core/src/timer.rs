//! Timers.

use oxuv_os::{Errno, Result};

use crate::heap::Entry;
use crate::kernel::Kernel;
use crate::slots::{List, PHASE, flag};
use crate::timer_queue::Queued;
use crate::{Buffers, Core, Event, Key, Kind};

#[derive(Debug, Default)]
pub(crate) struct Timer {
    slot: u32,
    start_id: u32,
    due: u64,
    repeat: u64,
}

impl Queued for Timer {
    #[inline]
    fn due(&self) -> u64 {
        self.due
    }

    #[inline]
    fn start_id(&self) -> u32 {
        self.start_id
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new timer, stopped.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_timer_init")]
    pub fn timer_init(&mut self, user: U) -> Result<Key> {
        self.slots.reserve()?;
        let state = self.timers.insert(Timer::default())?;
        let key = self.add_handle(Kind::Timer, state, user);
        self.timers.timers[state].slot = key.index;
        Ok(key)
    }

    /// Starts a timer, or starts it anew: due `timeout` nanoseconds from the loop's time on (see [`Core::time`]), and
    /// then every `repeat` nanoseconds unless that is 0. Times beyond the clock's range never come.
    ///
    /// # Errors
    /// EINVAL when it is closing.
    #[doc(alias = "uv_timer_start")]
    #[inline]
    pub fn timer_start(&mut self, key: Key, timeout: u64, repeat: u64) -> Result<()> {
        let index = self.open_handle(key, Kind::Timer)?;
        self.restart_timer(index, timeout, repeat);
        Ok(())
    }

    /// Starts a timer anew with the repeat that it has: due `timeout` nanoseconds from the loop's time on.
    ///
    /// # Errors
    /// EINVAL when it was never started, or is closing.
    #[doc(alias = "uv_timer_start")]
    #[inline]
    pub fn timer_restart(&mut self, key: Key, timeout: u64) -> Result<()> {
        let index = self.open_handle(key, Kind::Timer)?;
        let slot = &self.slots[index];
        if !slot.has(flag::WAS_STARTED) {
            return Err(Errno::EINVAL);
        }
        let repeat = self.timers.timers[slot.state].repeat;
        self.restart_timer(index, timeout, repeat);
        Ok(())
    }

    /// Stops a timer. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_timer_stop")]
    #[inline]
    pub fn timer_stop(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::Timer)?;
        if !self.slots[index].has(flag::CLOSING) {
            self.stop_timer(index);
        }
        Ok(())
    }

    /// Starts a repeating timer anew with its repeat as the time-out. Nothing happens if it does not repeat.
    ///
    /// # Errors
    /// EINVAL when it was never started, or is closing.
    #[doc(alias = "uv_timer_again")]
    pub fn timer_again(&mut self, key: Key) -> Result<()> {
        let index = self.open_handle(key, Kind::Timer)?;
        let slot = &self.slots[index];
        if !slot.has(flag::WAS_STARTED) {
            return Err(Errno::EINVAL);
        }
        let repeat = self.timers.timers[slot.state].repeat;
        if repeat != 0 {
            self.restart_timer(index, repeat, repeat);
        }
        Ok(())
    }

    /// The repeat in nanoseconds, 0 when it does not repeat.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_timer_get_repeat")]
    pub fn timer_repeat(&self, key: Key) -> Result<u64> {
        let index = self.slots.find_kind(key, Kind::Timer)?;
        Ok(self.timers.timers[self.slots[index].state].repeat)
    }

    /// Sets the repeat in nanoseconds. It acts when the timer is next due, and does not start it.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_timer_set_repeat")]
    pub fn timer_set_repeat(&mut self, key: Key, repeat: u64) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::Timer)?;
        self.timers.timers[self.slots[index].state].repeat = repeat;
        Ok(())
    }

    /// The nanoseconds from the loop's time until the timer is due; 0 when that is past.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_timer_get_due_in")]
    pub fn timer_due_in(&self, key: Key) -> Result<u64> {
        let index = self.slots.find_kind(key, Kind::Timer)?;
        Ok(self.timers.timers[self.slots[index].state].due.saturating_sub(self.time))
    }

    fn restart_timer(&mut self, index: u32, timeout: u64, repeat: u64) {
        let slot = &mut self.slots[index];
        slot.flags |= flag::WAS_STARTED;
        let state = slot.state;
        let start_id = self.timers.count_start();
        let due = self.time.saturating_add(timeout);
        let timer = &mut self.timers.timers[state];
        let was_due = timer.due;
        (timer.due, timer.start_id, timer.repeat) = (due, start_id, repeat);
        if self.slots[index].has(flag::ACTIVE) {
            // Put off, it keeps its entry.
            if due < was_due {
                self.timers.heap.change(Entry { due, start_id, timer: state });
            }
        } else {
            // It may be due in the pass under way.
            self.slots.unlink::<PHASE>(index);
            self.timers.heap.insert(Entry { due, start_id, timer: state });
            self.set_active(index);
        }
    }

    /// Starts the timer that is a part of the handle at this slot. It is stopped by taking it out of the heap.
    pub(crate) fn start_hidden(&mut self, index: u32, timer: u32, timeout: u64) {
        let start_id = self.timers.count_start();
        let due = self.time.saturating_add(timeout);
        let hidden = &mut self.timers.timers[timer];
        (hidden.slot, hidden.due, hidden.start_id) = (index, due, start_id);
        self.timers.heap.insert(Entry { due, start_id, timer });
    }

    fn stop_timer(&mut self, index: u32) {
        if self.slots[index].has(flag::ACTIVE) {
            self.timers.heap.remove(self.slots[index].state);
            self.set_inactive(index);
        } else {
            // It may be due in the pass under way.
            self.slots.unlink::<PHASE>(index);
        }
    }

    /// Begins a pass of timers: it is about those due now, and no others. False if there are none.
    #[inline]
    pub(crate) fn begin_timers(&mut self) -> bool {
        let may_have_some = self.timers.heap.first().is_some_and(|first| first.due <= self.now);
        if may_have_some {
            self.collect_due_timers();
        }
        may_have_some
    }

    #[inline(never)]
    fn collect_due_timers(&mut self) {
        let mut pass = self.timers.begin_pass(self.now);
        while let Some(timer) = self.timers.next_due(&mut pass) {
            let index = self.timers.timers[timer].slot;
            if self.slots[index].kind == Kind::Timer {
                self.set_inactive(index);
            }
            self.slots.push_back(List::Due, index);
        }
    }

    #[inline]
    pub(crate) fn next_timer(&mut self) -> Option<Event<U>> {
        if self.slots.check_empty(List::Due) { None } else { self.next_due_timer() }
    }

    #[inline(never)]
    fn next_due_timer(&mut self) -> Option<Event<U>> {
        let index = loop {
            let index = self.slots.pop_front(List::Due)?;
            if self.slots[index].kind == Kind::Timer {
                break index;
            }
            if let Some(event) = self.look_again(index) {
                return Some(event);
            }
        };
        let repeat = self.timers.timers[self.slots[index].state].repeat;
        if repeat != 0 {
            self.restart_timer(index, repeat, repeat);
        }
        Some(Event::Timer { key: self.slots.key(index), user: self.slots[index].user })
    }

    /// Puts the timers of a pass that was left back into the heap, as they were.
    pub(crate) fn abandon_timers(&mut self) {
        while let Some(index) = self.slots.pop_front(List::Due) {
            let state = self.slots[index].state;
            if self.slots[index].kind == Kind::Timer {
                self.timers.heap.insert(self.timers.entry(state));
                self.set_active(index);
            } else {
                self.timers.heap.insert(self.timers.entry(self.fs_polls[state].timer));
            }
        }
    }
}
