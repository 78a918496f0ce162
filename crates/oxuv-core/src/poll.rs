//! The poll phase: waiting for events, and working them off in the kernel's order.

use oxuv_os::Errno;

use crate::kernel::{BATCH, CHANGES, Kernel, Ready, WAKE};
use crate::slots::{List, Slot};
use crate::stream::Stage;
use crate::turn::Phase;
use crate::{Buffers, Core, Event, Key, Kind};

/// What a poll phase has to do besides to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Care {
    /// Nothing.
    #[default]
    None,
    /// The idle time is to be measured.
    Measure,
    /// To look for all that there may be.
    Look,
}

#[derive(Debug, Default)]
pub(crate) struct Poll {
    /// The batch's size, and what of it is worked off.
    pub(crate) len: usize,
    at: usize,
    /// Events of the batch that concerned somebody.
    pub(crate) events: usize,
    /// How often a full batch may still be followed by another.
    pub(crate) batches: u8,
    /// The clock's time until which this phase waits; `None` is for ever.
    deadline: Option<u64>,
    /// There may be something to do besides to wait. Whatever is to be done sets it, so that turns that have nothing look
    /// at this alone; it is reckoned anew by the phase that has looked at all.
    pub(crate) care: Care,
    /// The mailbox may be open, or there may be changes of files: what comes before the batch. Whatever opens it, or finds some, sets
    /// it, so that a batch of nothing but readiness looks at this alone.
    pub(crate) has_others: bool,
    /// The front has work of its own to do: the next wait is none.
    skips_wait: bool,
    /// Why the kernel can wait no more.
    pub(crate) fault: Option<Errno>,
}

impl Poll {
    /// True if the phase has to look for all that there may be.
    #[inline]
    pub(crate) fn has_to_look(&self) -> bool {
        self.care == Care::Look
    }

    /// The batch under way is of no use: what it says has been seen to.
    pub(crate) fn forget_batch(&mut self) {
        (self.at, self.len) = (0, 0);
    }
}

/// What a wait has brought.
pub(crate) enum Come<U> {
    /// First of all, that this stream is to be read.
    Read(Key, U),
    /// Something else, or nothing: then false.
    Others(bool),
}

/// A full batch is followed by another at once, so often in a row.
const BATCHES: u8 = 48;

/// The longest wait while something is to be tried again: 10 milliseconds.
const RETRY: u64 = 10_000_000;

