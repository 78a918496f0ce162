//! Watching descriptors and waiting for them.

use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Acquire};

use oxuv_os::{Errno, Result};

use super::connection::News;
use super::note::Note;
use super::world::World;
use super::{Fault, Sim};
use crate::kernel::{BATCH, Readiness, Ready, WAKE};

/// What a wait returns for which nothing can ever happen.
const EDEADLK: Errno = Errno::from_raw(35);
/// What a wait too many returns.
const ELOOP: Errno = Errno::from_raw(40);
/// How many watches of the past are remembered.
const OLD_WATCHES: usize = 64;

#[derive(Debug)]
pub(super) struct Watch {
    token: u64,
    interest: Readiness,
    /// It was ready, and was left out of the last batch.
    is_late: bool,
    /// Of one that tells by edges: what it has told of.
    told: Option<News>,
}

/// A watch of the past.
#[derive(Debug)]
pub(super) struct OldWatch {
    /// The descriptor, while it is open.
    fd: Option<i32>,
    token: u64,
}

impl World {
    pub(super) fn watch(&mut self, fd: i32, token: u64, interest: Readiness, known: bool) -> Result<()> {
        if known != self.watches.contains_key(&fd) {
            self.note(Note::Misused { fd, error: if known { Errno::ENOENT } else { Errno::EEXIST } });
        }
        let result = if !self.is_open(fd) {
            Err(Errno::EBADF)
        } else if self.commits(Fault::NoMemory) {
            Err(Errno::ENOMEM)
        } else {
            Ok(())
        };
        if result.is_ok() {
            self.forget_watch(fd);
            self.watches.insert(fd, Watch { token, interest, is_late: false, told: None });
        }
        self.note(Note::Watched { fd, token, interest, result });
        result
    }

    pub(super) fn unwatch(&mut self, fd: i32) {
        self.forget_watch(fd);
        self.note(Note::Unwatched { fd });
    }

    fn forget_watch(&mut self, fd: i32) {
        if let Some(Watch { token, .. }) = self.watches.remove(&fd) {
            if self.old_watches.len() == OLD_WATCHES {
                self.old_watches.pop_front();
            }
            self.old_watches.push_back(OldWatch { fd: Some(fd), token });
        }
    }

    /// Nothing is watched any more, and nothing is remembered of what was.
    pub(super) fn forget_watches(&mut self) {
        self.watches.clear();
        self.old_watches.clear();
        self.batch.clear();
        self.wake_is_late = false;
    }

    /// The descriptor is closed: its watch is gone, and its number may soon be another's. True if it was watched still.
    pub(super) fn close_watch(&mut self, fd: i32) -> bool {
        let was_watched = self.watches.contains_key(&fd);
        self.forget_watch(fd);
        for old in self.old_watches.iter_mut().filter(|old| old.fd == Some(fd)) {
            old.fd = None;
        }
        was_watched
    }

    /// Fills the batch with what is ready. True if something that is ready was left out.
    fn collect(&mut self, woken: &AtomicBool) -> bool {
        self.batch.clear();
        let mut some_are_late = false;
        if woken.load(Acquire) {
            self.wake_is_late = !self.wake_is_late && self.commits(Fault::Late);
            if self.wake_is_late {
                some_are_late = true;
            } else {
                woken.swap(false, AcqRel);
                self.batch.push(Ready { token: WAKE, readiness: Readiness::READ });
            }
        }
        let mut watches = std::mem::take(&mut self.watches);
        for (&fd, watch) in &mut watches {
            let mut readiness = self.readiness(fd) & (watch.interest | Readiness::ERROR | Readiness::HANG_UP);
            if watch.told == Some(self.news(fd)) {
                readiness = Readiness::empty();
            }
            watch.is_late = !readiness.is_empty() && !watch.is_late && self.commits(Fault::Late);
            if watch.is_late {
                some_are_late = true;
            } else if !readiness.is_empty() {
                self.batch.push(Ready { token: watch.token, readiness });
            }
        }
        self.watches = watches;
        self.add_in_vain();
        if self.commits(Fault::Shuffle) {
            for nth in (1..self.batch.len()).rev() {
                self.batch.swap(nth, self.random.below(nth + 1));
            }
        }
        if self.batch.len() > BATCH {
            // Everybody's turn comes sooner or later.
            let first = self.random.below(self.batch.len());
            self.batch.rotate_left(first);
            self.batch.truncate(BATCH);
        }
        self.note_told();
        some_are_late
    }

