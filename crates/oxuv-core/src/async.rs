//! Async handles: waking the loop from other threads and from signal handlers.

use oxuv_os::sync::atomic::{AtomicBool, AtomicU32, Ordering::AcqRel, Ordering::Release};
use oxuv_os::{Errno, Result, Shared};

use crate::kernel::{Kernel, Wake};
use crate::slab::Slab;
use crate::slots::{List, PHASE, Walk};
use crate::{Buffers, Core, Event, Key, Kind};

const PENDING: u32 = 1;
const CLOSED: u32 = 2;

/// A handle's flags, shared with its senders: 32 bits, of which machines take one out by one instruction.
/// `None` only in the slab's free elements.
type State = Option<Shared<AtomicU32>>;

/// The loop's bell, shared by all senders.
#[derive(Debug)]
struct Bell<W> {
    /// Somebody has rung and the loop has not looked yet: ringing again would be a system call for nothing.
    rung: AtomicBool,
    waker: W,
}

/// Sends to an async handle, from any thread and from signal handlers.
///
/// Sends before the callback has begun are one; a send after it has begun makes it run once more.
#[derive(Debug, Clone)]
pub struct AsyncSender<W> {
    state: Shared<AtomicU32>,
    bell: Shared<Bell<W>>,
}

impl<W: Wake> AsyncSender<W> {
    /// Makes the handle's callback run on the loop's thread, in its next poll phase. What was written before the call
    /// is visible to the callback. `errno` is kept.
    ///
    /// # Errors
    /// EINVAL when the handle is closed, or its loop gone: the callback will not run.
    #[doc(alias = "uv_async_send")]
    #[inline]
    pub fn send(&self) -> Result<()> {
        send(&self.state, &self.bell)
    }
}

#[inline]
fn send<W: Wake>(state: &AtomicU32, bell: &Bell<W>) -> Result<()> {
    let before = state.fetch_or(PENDING, AcqRel);
    if before & CLOSED != 0 {
        return Err(Errno::EINVAL);
    }
    if before & PENDING == 0 && !bell.rung.swap(true, AcqRel) {
        bell.waker.wake();
    }
    Ok(())
}

/// What the core keeps of its async handles.
#[derive(Debug)]
pub(crate) struct Mailbox<W> {
    states: Slab<State>,
    bell: Shared<Bell<W>>,
    /// The handles are being looked through.
    is_open: bool,
    /// A look through the handles was left before its end.
    left_open: bool,
    /// The look is under way, and there may be jobs to be told of first.
    has_jobs: bool,
}

impl<W: Wake> Mailbox<W> {
    pub(crate) fn new(waker: W) -> Result<Self> {
        let bell = Shared::new(Bell { rung: AtomicBool::new(false), waker })?;
        Ok(Mailbox { states: Slab::new(), bell, is_open: false, left_open: false, has_jobs: false })
    }

    pub(crate) fn close(&mut self, state: u32) {
        if let Some(state) = &self.states[state] {
            state.fetch_or(CLOSED, Release);
        }
    }

    pub(crate) fn remove(&mut self, state: u32) {
        self.states.remove(state);
    }

    /// True if the handles have to be looked through although nobody rings: an earlier look was left.
    pub(crate) fn needs_a_look(&self) -> bool {
        self.left_open
    }

    /// Has the handles looked through although nobody rings.
    pub(crate) fn look_again(&mut self) {
        self.left_open = true;
    }

    /// In a child: what was sent to its parent's handles is its parent's.
    pub(crate) fn forget_sends(&self) {
        for state in self.states.iter().flatten() {
            state.fetch_and(!PENDING, AcqRel);
        }
        self.bell.rung.store(false, Release);
    }

    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Jobs have come back, and are being told of.
    #[inline]
    pub(crate) fn has_jobs(&self) -> bool {
        self.has_jobs
    }

