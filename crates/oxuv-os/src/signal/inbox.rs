//! Where the handler leaves what has come for a loop.

use std::array::from_fn;
use std::iter::successors;
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

use super::action::Lock;
use super::{LAST, bit};
use crate::fork::Process;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64};
use crate::sync::yield_now;
use crate::{EventFd, Result, Shared};

/// How many are kept in their order: under loom so few that it can be seen what happens to others.
const ROOM: usize = if cfg!(loom) { 1 } else { 1024 };

/// The first inbox; new ones are put before it.
static FIRST: AtomicPtr<Inbox> = AtomicPtr::new(null_mut());

/// An inbox. But for `take`, which is its loop's, and what the lock is for, all of it may be used by anybody at any time.
#[derive(Debug)]
pub(super) struct Inbox {
    next: AtomicPtr<Inbox>,
    /// It belongs to a loop. Under the lock.
    pub(super) is_taken: AtomicBool,
    /// The process that its loop belongs to.
    pid: AtomicI32,
    forks: AtomicU32,
    /// The numbers that are watched, as bits; and those of them that are not to be heard of only once, which is under the
    /// lock.
    pub(super) watched: AtomicU64,
    pub(super) lasting: AtomicU64,
    /// The handlers that look at it now. Until there is none, what they may see must stay.
    readers: AtomicU32,
    wake: AtomicPtr<EventFd>,
    /// Something has come, and the loop was woken.
    pub(super) is_rung: AtomicBool,
    /// The places taken so far, and the places read so far. A place taken is written right after that.
    taken: AtomicU64,
    read: AtomicU64,
    /// Numbers of signals; 0 in a place that is free, or not written yet.
    places: [AtomicU8; ROOM],
    /// Those that found no place, for each number.
    surplus: [AtomicU32; LAST as usize],
    has_surplus: AtomicBool,
}

impl Inbox {
    /// All inboxes there are.
    pub(super) fn all() -> impl Iterator<Item = &'static Inbox> {
        // SAFETY: null, or an inbox that was leaked before its address was written there.
        let at = |inbox: &AtomicPtr<Inbox>| unsafe { inbox.load(Acquire).as_ref::<'static>() };
        successors(at(&FIRST), move |inbox| at(&inbox.next))
    }

    /// One more inbox.
    pub(super) fn add(_: &Lock) -> Result<&'static Inbox> {
        let mut place = Vec::new();
        place.try_reserve_exact(1)?;
        place.push(Inbox::new());
        let inbox = &place.leak()[0];
        inbox.next.store(FIRST.load(Relaxed), Relaxed);
        FIRST.store(std::ptr::from_ref(inbox).cast_mut(), Release);
        Ok(inbox)
    }

    /// Nobody's, and in no list.
    pub(super) fn new() -> Inbox {
        Inbox {
            next: AtomicPtr::new(null_mut()),
            is_taken: AtomicBool::new(false),
            pid: AtomicI32::new(0),
            forks: AtomicU32::new(0),
            watched: AtomicU64::new(0),
            lasting: AtomicU64::new(0),
            readers: AtomicU32::new(0),
            wake: AtomicPtr::new(null_mut()),
            is_rung: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            read: AtomicU64::new(0),
            places: from_fn(|_| AtomicU8::new(0)),
            surplus: from_fn(|_| AtomicU32::new(0)),
            has_surplus: AtomicBool::new(false),
        }
    }

    /// Makes it that of a loop of this process, empty. Nothing is watched, and no handler looks at it.
    pub(super) fn reset(&self, process: Process, wake: &Shared<EventFd>) {
        self.pid.store(process.pid, Relaxed);
        self.forks.store(process.forks, Relaxed);
        self.wake.store(std::ptr::from_ref::<EventFd>(wake).cast_mut(), Relaxed);
        self.is_rung.store(false, Relaxed);
        self.taken.store(0, Relaxed);
        self.read.store(0, Relaxed);
        self.places.iter().for_each(|place| place.store(0, Relaxed));
        self.surplus.iter().for_each(|count| count.store(0, Relaxed));
        self.has_surplus.store(false, Relaxed);
    }

    /// True if it belongs to a loop of this process.
    pub(super) fn is_of(&self, process: Process) -> bool {
        self.pid.load(Relaxed) == process.pid && self.forks.load(Relaxed) == process.forks
    }

    /// In the handler: a signal has come.
    pub(super) fn hear(&self, number: i32, process: Process) {
        // Whoever takes the bit out after this waits until we are done; who has before, has us do nothing.
        self.readers.fetch_add(1, AcqRel);
        if bit(number).is_ok_and(|bit| self.watched.load(Acquire) & bit != 0) && self.is_of(process) {
            self.put(number);
            if !self.is_rung.swap(true, AcqRel) {
                // SAFETY: the loop's `Signals` owns it, and does not go while there are readers.
                unsafe { &*self.wake.load(Relaxed) }.wake();
            }
        }
        self.readers.fetch_sub(1, Release);
    }

    /// Waits until no handler looks at it that might have seen what was there before. It is nothing that a handler waits
    /// for.
    pub(super) fn wait_for_readers(&self) {
        // Written, and not only read: who counts itself later sees what we have written before.
        while self.readers.fetch_or(0, AcqRel) != 0 {
            yield_now();
        }
    }

    /// In a child: the handlers that were looking are its parent's.
    pub(super) fn forget_readers(&self) {
        self.readers.store(0, Release);
    }

    fn put(&self, number: i32) {
        let mut taken = self.taken.load(Relaxed);
        // What was read meanwhile may be more than what had been taken.
        while (taken.wrapping_sub(self.read.load(Acquire)) as i64) < ROOM as i64 {
            match self.taken.compare_exchange_weak(taken, taken + 1, Relaxed, Relaxed) {
                Ok(_) => {
                    self.places[taken as usize % ROOM].swap(number as u8, Release);
                    return;
                }
                Err(now) => taken = now,
            }
        }
        self.surplus[number as usize - 1].fetch_add(1, Relaxed);
        self.has_surplus.swap(true, Release);
    }

    /// The loop takes out what has come next.
    pub(super) fn take(&self) -> Option<i32> {
        let read = self.read.load(Relaxed);
        let number = self.places[read as usize % ROOM].swap(0, Acquire);
        if number != 0 {
            self.read.store(read + 1, Release);
            return Some(number.into());
        }
        // Whoever has taken a place and not written it yet will wake the loop when that is done.
        if self.taken.load(Relaxed) == read && self.has_surplus.load(Relaxed) { self.take_surplus() } else { None }
    }

    fn take_surplus(&self) -> Option<i32> {
        // One that is counted after this says so again.
        self.has_surplus.swap(false, AcqRel);
        let found = self.surplus.iter().position(|count| count.load(Relaxed) > 0)?;
        self.surplus[found].fetch_sub(1, Relaxed);
        // Exchanged, and not only stored: so it goes on saying what a handler has said that was faster, and the next look sees
        // what that has counted.
        self.has_surplus.swap(true, Relaxed);
        Some(found as i32 + 1)
    }
}
