//! Wakers: what makes a task run again, from any thread.
//!
//! A waker that is used on the loop's thread, while that runs, puts its task into the loop's queue, and that is all: nothing of it is
//! atomic. Anywhere else it puts the task into a queue that threads share, and sends to the loop's [`Async`](crate::Async) handle if that
//! queue was empty: many wakers cost one wake-up.

use std::sync::{Arc, PoisonError};
use std::task::Wake;

use oxuv_os::sync::atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire};
use oxuv_os::sync::{Mutex, MutexGuard};

use super::here;
use crate::Sender;

/// The task was woken elsewhere than on the loop's thread, which has not heard of it yet.
const RUNG: u8 = 1;
/// The task has ended: nobody wakes it any more.
const ENDED: u8 = 2;

/// What the wakers of a task share with the loop.
pub(crate) struct Wakeup {
    state: AtomicU8,
    pub(super) id: Id,
    /// The loop's time when it was spawned.
    pub(super) since: u64,
    bell: Arc<Bell>,
}

/// A task, of all that a loop has had: its place, [`MAIN`] for what the loop blocks on, and its number.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Id {
    pub(super) index: u32,
    pub(super) number: u32,
}

/// The place of the future that [`Loop::block_on`](crate::Loop::block_on) was given.
pub(super) const MAIN: u32 = u32::MAX;

impl Id {
    /// Of a task that never was.
    pub(super) const NOBODY: Id = Id { index: MAIN, number: 0 };
}

impl Wakeup {
    pub(super) fn new(id: Id, since: u64, bell: &Arc<Bell>) -> Arc<Wakeup> {
        Arc::new(Wakeup { state: AtomicU8::new(0), id, since, bell: Arc::clone(bell) })
    }

    /// Of a task that never was.
    pub(super) fn ended(bell: &Arc<Bell>) -> Arc<Wakeup> {
        Arc::new(Wakeup { state: AtomicU8::new(ENDED), id: Id::NOBODY, since: 0, bell: Arc::clone(bell) })
    }

    /// The loop has heard that the task was woken, and is to have it run.
    ///
    /// Whoever has woken it up to now did so before it runs, and what they have written it sees; whoever does so later is heard of
    /// again.
    fn hear(&self) {
        self.state.fetch_and(!RUNG, AcqRel);
    }

    pub(super) fn end(&self) {
        self.state.fetch_or(ENDED, AcqRel);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state.load(Acquire) & ENDED != 0
    }
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        let mut is_here = false;
        here::with(|lp| {
            is_here = Arc::ptr_eq(lp.0.tasks.bell(), &self.bell);
            if is_here {
                lp.0.tasks.wake(&lp.0, self.id);
            }
        });
        if !is_here && self.state.fetch_or(RUNG, AcqRel) == 0 {
            self.bell.push(Arc::clone(self));
        }
    }
}

/// The tasks that were woken elsewhere than on the loop's thread.
#[derive(Default)]
pub(crate) struct Bell(Mutex<Remote>);

#[derive(Default)]
struct Remote {
    queue: Vec<Arc<Wakeup>>,
    /// `None` until the loop has had a task, and when it is gone.
    sender: Option<Sender>,
    is_over: bool,
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, Remote> {
        // Nothing that may panic is done under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, wakeup: Arc<Wakeup>) {
        let mut remote = self.lock();
        if remote.is_over {
            return;
        }
        remote.queue.push(wakeup);
        if remote.queue.len() == 1
            && let Some(sender) = &remote.sender
        {
            // It fails only for a loop that is gone, which needs no tasks.
            let _ = sender.send();
        }
    }

    /// Whom to send to from now on.
    pub(super) fn connect(&self, sender: Sender) {
        self.lock().sender = Some(sender);
    }

    /// The tasks that were woken since this was last asked, to be put into the loop's queue.
    pub(super) fn take(&self) -> Vec<Arc<Wakeup>> {
        let rung = std::mem::take(&mut self.lock().queue);
        rung.iter().for_each(|wakeup| wakeup.hear());
        rung
    }

    /// The loop is gone.
    pub(super) fn close(&self) {
        let remote = {
            let mut remote = self.lock();
            std::mem::replace(&mut *remote, Remote { is_over: true, ..Remote::default() })
        };
        drop(remote);
    }
}