    pub(crate) fn end_jobs(&mut self) {
        self.has_jobs = false;
    }

    /// The look under way, if any, is left before its end; or perhaps one was called for that has not begun.
    pub(crate) fn abandon(&mut self, was_called_for: bool) {
        self.left_open |= std::mem::take(&mut self.is_open) || was_called_for;
        self.has_jobs = false;
    }
}

/// The loop is gone: senders learn it.
impl<W> Drop for Mailbox<W> {
    fn drop(&mut self) {
        for state in self.states.iter().flatten() {
            state.fetch_or(CLOSED, Release);
        }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new async handle, active from now on.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_async_init")]
    pub fn async_init(&mut self, user: U) -> Result<Key> {
        self.slots.reserve()?;
        let state = self.mailbox.states.insert(Some(Shared::new(AtomicU32::new(0))?))?;
        self.kernel.expect_wakes();
        let key = self.add_handle(Kind::Async, state, user);
        self.slots.insert_at_walk::<PHASE>(Walk::Asyncs, List::Async, key.index);
        self.set_active(key.index);
        Ok(key)
    }

    /// A sender to this async handle.
    ///
    /// # Errors
    /// EINVAL when it is closing.
    pub fn async_sender(&self, key: Key) -> Result<AsyncSender<K::Waker>> {
        let index = self.open_handle(key, Kind::Async)?;
        let state = self.mailbox.states[self.slots[index].state].clone();
        Ok(AsyncSender { state: state.ok_or(Errno::EINVAL)?, bell: self.mailbox.bell.clone() })
    }

    /// As [`AsyncSender::send`], on the loop's thread.
    ///
    /// # Errors
    /// EINVAL when it is closing.
    #[inline]
    pub fn async_send(&self, key: Key) -> Result<()> {
        let index = self.open_handle(key, Kind::Async)?;
        let state = self.mailbox.states[self.slots[index].state].as_ref();
        send(state.ok_or(Errno::EINVAL)?, &self.mailbox.bell)
    }

    /// Begins to tell of the jobs that have come back, and to look through the async handles for those that were sent to;
    /// and looks whether signals have come, which are told of last.
    #[inline(never)]
    pub(crate) fn open_mailbox(&mut self) {
        let finished = self.kernel.collect_finished();
        // Each of them is an event, and the wake-up that they came with is counted already.
        self.poll.events += finished.saturating_sub(1);
        self.mailbox.has_jobs = finished > 0 || self.has_lost_jobs();
        // Whoever rings after this sees the bell still, and rings it; whoever rang before has marked its handle.
        self.mailbox.bell.rung.swap(false, AcqRel);
        self.mailbox.left_open = false;
        (self.mailbox.is_open, self.poll.has_others) = (true, true);
        self.look_for_signals();
        self.slots.walk(Walk::Asyncs, List::Async);
    }

    /// The next of what an open mailbox has.
    #[inline]
    pub(crate) fn next_async(&mut self) -> Option<Event<U>> {
        if self.mailbox.has_jobs
            && let Some(event) = self.next_job()
        {
            return Some(event);
        }
        if self.slots.is_over(Walk::Asyncs) {
            self.mailbox.is_open = false;
            return None;
        }
        self.next_sent_to()
    }

    #[inline(never)]
    fn next_job(&mut self) -> Option<Event<U>> {
        if self.mailbox.has_jobs() { self.next_returned() } else { None }
    }

    #[inline(never)]
    fn next_sent_to(&mut self) -> Option<Event<U>> {
        while let Some(index) = self.slots.step(Walk::Asyncs) {
            let state = &self.mailbox.states[self.slots[index].state];
            if state.as_ref().is_some_and(|state| state.fetch_and(!PENDING, AcqRel) & PENDING != 0) {
                return Some(Event::Async { key: self.slots.key(index), user: self.slots[index].user });
            }
        }
        self.mailbox.is_open = false;
        None
    }
}
