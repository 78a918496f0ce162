//! Two ends, of which each sends to the other, on whatever threads they are.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxuv::Sender;

/// What goes from one end to the other.
pub(super) struct Message {
    /// The value, as `lib/internal/serializer.js` writes it.
    pub(super) bytes: Vec<u8>,
    /// The contents of buffers that go with it.
    pub(super) buffers: Vec<Vec<u8>>,
    /// Ends of other channels that go with it.
    pub(super) ends: Vec<Endpoint>,
}

#[derive(Default)]
struct Side {
    /// What has come and is not taken yet.
    queue: VecDeque<Message>,
    /// Wakes the loop of the thread that this side is on.
    waker: Option<Sender>,
    is_closed: bool,
}

impl Side {
    fn wake(&self) {
        if let Some(waker) = &self.waker {
            // A loop that has gone has nobody to be told.
            let _ = waker.send();
        }
    }
}

/// One end. Dropped, it is closed.
pub(crate) struct Endpoint {
    sides: Arc<Mutex<[Side; 2]>>,
    own: usize,
}

impl Endpoint {
    pub(crate) fn pair() -> (Endpoint, Endpoint) {
        let sides = Arc::new(Mutex::default());
        (Endpoint { sides: Arc::clone(&sides), own: 0 }, Endpoint { sides, own: 1 })
    }

    fn sides(&self) -> MutexGuard<'_, [Side; 2]> {
        // Nothing that may panic is done while it is locked.
        self.sides.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message, unless the other end is closed.
    pub(super) fn send(&self, message: Message) {
        let mut sides = self.sides();
        let other = &mut sides[1 - self.own];
        if other.is_closed {
            // It may own the other end of this very channel.
            drop(sides);
            drop(message);
            return;
        }
        other.queue.push_back(message);
        other.wake();
    }

    pub(super) fn receive(&self) -> Option<Message> {
        self.sides()[self.own].queue.pop_front()
    }

    pub(super) fn waiting(&self) -> usize {
        self.sides()[self.own].queue.len()
    }

    /// Whether nothing will come any more: the other end is closed, and all that it has sent is taken.
    pub(super) fn is_over(&self) -> bool {
        let sides = self.sides();
        sides[1 - self.own].is_closed && sides[self.own].queue.is_empty()
    }

    pub(super) fn is_other(&self, end: &Endpoint) -> bool {
        Arc::ptr_eq(&self.sides, &end.sides)
    }

    /// Has this waker woken for what comes, and at once if something is there.
    pub(super) fn set_waker(&self, waker: Option<Sender>) {
        let mut sides = self.sides();
        let is_over = sides[1 - self.own].is_closed;
        let own = &mut sides[self.own];
        own.waker = waker;
        if is_over || !own.queue.is_empty() {
            own.wake();
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let mut sides = self.sides();
        let left = std::mem::take(&mut sides[self.own].queue);
        sides[self.own].is_closed = true;
        sides[self.own].waker = None;
        sides[1 - self.own].wake();
        drop(sides);
        // Ends of channels in there are closed only now that nothing is locked.
        drop(left);
    }
}