    /// What the batch has of those that tell by edges is not told again.
    fn note_told(&mut self) {
        let mut watches = std::mem::take(&mut self.watches);
        for (&fd, watch) in &mut watches {
            let tells_by_edges = watch.interest.contains(Readiness::EDGE);
            if tells_by_edges && !watch.is_late && self.batch.iter().any(|ready| ready.token == watch.token) {
                watch.told = Some(self.news(fd));
            }
        }
        self.watches = watches;
    }

    /// What makes the edges of a connection. Of nothing else they are asked for, but of a socket that is not connected yet.
    fn news(&self, fd: i32) -> News {
        self.connection_of(fd).map_or(News::default(), |number| self.connections[number].news())
    }

    /// Perhaps adds an event that means nothing: for a descriptor that is watched, or was once. Only one that is closed
    /// gets a false error or hang-up, which nobody could tell from a true one.
    fn add_in_vain(&mut self) {
        if !self.commits(Fault::Spurious) {
            return;
        }
        let mut tokens: Vec<_> = self.watches.values().map(|watch| (watch.token, false)).collect();
        tokens.extend(self.old_watches.iter().map(|old| (old.token, old.fd.is_none())));
        let Some(&(token, is_closed)) = self.random.pick(&tokens) else { return };
        let harmless = [Readiness::READ, Readiness::WRITE, Readiness::READ | Readiness::WRITE];
        let readiness = harmless[self.random.below(harmless.len())];
        let false_alarm = Readiness::ERROR | Readiness::HANG_UP;
        self.batch.push(Ready { token, readiness: if is_closed { readiness | false_alarm } else { readiness } });
    }

    /// A signal handler may run first, after a part of the wait.
    fn interrupt(&mut self, timeout: Option<u64>) -> Result<()> {
        if !self.commits(Fault::Interrupt) {
            return Ok(());
        }
        let most = timeout.unwrap_or(u64::MAX).min(1_000_000) as usize;
        let by = self.random.below(most + 1) as u64;
        self.advance(by);
        Err(Errno::EINTR)
    }
}

impl Sim {
    pub(super) fn wait_for_events(&self, timeout: Option<u64>) -> Result<usize> {
        self.carry_out_plans();
        let result = self.count_wait().and_then(|()| self.try_wait(timeout));
        let mut world = self.world.borrow_mut();
        if result.is_err() {
            world.batch.clear();
        }
        let now = world.now;
        world.note(Note::Waited { timeout, now, result });
        for nth in 0..world.batch.len() {
            let ready = world.batch[nth];
            world.note(Note::Reported(ready));
        }
        result
    }

    fn count_wait(&self) -> Result<()> {
        let mut world = self.world.borrow_mut();
        world.waits_left = world.waits_left.checked_sub(1).ok_or(ELOOP)?;
        Ok(())
    }

    fn try_wait(&self, timeout: Option<u64>) -> Result<usize> {
        self.begin_operations();
        // What is due at the end of time never comes. Beyond that is what whoever asks has reckoned from an older time.
        let now = self.world.borrow().now;
        let deadline = timeout.map(|timeout| now.checked_add(timeout).unwrap_or(u64::MAX - 1));
        let comes = |&time: &u64| time < u64::MAX;
        self.world.borrow_mut().interrupt(timeout)?;
        loop {
            self.carry_out_plans();
            let mut world = self.world.borrow_mut();
            let some_are_late = world.collect(&self.waker.0);
            if !world.batch.is_empty() || deadline.is_some_and(|deadline| world.now >= deadline) {
                return Ok(world.batch.len());
            }
            // Nothing happens before the next of these.
            let plan = world.plans.first_key_value().map(|(&(time, _), _)| time);
            let late = some_are_late.then(|| world.now.saturating_add(1 + world.random.below(100_000) as u64));
            let next = [deadline, plan, late].into_iter().flatten().filter(comes).min().ok_or(EDEADLK)?;
            world.now = world.now.max(next);
        }
    }

    /// Does what the outside has planned for the time until now.
    fn carry_out_plans(&self) {
        loop {
            let mut world = self.world.borrow_mut();
            let now = world.now;
            let Some(plan) = world.plans.first_entry().filter(|plan| plan.key().0 <= now) else { return };
            let plan = plan.remove();
            drop(world);
            plan(self);
        }
    }
}
