//! Wakers: what makes a task run again, from any thread.
//!
//! A waker that is used on the loop's thread, while that runs, puts its task into the loop's queue, and that is all. Anywhere else it
//! puts the task into a queue that threads share, and sends to the loop's [`Async`](crate::Async) handle if that queue was
//! empty: many wakers cost one wake-up.

use std::sync::atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use super::here;
use crate::Sender;

/// The task is in a queue.
const QUEUED: u8 = 1;
/// The task has ended: nobody wakes it any more.
const ENDED: u8 = 2;

/// What the wakers of a task share with the loop.
pub(crate) struct Wakeup {
    state: AtomicU8,
    /// The task's place, [`MAIN`] for what the loop blocks on.
    pub(super) index: usize,
    bell: Arc<Bell>,
}

/// The place of the future that [`Loop::block_on`](crate::Loop::block_on) was given.
pub(super) const MAIN: usize = usize::MAX;

impl Wakeup {
    /// Of a task that is in the queue from the beginning.
    pub(super) fn queued(index: usize, bell: &Arc<Bell>) -> Arc<Wakeup> {
        Arc::new(Wakeup { state: AtomicU8::new(QUEUED), index, bell: Arc::clone(bell) })
    }

    /// Of a task that never was.
    pub(super) fn ended(bell: &Arc<Bell>) -> Arc<Wakeup> {
        Arc::new(Wakeup { state: AtomicU8::new(ENDED), index: MAIN, bell: Arc::clone(bell) })
    }

    /// The task is taken out of the queue, to run. False if it has ended.
    ///
    /// Whoever has woken it up to now did so before it runs, and what they have written it sees; whoever does so later puts it
    /// into the queue again.
    #[inline]
    pub(super) fn begin(&self) -> bool {
        self.state.fetch_and(!QUEUED, AcqRel) & ENDED == 0
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
        if self.state.fetch_or(QUEUED, AcqRel) == 0 {
            self.queue();
        }
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(QUEUED, AcqRel) == 0 {
            Arc::clone(self).queue();
        }
    }
}

impl Wakeup {
    /// Puts the task into a queue; it is marked as being there.
    fn queue(self: Arc<Self>) {
        let mut wakeup = Some(self);
        here::with(|lp| {
            let is_of_this = |wakeup: &mut Arc<Wakeup>| Arc::ptr_eq(lp.0.tasks.bell(), &wakeup.bell);
            if let Some(wakeup) = wakeup.take_if(is_of_this) {
                lp.0.tasks.push(&lp.0, wakeup);
            }
        });
        if let Some(wakeup) = wakeup {
            let bell = Arc::clone(&wakeup.bell);
            bell.push(wakeup);
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
        let refused = {
            let mut remote = self.lock();
            if remote.is_over {
                Some(wakeup)
            } else {
                remote.queue.push(wakeup);
                if remote.queue.len() == 1
                    && let Some(sender) = &remote.sender
                {
                    // It fails only for a loop that is gone, which needs no tasks.
                    let _ = sender.send();
                }
                None
            }
        };
        // It may be the last reference to the bell itself.
        drop(refused);
    }

    /// Whom to send to from now on.
    pub(super) fn connect(&self, sender: Sender) {
        self.lock().sender = Some(sender);
    }

    /// The tasks that were woken since this was last asked. `room` is for those to come.
    pub(super) fn take(&self, room: Vec<Arc<Wakeup>>) -> Vec<Arc<Wakeup>> {
        std::mem::replace(&mut self.lock().queue, room)
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
