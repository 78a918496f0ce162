//! Signal handles, and what has come for them.
//!
//! The kernel says which signals have come, in their order. They are handed on to the handles that watch them: each gets
//! an entry in the queue `caught`, and hears of it at the end of a batch. Before a handle is started, stopped or closed what has
//! come by then is handed on, so each handle hears of what came while it was started; if it is started anew in between, too.

use std::collections::VecDeque;

use oxuv_os::Result;

use crate::kernel::{Kernel, Watching};
use crate::poll::Care;
use crate::slab::Slab;
use crate::{Buffers, Core, Event, Key, Kind};

#[derive(Debug, Default)]
pub(crate) struct Signal {
    /// 0 while it is stopped.
    number: i32,
    once: bool,
    /// Its entries in the queue. It is not closed before they are worked off.
    owed: u32,
}

/// A handle that is started; or the core itself, under the default key.
#[derive(Debug, Clone, Copy)]
struct Watcher {
    number: i32,
    once: bool,
    key: Key,
}

#[derive(Debug, Clone, Copy)]
struct Caught {
    number: i32,
    key: Key,
}

#[derive(Debug)]
pub(crate) struct Signals {
    handles: Slab<Signal>,
    /// In the order in which they were started.
    watchers: Vec<Watcher>,
    /// What is to be told, in its order.
    caught: VecDeque<Caught>,
    /// Some may have stayed with the kernel, since memory was short.
    is_behind: bool,
    /// Signals have come, and are told of in this poll phase.
    are_due: bool,
    /// What of the queue is still to be told in this phase, once that has begun.
    left: Option<usize>,
    /// The one-shot handle whose callback runs.
    telling: Option<Key>,
}

impl Default for Signals {
    fn default() -> Self {
        let (watchers, caught) = (Vec::new(), VecDeque::new());
        Signals { handles: Slab::new(), watchers, caught, is_behind: false, are_due: false, left: None, telling: None }
    }
}

impl Signals {
    /// True if the handle is to be told of something, or to be passed over.
    pub(crate) fn owes(&self, state: u32) -> bool {
        self.handles[state].owed > 0
    }

    /// True if signals are told of in this poll phase.
    pub(crate) fn are_due(&self) -> bool {
        self.are_due
    }

    pub(crate) fn remove(&mut self, state: u32) {
        self.handles.remove(state);
    }

    /// Room for one watcher more, and for one signal that all of them hear of: so it is told however short memory is then.
    fn reserve(&mut self) -> Result<()> {
        // One for each handle, the new one among them, and one for the core itself.
        let needed = self.handles.bound() + 2;
        self.watchers.try_reserve(needed.saturating_sub(self.watchers.len()))?;
        self.caught.try_reserve(needed.saturating_sub(self.caught.len()))?;
        Ok(())
    }

    /// How all but this one watch a signal.
    fn how_others_watch(&self, key: Key, number: i32) -> Watching {
        let mut how = Watching::No;
        for watcher in self.watchers.iter().filter(|watcher| watcher.number == number && watcher.key != key) {
            if !watcher.once {
                return Watching::Always;
            }
            how = Watching::Once;
        }
        how
    }

    /// Hands a signal on to all who watch it: first those who do so for good. There is room.
    fn hand_on(&mut self, number: i32) {
        for once in [false, true] {
            let is_one = |watcher: &&Watcher| watcher.number == number && watcher.once == once;
            for &Watcher { key, .. } in self.watchers.iter().filter(is_one) {
                self.caught.push_back(Caught { number, key });
            }
        }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new signal handle, stopped.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_signal_init")]
    pub fn signal_init(&mut self, user: U) -> Result<Key> {
        self.slots.reserve()?;
        self.signals.reserve()?;
        let state = self.signals.handles.insert(Signal::default())?;
        Ok(self.add_handle(Kind::Signal, state, user))
    }

    /// Waits for a signal, in place of the one that the handle waits for so far. [`Event::Signal`] comes once for each time
    /// that the process catches it; with `once` for the first time only, and then it is stopped. Any number of handles, of
    /// any number of loops, may wait for the same one. They hear of it in the order in which they were started, those with
    /// `once` after the others.
    ///
    /// # Errors
    /// EINVAL when closing, for a number that is no signal, for SIGKILL and SIGSTOP; ENOMEM. The handle stays as it was.
    #[doc(alias = "uv_signal_start")]
    #[doc(alias = "uv_signal_start_oneshot")]
    pub fn signal_start(&mut self, key: Key, number: i32, once: bool) -> Result<()> {
        let index = self.open_handle(key, Kind::Signal)?;
        self.catch_up();
        let state = self.slots[index].state;
        let Signal { number: before, once: was_once, .. } = self.signals.handles[state];
        let others = self.signals.how_others_watch(key, number);
        let how = if once && others != Watching::Always { Watching::Once } else { Watching::Always };
        self.kernel.watch_signal(number, how)?;
        if self.signals.telling == Some(key) {
            self.signals.telling = None;
        }
        if (before, was_once) == (number, once) {
            return Ok(());
        }
        self.stop_watching(key, before, number);
        self.signals.watchers.push(Watcher { number, once, key });
        let signal = &mut self.signals.handles[state];
        (signal.number, signal.once) = (number, once);
        self.set_active(index);
        Ok(())
    }

    /// Stops a signal handle: it hears no more, not even of what was caught before, unless it is started again for the same
    /// number. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_signal_stop")]
    pub fn signal_stop(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::Signal)?;
        self.stop_signal(index);
        Ok(())
    }