/// The longest wait: 2^31-1 milliseconds.
const LONGEST: u64 = i32::MAX as u64 * 1_000_000;

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// How long the poll phase waits when it begins now, in nanoseconds; `None` is for ever.
    #[inline(always)] // Of its two callers one is in every turn.
    pub(crate) fn poll_timeout(&mut self) -> Option<u64> {
        let has_work = self.turn.stop
            || !self.waits_for_something()
            || !self.pending.is_empty()
            || !self.slots.are_empty(List::Idle, List::Closing);
        if has_work {
            return Some(0);
        }
        self.timers.first().map(|first| first.due.saturating_sub(self.now).min(LONGEST))
    }

    /// Begins the phase: tells the kernel what we want to know, and waits. False when nothing came.
    #[inline(always)] // As `Core::advance`.
    pub(crate) fn poll(&mut self, timeout: Option<u64>) -> bool {
        self.turn.count += 1;
        let has_some = self.wait_for_some(timeout);
        if has_some {
            self.enter(Phase::Poll);
        }
        has_some
    }

    /// As [`Core::poll`], for as long as it takes. What comes first is to be read, as a rule: that is seen at once here, without a look
    /// at what may be under way.
    #[inline(always)] // As `Core::advance`.
    pub(crate) fn poll_for_read(&mut self) -> Come<U> {
        self.turn.count += 1;
        self.prepare_to_wait();
        if self.poll.care != Care::None {
            let has_some = self.poll_with_care(None);
            if has_some {
                self.enter(Phase::Poll);
            }
            return Come::Others(has_some);
        }
        self.wait_without_care(None);
        if self.poll.len == 0 {
            return Come::Others(false);
        }
        self.enter(Phase::Poll);
        debug_assert!(self.step.stage == Stage::None && !self.mailbox.is_open() && !self.watches.has_changes);
        match self.begin_read(0) {
            Some((key, user)) => Come::Read(key, user),
            None => Come::Others(true),
        }
    }

    #[inline(always)] // As `poll`.
    fn wait_for_some(&mut self, timeout: Option<u64>) -> bool {
        self.prepare_to_wait();
        if self.poll.care != Care::None {
            return self.poll_with_care(timeout);
        }
        self.wait_without_care(timeout);
        self.poll.len > 0
    }

    #[inline(always)] // As `poll`.
    fn prepare_to_wait(&mut self) {
        self.flush_writes();
        self.sync();
        self.poll.batches = BATCHES;
    }

    #[inline(always)] // As `poll`.
    fn wait_without_care(&mut self, timeout: Option<u64>) {
        debug_assert!(!self.must_look());
        self.set_deadline(timeout);
        self.wait_now(timeout);
    }

    /// True if there is something to do besides to wait, and to measure that.
    fn must_look(&self) -> bool {
        let has_some = self.watches.must_look_after() || self.processes.have_ended();
        has_some || self.mailbox.needs_a_look() || self.is_observed()
    }

    /// As [`Core::wait_for_some`], when there is more to it than to wait.
    #[inline(never)]
    fn poll_with_care(&mut self, timeout: Option<u64>) -> bool {
        if self.poll.has_to_look() {
            return self.poll_and_look(timeout);
        }
        self.set_deadline(timeout);
        if self.counts.looks_before {
            self.wait_measured(timeout)
        } else {
            self.wait_unobserved(timeout)
        }
        self.poll.len > 0
    }

    /// As [`Core::wait_for_some`], when it has to look for all that there may be.
    #[cold]
    fn poll_and_look(&mut self, mut timeout: Option<u64>) -> bool {
        let must_retry = !self.watches.retries.is_empty();
        if must_retry {
            // The clock was not read for a wait that was to last.
            self.update_time();
            timeout = Some(timeout.unwrap_or(RETRY).min(RETRY));
        }
        if self.has_to_tell() {
            timeout = Some(0);
        }
        self.poll.skips_wait = false;
        if self.processes.have_ended() {
            // Those born before them have ended, too, perhaps.
            self.look_after_unwatched();
        }
        self.go_on_with_changes();
        self.set_deadline(timeout);
        if self.counts.looks_before {
            self.wait_measured(timeout)
        } else {
            self.wait(timeout)
        }
        if must_retry {
            self.mark_retries();
        }
        if self.mailbox.needs_a_look() {
            self.open_mailbox();
        }
        self.poll.care = match self.counts.measures_idle {
            _ if self.must_look() || self.signals.are_due() => Care::Look,
            true => Care::Measure,
            false => Care::None,
        };
        self.poll.len > 0 || self.mailbox.is_open() || self.watches.must_tell() || self.processes.have_ended()
    }

    /// True if there is something to tell of, whatever the kernel says.
    pub(crate) fn has_to_tell(&self) -> bool {
        let has_some = self.watches.must_tell() || self.processes.have_ended();
        has_some || self.mailbox.needs_a_look() || self.poll.skips_wait
    }

    /// Has the next poll phase look for events without waiting: for a front that has something to do besides.
    pub fn skip_wait(&mut self) {
        self.poll.skips_wait = true;
        self.poll.care = Care::Look;
    }

    /// Has the mailbox opened in the next poll phase although nobody rings.
    pub(crate) fn have_mailbox_opened(&mut self) {
        self.mailbox.look_again();
        self.poll.care = Care::Look;
    }

    #[inline]
    fn set_deadline(&mut self, timeout: Option<u64>) {
        self.poll.deadline = timeout.map(|timeout| self.now.saturating_add(timeout));
    }

    /// The next event of the batch under way, or of another one where that is called for.
    #[inline(always)] // As `Core::advance`.
    pub(crate) fn next_ready(&mut self) -> Option<Event<U>> {
        loop {
            if self.step.stage != Stage::None
                && let Some(event) = self.next_step()
            {
                return Some(event);
            }
            if self.poll.has_others {
                if self.mailbox.is_open()
                    && let Some(event) = self.next_async()
                {
                    return Some(event);
                }
                if self.watches.has_changes
                    && let Some(event) = self.next_change()
                {
                    return Some(event);
                }
                // Those that this turn does not come to are for the next one.
                self.poll.has_others = self.watches.has_changes;
            }
            debug_assert!(!self.mailbox.is_open());
            if self.poll.at < self.poll.len {
                let ready = self.kernel.ready(self.poll.at);
                self.poll.at += 1;
                if let Some(event) = self.dispatch(ready) {
                    return Some(event);
                }
            } else if self.poll.has_to_look()
                && let Some(event) = self.next_of_the_last()
            {
                return Some(event);
            } else if !self.wait_again() {
                return None;
            }
        }
    }

    /// The next event of the run of this number, if it is of the batch under way, and that a stream is to be read: as
    /// [`Event::NeedBuffer`] of this key. For a front that has answered one, since many come one after the other. `None` where another
    /// is to be asked for the next.
    #[inline]
    pub fn next_to_read(&mut self, run: u32) -> Option<(Key, U)> {
        if self.poll.at >= self.poll.len || self.run() != run || self.turn.phase != Phase::Poll {
            return None;
        }
        if self.step.stage != Stage::None || self.poll.has_others {
            return None;
        }
        self.begin_read(self.poll.at)
    }

    /// Begins with the event of the batch that is next, at this place, if that is that a stream is to be read: the usual case.
    #[inline(always)] // As `Core::advance`.
    fn begin_read(&mut self, at: usize) -> Option<(Key, U)> {
        let Ready { token, readiness } = self.kernel.ready(at);
        let key = Key::from_u64(token);
        let &Slot { kind, state, user, .. } = self.slots.get(key)?;
        if !kind.is_stream() || !self.begin_reading(key, state, readiness) {
            return None;
        }
        self.poll.at = at + 1;
        Some((key, user))
    }

    /// What is told when all else of a batch is worked off.
    #[cold]
    fn next_of_the_last(&mut self) -> Option<Event<U>> {
        self.next_failed_poll().or_else(|| self.next_exit()).or_else(|| self.next_signal())
    }

    /// Waits once more where that is called for: after a full batch, or when no event concerned anybody and there is
    /// time left. False when the phase is over.
    #[inline(always)] // As `Core::advance`.
    fn wait_again(&mut self) -> bool {
        let events = std::mem::take(&mut self.poll.events);
        self.counts.add(events);
        // All of the batch is worked off.
        let len = self.poll.at;
        if events == 0 {
            return len > 0 && self.wait_for_the_rest();
        }
        len == BATCH && self.wait_for_more()
    }

    /// The batch was full: there may be more.
    #[cold]
    fn wait_for_more(&mut self) -> bool {
        if self.poll.batches <= 1 {
            return false;
        }
        self.poll.batches -= 1;
        self.flush_writes();
        self.poll.deadline = Some(0);
        self.wait(Some(0));
        self.poll.len > 0
    }

    /// No event of the batch has concerned anybody: waits for the rest of the time.
    #[cold]
    fn wait_for_the_rest(&mut self) -> bool {
        let left = self.poll.deadline.map(|deadline| deadline.saturating_sub(self.now));
        if left == Some(0) {
            return false;
        }
        // What came was for nobody any more; let the kernel know, or it says so again.
        self.sync();
        if !self.watches.retries.is_empty() {
            // Only the next phase waits as briefly as a retry needs.
            return false;
        }
        self.wait(left);
        self.poll.len > 0
    }

    /// As [`Core::wait`], and sees whether events were there before.
    #[inline(never)]
    fn wait_measured(&mut self, timeout: Option<u64>) {
        let is_observed = self.is_observed();
        if is_observed {
            self.wait_observed(Some(0))
        } else {
            self.wait_now(Some(0))
        }
        self.counts.were_waiting = self.poll.len > 0;
        if self.poll.len > 0 || timeout == Some(0) || self.poll.fault.is_some() {
            return;
        }
        if is_observed {
            self.wait_observed(timeout);
        } else {
            // That look has just read the clock.
            self.wait_idle(timeout, self.now);
        }
    }

    /// Waits up to `timeout` nanoseconds, over interruptions by signal handlers, and measures it where that is wanted.
    fn wait(&mut self, timeout: Option<u64>) {
        if self.is_observed() {
            return self.wait_observed(timeout);
        }
        self.wait_unobserved(timeout);
    }

    fn wait_unobserved(&mut self, timeout: Option<u64>) {
        if self.counts.measures_idle && timeout != Some(0) {
            // The loop's time is that of before this turn's callbacks.
            self.wait_idle(timeout, self.kernel.now());
        } else {
            self.wait_now(timeout);
        }
    }

    /// Waits, and measures that; it is `now`.
    #[inline(never)] // A loop that is busy hardly ever comes here.
    fn wait_idle(&mut self, timeout: Option<u64>, now: u64) {
        self.counts.begin_idle(now);
        self.wait_now(timeout);
        self.counts.end_idle(self.now);
    }

    #[inline(always)] // Of its callers one is in every turn.
    pub(crate) fn wait_now(&mut self, timeout: Option<u64>) {
        self.poll.at = 0;
        match self.kernel.wait(timeout) {
            Ok(len) => {
                self.poll.len = len;
                self.update_time();
            }
            Err(error) => self.wait_failed(timeout, error),
        }
    }

    /// After an interruption: waits for the rest of the time. Any other error ends the run.
    #[cold]
    fn wait_failed(&mut self, mut timeout: Option<u64>, mut error: Errno) {
        self.update_time();
        self.poll.len = 0;
        while error == Errno::EINTR {
            if timeout == Some(0) {
                return;
            }
            timeout = self.poll.deadline.map(|deadline| deadline.saturating_sub(self.now));
            let waited = self.kernel.wait(timeout);
            self.update_time();
            match waited {
                Ok(len) => return self.poll.len = len,
                Err(again) => error = again,
            }
        }
        self.poll.fault = Some(error);
        self.poll.care = Care::Look;
    }

    /// Begins to work off one event; it may return the first of its events at once.
    #[inline(always)] // As `Core::advance`.
    fn dispatch(&mut self, Ready { token, readiness }: Ready) -> Option<Event<U>> {
        let key = Key::from_u64(token);
        match self.slots.get(key) {
            Some(&Slot { kind, state, user, .. }) if kind.is_stream() => self.begin_step(key, state, user, readiness),
            Some(&Slot { kind: Kind::Poll, .. }) => self.ready_to_poll(key, readiness),
            Some(&Slot { kind: Kind::Udp, state, .. }) => self.begin_udp_step(key, state, readiness),
            Some(&Slot { kind: Kind::Process, .. }) => self.ready_to_exit(key.index),
            Some(_) => None,
            None => {
                if token == WAKE {
                    self.poll.events += 1;
                    self.open_mailbox();
                } else if token == CHANGES {
                    self.poll.events += 1;
                    self.begin_changes();
                }
                // Any other was closed since.
                None
            }
        }
    }

    /// A handle is ready for what it does not want to know of; or it wants to know of nothing, and the kernel learns it.
    #[cold]
    pub(crate) fn not_wanted(&mut self, index: u32) -> Option<Event<U>> {
        if self.watch_mut(index).wanted.is_empty() {
            self.unwatch(index);
        }
        None
    }

    /// Forgets what is left of the batch: what is still ready, the next wait says again.
    pub(crate) fn forget_batch(&mut self) {
        for nth in self.poll.at..self.poll.len {
            let Ready { token, .. } = self.kernel.ready(nth);
            self.tell_again(Key::from_u64(token));
        }
        self.poll.forget_batch();
    }

    /// As [`Core::forget_batch`], with all that goes on with it.
    pub(crate) fn abandon_poll(&mut self) {
        // A wake-up among them is not said again.
        self.mailbox.abandon(self.poll.at < self.poll.len);
        self.poll.care = Care::Look;
        self.abandon_signals();
        self.forget_batch();
        self.counts.add(std::mem::take(&mut self.poll.events));
    }
}
