//! Looking at a file again and again, on a thread of the pool, for file systems that do not tell of changes.
//!
//! Each start is a series of looks: one at once, whose finding is what later ones are compared with, and then one an
//! interval. Between two looks a timer runs that is nobody's handle. A look that is under way when its series is stopped
//! comes back all the same, so a handle is not closed before its last one has.

use std::ffi::{CStr, CString};
use std::sync::{Mutex, PoisonError};

use oxuv_os::fs::{Metadata, metadata};
use oxuv_os::{Errno, Result, Shared};

use crate::job::Asker;
use crate::kernel::{Job, Kernel};
use crate::slots::{List, PHASE, flag};
use crate::timer::Timer;
use crate::{Buffers, Core, Event, Key, Kind, Lane};

/// A look at a file: a job of the core's own.
#[derive(Debug)]
pub struct Look {
    path: CString,
    found: Mutex<Result<Metadata>>,
}

impl Look {
    fn new(path: CString) -> Result<Shared<Look>> {
        Shared::new(Look { path, found: Mutex::new(Err(Errno::EAGAIN)) })
    }

    /// What is looked at.
    #[cfg(any(test, feature = "sim"))]
    pub(crate) fn path(&self) -> &CStr {
        &self.path
    }

    /// This was found.
    pub(crate) fn find(&self, found: Result<Metadata>) {
        // Nothing panics with the lock held.
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    fn take(&self) -> Result<Metadata> {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same look may be taken again when it has come back.
impl Job for Shared<Look> {
    fn run(&mut self) {
        self.find(metadata(&self.path));
    }
}

impl From<Shared<Look>> for Box<dyn Job> {
    fn from(look: Shared<Look>) -> Self {
        Box::new(look)
    }
}

/// What a file was when it was last seen, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsChange {
    /// `None` if it has not been seen since the start.
    pub previous: Option<Metadata>,
    /// `None` if it cannot be looked at now.
    pub current: Option<Metadata>,
}

/// What the looks of a series have found so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Finding {
    #[default]
    Nothing,
    /// This error, which was told.
    Failed(Errno),
    Found,
}

#[derive(Debug, Default)]
pub(crate) struct FsPoll {
    /// The look of the series under way.
    look: Option<Shared<Look>>,
    /// Between two looks.
    pub(crate) timer: u32,
    interval: u64,
    /// When the last look began, by the loop's time.
    since: u64,
    finding: Finding,
    seen: Option<Metadata>,
    /// What was last told.
    change: Option<FsChange>,
    /// The series that have begun.
    starts: u32,
    /// The looks of all series that have not come back.
    under_way: u32,
    /// A series has ended. In libuv its timer is closed then, which is a handle: until the next pass of closing the loop is alive,
    /// and this handle is closed after it.
    is_ending: bool,
}

/// Whether a file is still the same, by what libuv compares. Reading it, or giving it another name, is no change.
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    let facts = |of: &Metadata| {
        let times = (of.changed, of.modified, of.created);
        (times, of.size, of.mode, of.uid, of.gid, of.ino, of.dev)
    };
    facts(a) == facts(b)
}