    /// The number that a signal handle waits for, 0 while it is stopped.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    pub fn signal_number(&self, key: Key) -> Result<i32> {
        let index = self.slots.find_kind(key, Kind::Signal)?;
        Ok(self.signals.handles[self.slots[index].state].number)
    }

    pub(crate) fn close_signal(&mut self, index: u32) {
        self.stop_signal(index);
    }

    fn stop_signal(&mut self, index: u32) {
        let (key, state) = (self.slots.key(index), self.slots[index].state);
        let number = self.signals.handles[state].number;
        if number != 0 {
            self.catch_up();
            self.signals.handles[state].number = 0;
            self.stop_watching(key, number, 0);
            self.set_inactive(index);
        }
    }

    /// Takes a watcher away; the kernel hears of it, unless it is told of `next` anyway.
    fn stop_watching(&mut self, key: Key, number: i32, next: i32) {
        self.signals.watchers.retain(|watcher| watcher.key != key || watcher.number != number);
        if number != 0 && number != next {
            // That less is wanted cannot fail.
            let _ = self.kernel.watch_signal(number, self.signals.how_others_watch(key, number));
        }
    }

    /// Has the core itself hear of a signal, without a handle. It is before the handles that are started later.
    ///
    /// # Errors
    /// As [`Core::signal_start`].
    pub(crate) fn hear_signal(&mut self, number: i32) -> Result<()> {
        self.unhear_signal(number);
        self.signals.reserve()?;
        self.kernel.watch_signal(number, Watching::Always)?;
        self.signals.watchers.push(Watcher { number, once: false, key: Key::default() });
        Ok(())
    }

    /// The core itself does not hear of a signal any more.
    pub(crate) fn unhear_signal(&mut self, number: i32) {
        self.catch_up();
        self.stop_watching(Key::default(), number, 0);
    }

    /// Hands on what has come by now: who hears of what is about to change.
    fn catch_up(&mut self) {
        self.hand_on_signals();
        if !self.signals.caught.is_empty() && !self.signals.are_due {
            self.have_mailbox_opened();
        }
    }

    /// Hands on what has come. What there is no memory for stays with the kernel until those before it are told: there is
    /// always room for one.
    fn hand_on_signals(&mut self) {
        self.signals.is_behind = false;
        loop {
            if self.signals.caught.try_reserve(self.signals.watchers.len()).is_err() {
                self.signals.is_behind = true;
                self.have_mailbox_opened();
                return;
            }
            let Some(number) = self.kernel.next_signal() else { return };
            let before = self.signals.caught.len();
            self.signals.hand_on(number);
            for nth in before..self.signals.caught.len() {
                let key = self.signals.caught[nth].key;
                if let Ok(index) = self.slots.find_kind(key, Kind::Signal) {
                    self.signals.handles[self.slots[index].state].owed += 1;
                }
            }
        }
    }

    /// Signals are told of in this poll phase, if any have come by now.
    pub(crate) fn look_for_signals(&mut self) {
        if self.kernel.signals_have_come() || !self.signals.caught.is_empty() || self.signals.is_behind {
            self.signals.are_due = true;
            self.poll.care = Care::Look;
        }
    }

    /// The next signal to be told of, when all else of the batch is worked off.
    #[inline]
    pub(crate) fn next_signal(&mut self) -> Option<Event<U>> {
        if self.signals.are_due { self.next_caught() } else { None }
    }

    #[cold]
    fn next_caught(&mut self) -> Option<Event<U>> {
        let left = match self.signals.left {
            Some(left) => left,
            None => {
                self.hand_on_signals();
                // The turn goes on after this: no other wait, however full the batch was.
                (self.poll.batches, self.poll.events) = (0, self.poll.events.max(1));
                self.signals.caught.len()
            }
        };
        self.end_one_shot();
        for left in (0..left).rev() {
            self.signals.left = Some(left);
            let Some(caught) = self.signals.caught.pop_front() else { break };
            if let Some(event) = self.tell_caught(caught) {
                return Some(event);
            }
        }
        (self.signals.are_due, self.signals.left) = (false, None);
        if !self.signals.caught.is_empty() {
            // It came meanwhile, and is for the next turn.
            self.have_mailbox_opened();
        }
        None
    }

    fn tell_caught(&mut self, Caught { number, key }: Caught) -> Option<Event<U>> {
        if key == Key::default() {
            // The core hears of no other than SIGCHLD.
            self.look_after_unwatched();
            return self.next_exit();
        }
        let index = self.slots.find_kind(key, Kind::Signal).ok()?;
        let signal = &mut self.signals.handles[self.slots[index].state];
        signal.owed -= 1;
        // It may have been stopped, or wait for another one by now.
        if signal.number != number {
            return None;
        }
        if signal.once {
            self.signals.telling = Some(key);
        }
        Some(Event::Signal { key, user: self.slots[index].user, number })
    }

    /// The callback of a one-shot handle is over. If that has not started it anew, it is stopped. The next event comes after
    /// this in any case; it is for a front whose user sees the handle before that.
    pub fn end_one_shot(&mut self) {
        if let Some(key) = self.signals.telling.take()
            && let Ok(index) = self.slots.find_kind(key, Kind::Signal)
        {
            self.stop_signal(index);
        }
    }

    /// What is left to be told is for the next poll phase.
    pub(crate) fn abandon_signals(&mut self) {
        self.end_one_shot();
        self.signals.left = None;
        if self.signals.are_due {
            self.have_mailbox_opened();
        }
    }

    /// In a child: what was caught is its parent's.
    pub(crate) fn forget_caught(&mut self) {
        while let Some(Caught { key, .. }) = self.signals.caught.pop_front() {
            if let Ok(index) = self.slots.find_kind(key, Kind::Signal) {
                self.signals.handles[self.slots[index].state].owed -= 1;
            }
        }
    }
}
