//! Where a loop gets its jobs back.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxuv_os::{Result, Shared};

use crate::kernel::{Finished, Wake};
use crate::linux::Waker;

/// A loop's desk: threads put finished jobs on it, the loop takes them all at once.
///
/// The first one that is put on an empty desk wakes the loop; those behind it come with it.
#[derive(Debug)]
pub(crate) struct Desk<J> {
    finished: Mutex<VecDeque<Finished<J>>>,
    /// The loop is gone.
    is_closed: AtomicBool,
    waker: Waker,
}

impl<J> Desk<J> {
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Relaxed)
    }

    /// Puts a job on the desk. There is room: see [`Returns::reserve`].
    pub(crate) fn put(&self, finished: Finished<J>) {
        let mut queue = self.lock();
        queue.push_back(finished);
        let is_first = queue.len() == 1;
        drop(queue);
        if is_first {
            self.waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Finished<J>>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The loop's side of its desk.
#[derive(Debug)]
pub(crate) struct Returns<J> {
    desk: Shared<Desk<J>>,
    /// What was taken off the desk and not told yet.
    taken: VecDeque<Finished<J>>,
    /// Jobs that were submitted and not told yet.
    outstanding: usize,
    /// So many have room on the desk, and among the taken.
    room: usize,
}

impl<J> Returns<J> {
    pub(crate) fn new(waker: Waker) -> Result<Self> {
        let finished = Mutex::new(VecDeque::new());
        let desk = Shared::new(Desk { finished, is_closed: AtomicBool::new(false), waker })?;
        Ok(Returns { desk, taken: VecDeque::new(), outstanding: 0, room: 0 })
    }

    /// Room for one more job, and the desk it shall come back to.
    pub(crate) fn reserve(&mut self) -> Result<Shared<Desk<J>>> {
        let needed = self.outstanding + 1;
        if needed > self.room {
            let mut finished = self.desk.lock();
            let missing = needed - finished.len();
            finished.try_reserve(missing)?;
            self.taken.try_reserve(needed - self.taken.len())?;
            self.room = finished.capacity().min(self.taken.capacity());
        }
        Ok(self.desk.clone())
    }

    /// One more job was submitted.
    pub(crate) fn add(&mut self) {
        self.outstanding += 1;
    }

    /// Takes everything off the desk, and returns how much there is to be told.
    pub(crate) fn take(&mut self) -> usize {
        if self.outstanding == self.taken.len() {
            // Nothing else is on its way.
            return self.outstanding;
        }
        let mut finished = self.desk.lock();
        if self.taken.is_empty() {
            std::mem::swap(&mut *finished, &mut self.taken);
        } else {
            self.taken.append(&mut finished);
        }
        self.taken.len()
    }

    /// The next job to be told of, in the order in which they were finished.
    pub(crate) fn next(&mut self) -> Option<Finished<J>> {
        let finished = self.taken.pop_front()?;
        self.outstanding -= 1;
        Some(finished)
    }
}

/// The loop is gone: what has not begun is not to be run, and what runs has nobody to be told.
impl<J> Drop for Returns<J> {
    fn drop(&mut self) {
        self.desk.is_closed.store(true, Relaxed);
        // What was on it may call whatever it likes when it is dropped.
        let left = std::mem::take(&mut *self.desk.lock());
        drop(left);
    }
}