/// A copy of a path.
pub(crate) fn owned(path: &CStr) -> Result<CString> {
    let bytes = path.to_bytes_with_nul();
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len())?;
    copy.extend_from_slice(bytes);
    CString::from_vec_with_nul(copy).map_err(|_| Errno::EINVAL)
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new handle to look at a file with, stopped.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_fs_poll_init")]
    pub fn fs_poll_init(&mut self, user: U) -> Result<Key> {
        self.slots.reserve()?;
        self.fs_polls.reserve()?;
        let timer = self.timers.insert(Timer::default())?;
        let state = self.fs_polls.insert(FsPoll { timer, ..FsPoll::default() })?;
        Ok(self.add_handle(Kind::FsPoll, state, user))
    }

    /// Looks at what is at a path every `interval` nanoseconds, which is not 0: on a thread, the first time at once.
    /// Started is started: again does nothing, and this is false. The path need not exist.
    ///
    /// # Errors
    /// EINVAL when closing, or for an interval of 0; EAGAIN when there is no thread; ENOMEM.
    #[doc(alias = "uv_fs_poll_start")]
    pub fn fs_poll_start(&mut self, key: Key, path: &CStr, interval: u64) -> Result<bool> {
        let index = self.open_handle(key, Kind::FsPoll)?;
        if interval == 0 {
            return Err(Errno::EINVAL);
        }
        if self.slots[index].has(flag::ACTIVE) {
            return Ok(false);
        }
        let look = Look::new(owned(path)?)?;
        let (state, since) = (self.slots[index].state, self.time);
        let poll = &mut self.fs_polls[state];
        poll.starts = poll.starts.wrapping_add(1);
        poll.look = Some(look);
        if let Err(error) = self.submit_look(key, state) {
            self.fs_polls[state].look = None;
            return Err(error);
        }
        let poll = &mut self.fs_polls[state];
        (poll.interval, poll.since, poll.finding) = (interval, since, Finding::Nothing);
        (poll.seen, poll.change) = (None, None);
        // The series before needs no pass of closing any more; this one's timer is to be due, and may have to end.
        poll.is_ending = false;
        self.slots.unlink::<PHASE>(index);
        self.set_active(index);
        Ok(true)
    }

    /// Stops looking. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_fs_poll_stop")]
    pub fn fs_poll_stop(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::FsPoll)?;
        if !self.slots[index].has(flag::CLOSING) {
            self.stop_fs_poll(index);
            self.set_inactive(index);
        }
        Ok(())
    }

    /// The path that is looked at, as it was given.
    ///
    /// # Errors
    /// EINVAL when it is not started.
    #[doc(alias = "uv_fs_poll_getpath")]
    pub fn fs_poll_path(&self, key: Key) -> Result<&CStr> {
        let index = self.slots.find_kind(key, Kind::FsPoll)?;
        let look = self.fs_polls[self.slots[index].state].look.as_ref().ok_or(Errno::EINVAL)?;
        Ok(&look.path)
    }

    /// What [`Event::FsPoll`] has last told of.
    pub fn fs_poll_change(&self, key: Key) -> Option<FsChange> {
        let index = self.slots.find_kind(key, Kind::FsPoll).ok()?;
        self.fs_polls[self.slots[index].state].change
    }

    /// Ends the series under way. Its look may still be.
    pub(crate) fn stop_fs_poll(&mut self, index: u32) {
        let poll = &mut self.fs_polls[self.slots[index].state];
        self.timers.heap.remove(poll.timer);
        let (was_started, is_idle) = (poll.look.take().is_some(), poll.under_way == 0);
        if was_started {
            // It may be due in the pass under way. It is not ending, as it was started.
            self.slots.unlink::<PHASE>(index);
        }
        if was_started && is_idle {
            self.end_series(index);
        }
    }

    fn end_series(&mut self, index: u32) {
        if !std::mem::replace(&mut self.fs_polls[self.slots[index].state].is_ending, true) {
            self.slots.push_front(List::Closing, index);
        }
    }

    /// A handle that was stopped is to be closed: now, or when its last look and series have ended.
    pub(crate) fn close_fs_poll(&mut self, index: u32) {
        let poll = &self.fs_polls[self.slots[index].state];
        if poll.under_way == 0 && !poll.is_ending {
            self.slots.push_front(List::Closing, index);
        }
    }

    /// Whether a pass of closing has come to the end of a series only.
    pub(crate) fn has_ended_series(&mut self, state: u32) -> bool {
        std::mem::take(&mut self.fs_polls[state].is_ending)
    }

    pub(crate) fn remove_fs_poll(&mut self, state: u32) {
        let poll = self.fs_polls.remove(state);
        self.timers.timers.remove(poll.timer);
    }

    fn submit_look(&mut self, key: Key, state: u32) -> Result<()> {
        let poll = &self.fs_polls[state];
        let (start, look) = (poll.starts, poll.look.clone().ok_or(Errno::EINVAL)?);
        self.submit_for(Asker::FsPoll { key, start }, Lane::FastIo, look.into()).map_err(|refused| refused.error)?;
        self.fs_polls[state].under_way += 1;
        Ok(())
    }

    /// The timer between two looks is due.
    pub(crate) fn look_again(&mut self, index: u32) -> Option<Event<U>> {
        let state = self.slots[index].state;
        self.fs_polls[state].since = self.time;
        match self.submit_look(self.slots.key(index), state) {
            Ok(()) => None,
            Err(error) => {
                self.wait_for_look(index);
                self.found(index, Err(error))
            }
        }
    }

    /// A look is over. True if it was of the series under way, false if of an earlier one, or the handle is being closed.
    fn end_look(&mut self, key: Key, start: u32) -> bool {
        let poll = &mut self.fs_polls[self.slots[key.index].state];
        poll.under_way -= 1;
        let is_of_series = poll.starts == start && poll.look.is_some();
        if poll.look.is_none() && poll.under_way == 0 {
            self.end_series(key.index);
        }
        is_of_series
    }

    /// A look has come back: of the series under way or of an earlier one. Until its callback has returned it is under way, as in
    /// libuv.
    #[inline(never)]
    pub(crate) fn looked(&mut self, key: Key, start: u32, result: Result<()>) -> Option<Event<U>> {
        self.end_told_look();
        self.jobs.told_look = Some((key, start));
        let poll = &self.fs_polls[self.slots[key.index].state];
        let look = poll.look.as_ref().filter(|_| poll.starts == start);
        let found = look.map(|look| result.and_then(|()| look.take()));
        let event = found.and_then(|found| self.found(key.index, found));
        if event.is_none() {
            self.end_told_look();
        }
        event
    }

    /// The callback has returned: the series goes on, or ends.
    pub(crate) fn end_told_look(&mut self) {
        if let Some((key, start)) = self.jobs.told_look.take()
            && self.end_look(key, start)
        {
            self.wait_for_look(key.index);
        }
    }

    /// In a child: a look is its parent's, and with it the lock in there, which may be held for ever. A new one is taken.
    pub(crate) fn lose_look(&mut self, key: Key, start: u32) {
        if !self.end_look(key, start) {
            return;
        }
        let poll = &mut self.fs_polls[self.slots[key.index].state];
        if let Some(look) = &poll.look {
            poll.look = owned(&look.path).and_then(Look::new).ok();
            if poll.look.is_some() {
                let timer = poll.timer;
                self.start_hidden(key.index, timer, 0);
            } else {
                self.set_inactive(key.index);
            }
        }
    }

    /// Lets the timer run until the next look.
    fn wait_for_look(&mut self, index: u32) {
        let poll = &self.fs_polls[self.slots[index].state];
        let (timer, interval) = (poll.timer, poll.interval);
        let late = self.time.saturating_sub(poll.since) % interval;
        self.start_hidden(index, timer, interval - late);
    }

    /// Compares with what was found before.
    fn found(&mut self, index: u32, found: Result<Metadata>) -> Option<Event<U>> {
        let (key, user, state) = (self.slots.key(index), self.slots[index].user, self.slots[index].state);
        let poll = &mut self.fs_polls[state];
        let before = std::mem::replace(&mut poll.finding, found.map_or_else(Finding::Failed, |_| Finding::Found));
        let is_news = match found {
            Err(error) => before != Finding::Failed(error),
            Ok(now) => match before {
                Finding::Nothing => false,
                Finding::Failed(_) => true,
                Finding::Found => poll.seen.is_none_or(|seen| !is_same(&seen, &now)),
            },
        };
        if is_news {
            poll.change = Some(FsChange { previous: poll.seen, current: found.ok() });
        }
        poll.seen = found.ok().or(poll.seen);
        is_news.then_some(Event::FsPoll { key, user, result: found.map(|_| ()) })
    }
}
