//! Telling of writes that have ended, and what comes after the last of them.

use oxuv_os::{Errno, Result};

use crate::buffers::are_given_back;
use crate::kernel::Kernel;
use crate::slots::flag;
use crate::stream::{Stage, StreamFlags};
use crate::turn::Phase;
use crate::write::Write;
use crate::{Buffers, Core, Event, Key};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// What was kept of the write that the last [`Event::Written`] told of; `None` if it had ended with its call, or if there is
    /// nothing to drop of what is kept.
    #[inline]
    pub fn take_buffers(&mut self) -> Option<B> {
        // Mostly there is none, and that needs no more than a look.
        if !self.has_spent {
            return None;
        }
        self.has_spent = false;
        self.spent.take()
    }

    #[cold]
    fn drop_spent(&mut self) {
        drop(self.take_buffers());
    }

    /// Begins to report the writes that have ended by now, with the first of them.
    #[inline]
    pub(crate) fn begin_report(&mut self) -> Option<Event<U>> {
        self.step.reports = self.streams[self.step.state].ended();
        self.step.stage = Stage::Report;
        self.step_report()
    }

    /// Reports the writes that had ended when this began. It goes on if one of the callbacks closes the stream.
    #[inline]
    pub(crate) fn step_report(&mut self) -> Option<Event<U>> {
        if self.step.reports > 0 {
            self.step.reports -= 1;
            return self.report_write(self.step.key, self.step.state);
        }
        // One of the callbacks may have connected anew: then the rest comes after that.
        let stream = &self.streams[self.step.state];
        let is_drained = stream.writes.is_empty() && !stream.is(StreamFlags::CONNECTING);
        self.step.stage = if is_drained { Stage::Drain } else { Stage::None };
        None
    }

    pub(crate) fn step_drain(&mut self) -> Option<Event<U>> {
        self.step.stage = Stage::None;
        let slot = self.step.key.index;
        let is_closing = self.slots[slot].has(flag::CLOSING);
        if !is_closing {
            self.unwant_writing(slot);
        }
        let stream = &mut self.streams[self.step.state];
        let user = stream.take_shutdown()?;
        let result = match &stream.fd {
            Some(fd) if !is_closing => self.kernel.shutdown_write(fd),
            _ => Err(Errno::ECANCELED),
        };
        self.requests -= 1;
        Some(Event::ShutDown { key: self.slots.key(slot), user, result })
    }

    /// Keeps what was kept of a write that is told of now, for [`Core::take_buffers`].
    #[inline(always)] // It is a move.
    pub(crate) fn put_spent(&mut self, buffers: Option<B>) {
        if are_given_back::<B>() {
            (self.has_spent, self.spent) = (buffers.is_some(), buffers);
        }
    }

    /// Reports the write that ended first.
    #[inline]
    pub(crate) fn report_write(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        match self.streams[state].take_sent() {
            Some(user) => {
                self.count_sent();
                Some(Event::Written { key, user, result: Ok(()) })
            }
            None => self.report_done(key, state),
        }
    }

    /// Counts a write of which nothing was kept, and that is told of now.
    #[inline]
    pub(crate) fn count_sent(&mut self) {
        // What nobody has taken of the one before is dropped. Mostly there is none.
        if are_given_back::<B>() && self.has_spent {
            self.drop_spent();
        }
        self.requests -= 1;
    }

    #[inline(never)]
    fn report_done(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        self.take_done(state).map(|(user, result)| Event::Written { key, user, result })
    }

    /// The write that ended first, of those that are in the queue.
    #[inline]
    fn take_done(&mut self, state: u32) -> Option<(U, Result<()>)> {
        let stream = &mut self.streams[state];
        if stream.done.is_empty() {
            return None;
        }
        let Write { user, result, left, buffers, .. } = self.writes.pop_front(&mut stream.done)?;
        stream.queued -= left;
        self.put_spent(buffers);
        self.requests -= 1;
        Some((user, result))
    }

    /// The next event of the run of this number, if it is that the one write of another stream was sent by its call: its
    /// [`Event::Written`] has this user value. For a front that has told of one, since many come one after the other. `None` where
    /// another is to be asked for the next.
    #[inline]
    pub fn next_sent_whole(&mut self, run: u32) -> Option<U> {
        // What is rare is looked at last, and where somebody observes, it is another phase.
        if self.step.stage != Stage::Told || !self.pending.has_next() {
            return None;
        }
        if self.turn.phase != Phase::PendingAfterPoll || self.run() != run { None } else { self.next_only_sent() }
    }

    /// True if the last event told of a write, and the next one tells of the same stream's next, as a rule.
    #[inline]
    pub fn has_more_written(&self) -> bool {
        self.step.stage == Stage::Report && self.step.reports > 0
    }

    /// As [`Core::next_sent_whole`], of the same stream, if several of its writes have ended: the result of its [`Event::Written`], too.
    #[inline]
    pub fn next_written(&mut self, run: u32) -> Option<(U, Result<()>)> {
        if !self.has_more_written() || self.turn.phase != Phase::PendingAfterPoll || self.run() != run {
            return None;
        }
        self.step.reports -= 1;
        self.take_done(self.step.state)
    }

    /// Ends the writes that were not sent, for a stream that is closed.
    pub(crate) fn cancel_writes(&mut self, state: u32) {
        let stream = &mut self.streams[state];
        while let Some(write) = self.writes.move_front(&mut stream.writes, &mut stream.done) {
            write.result = Err(Errno::ECANCELED);
        }
    }
}
