//! Where a loop gets its jobs back.

use std::collections::VecDeque;
use std::mem::swap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxuv_os::{Result, Shared, fork};

use super::worker::Crew;
use crate::kernel::{Finished, Job, Wake};
use crate::linux::Waker;
use crate::observe;
use crate::slab::Slab;

/// A loop's desk: threads put finished jobs on it, the loop takes them all at once.
///
/// The first one that is put there wakes the loop; those behind it come with it. Nobody wakes it again before it has said
/// that it is going to wait: a loop that is at work finds them anyway. One that waits for many says how many are enough to
/// wake it for, but not for long then (see [`Rest::Briefly`]).
#[derive(Debug)]
struct Desk<J> {
    /// Which of the desks that were at its place it is; 0 if there is none any more.
    number: u32,
    finished: VecDeque<Finished<J>>,
    waker: Option<Waker>,
    /// The loop has been woken, and has not said since that it is going to wait.
    is_rung: bool,
    /// So many jobs are enough to wake it.
    enough: usize,
    /// It took many jobs when it came last, and has not said since that it is going to wait.
    is_busy: bool,
    /// The loop is observed: the times of jobs that were run. Of as many as [`OBSERVED`] that it has not asked for.
    observed: Option<Vec<observe::Job>>,
}

impl<J> Default for Desk<J> {
    fn default() -> Self {
        Desk {
            number: 0,
            finished: VecDeque::new(),
            waker: None,
            is_rung: false,
            enough: 1,
            is_busy: false,
            observed: None,
        }
    }
}

/// A loop that waits for so many jobs at least need not be woken by the first.
const MANY: usize = 16;

/// So long it waits for them, in nanoseconds ...
pub(crate) const MOMENT: u64 = 50_000;

/// ... or so long if it was woken well before time and again. A timer that is due behind the next tick of most kernels is not given to
/// the processor, which takes several microseconds in a virtual machine.
const LONG_MOMENT: u64 = 4_000_000;

/// Well before: within that.
const QUICK: u64 = 2 * MOMENT;

/// So many times in a row at first; and twice as many each time that one quick job had to wait for a slow one, up to the other.
const ROW: u32 = 8;
const LONGEST_ROW: u32 = 4096;

/// If fewer have come back by then, they take long, and it is not worth it ...
const FEW: usize = 8;

/// ... so many times.
const PAUSE: u32 = 32;

/// The times of so many jobs are kept for a loop that does not come for them.
pub(crate) const OBSERVED: usize = 4096;

/// The name of a desk, also when its loop is gone.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeskKey {
    index: u32,
    number: u32,
}

/// The desks of all loops that use a pool, under its lock.
#[derive(Debug)]
pub(super) struct Desks<J> {
    all: Slab<Desk<J>>,
    next_number: u32,
}

/// What remains to be done after a job was put on a desk, without the lock.
#[derive(Debug)]
pub(super) enum Errand<J> {
    Wake(Waker),
    /// The loop is gone.
    Discard(J),
}

impl<J> Desks<J> {
    pub(super) fn new() -> Self {
        Desks { all: Slab::new(), next_number: 1 }
    }

    pub(super) fn open(&mut self, waker: Waker) -> Result<DeskKey> {
        let number = self.next_number;
        let index = self.all.insert(Desk { number, waker: Some(waker), ..Desk::default() })?;
        self.next_number = number.checked_add(1).unwrap_or(1);
        Ok(DeskKey { index, number })
    }

    /// The loop is gone. What was on its desk may call whatever it likes when it is dropped: not under the lock.
    pub(super) fn close(&mut self, key: DeskKey) -> impl Sized + use<J> {
        self.all.remove(key.index)
    }

    pub(super) fn is_open(&self, key: DeskKey) -> bool {
        self.all[key.index].number == key.number
    }

    #[inline]
    fn get(&mut self, key: DeskKey) -> Option<&mut Desk<J>> {
        let desk = &mut self.all[key.index];
        if desk.number == key.number { Some(desk) } else { None }
    }

    /// Puts a job on a desk. There is room: see [`Returns::reserve`]. `is_last` says that no other will follow soon.
    #[must_use]
    #[inline]
    pub(super) fn put(&mut self, key: DeskKey, finished: Finished<J>, is_last: bool) -> Option<Errand<J>> {
        let Some(desk) = self.get(key) else { return Some(Errand::Discard(finished.job)) };
        desk.finished.push_back(finished);
        if desk.is_rung || (desk.finished.len() < desk.enough && !is_last) {
            return None;
        }
        desk.is_rung = true;
        desk.waker.clone().map(Errand::Wake)
    }

    /// A job was run: remembers when, if its loop is observed and memory is there.
    pub(super) fn observe(&mut self, key: DeskKey, job: observe::Job) {
        if let Some(observed) = self.get(key).and_then(|desk| desk.observed.as_mut())
            && observed.len() < OBSERVED
            && observed.try_reserve(1).is_ok()
        {
            observed.push(job);
        }
    }

    /// Takes what is remembered, and goes on remembering.
    pub(super) fn observed(&mut self, key: DeskKey) -> Vec<observe::Job> {
        let Some(desk) = self.get(key) else { return Vec::new() };
        desk.observed.replace(Vec::new()).unwrap_or_default()
    }

    /// Takes everything off a desk.
    pub(super) fn take(&mut self, key: DeskKey, taken: &mut VecDeque<Finished<J>>) {
        let Some(desk) = self.get(key) else { return };
        if taken.is_empty() {
            swap(&mut desk.finished, taken);
        } else {
            taken.append(&mut desk.finished);
        }
        desk.is_busy = taken.len() >= MANY;
    }

    /// The loop is going to wait, if nothing is on its desk: so much is there.
    pub(super) fn rest(&mut self, key: DeskKey, enough: usize) -> usize {
        let Some(desk) = self.get(key) else { return 0 };
        desk.is_rung = !desk.finished.is_empty();
        desk.enough = enough;
        desk.is_busy = false;
        desk.finished.len()
    }

    /// True if this desk's loop is likely to submit many jobs soon.
    pub(super) fn is_busy(&self, key: DeskKey) -> bool {
        self.is_open(key) && self.all[key.index].is_busy
    }

    /// Room for so many finished jobs; says how many there is room for then.
    pub(super) fn reserve(&mut self, key: DeskKey, count: usize) -> Result<usize> {
        let Some(desk) = self.get(key) else { return Ok(0) };
        desk.finished.try_reserve(count - desk.finished.len())?;
        Ok(desk.finished.capacity())
    }
}

impl<J> Errand<J> {
    /// On a thread of the pool, which does not end when a job's destructor panics.
    #[inline(never)]
    pub(super) fn run(self) {
        match self {
            Errand::Wake(waker) => waker.wake(),
            Errand::Discard(job) => discard(job),
        }
    }
}

#[cold]
fn discard<J>(job: J) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(job))) {
        // It may panic as well.
        std::mem::forget(payload);
    }
}

/// The loop's side of its desk.
#[derive(Debug)]
pub(super) struct Returns<J: Job> {
    pub(super) crew: Shared<Crew<J>>,
    /// Of the process whose threads these are.
    forks: u32,
    pub(super) desk: DeskKey,
    /// What was taken off the desk and not told yet.
    taken: VecDeque<Finished<J>>,
    /// Jobs that were submitted and not told yet.
    outstanding: usize,
    /// So many have room on the desk, and among the taken.
    room: usize,
    /// So many times the first job is enough.
    pause: u32,
    /// How many brief waits in a row have ended well before their time, and how many have to.
    quick: u32,
    row: u32,
}

/// How a loop waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Not at all: jobs have come back.
    Found,
    /// For so many nanoseconds at most, since it is woken by the last of many jobs; and then it asks once more.
    Briefly(u64),
    /// As it likes: it is woken by the first job.
    Long,
}

impl<J: Job> Returns<J> {
    pub(super) fn new(crew: Shared<Crew<J>>, waker: Waker) -> Result<Self> {
        let desk = crew.open_desk(waker)?;
        Ok(Returns {
            crew,
            forks: fork::forks(),
            desk,
            taken: VecDeque::new(),
            outstanding: 0,
            room: 0,
            pause: 0,
            quick: 0,
            row: ROW,
        })
    }

    /// In a child the threads are gone, and their lock may be held for ever.
    #[inline]
    pub(super) fn is_of_parent(&self) -> bool {
        self.forks != fork::forks()
    }

    /// In a child: what had come back before the fork is still to be told.
    pub(super) fn inherit(&mut self, parent: &mut Self) {
        self.taken = std::mem::take(&mut parent.taken);
        self.outstanding = self.taken.len();
    }

    /// In a child: nothing of the desk is touched any more, and the jobs are not even freed.
    pub(super) fn leave_to_parent(mut self) {
        // Also where forks are made that nobody counts.
        self.forks = fork::forks().wrapping_sub(1);
        self.taken.drain(..).for_each(std::mem::forget);
    }

    /// Room for one more job.
    #[inline]
    pub(super) fn reserve(&mut self) -> Result<()> {
        if self.outstanding < self.room { Ok(()) } else { self.grow() }
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        let needed = self.outstanding + 1;
        self.taken.try_reserve(needed - self.taken.len())?;
        self.room = self.crew.reserve(self.desk, needed)?.min(self.taken.capacity());
        Ok(())
    }

    /// Has the times of jobs kept. What a parent's jobs have taken is nobody's.
    #[cold]
    pub(super) fn observe(&mut self) {
        if !self.is_of_parent() {
            self.crew.measure();
            self.crew.observed(self.desk);
        }
    }

    /// The times of those that were run since.
    #[cold]
    pub(super) fn observed(&mut self) -> Vec<observe::Job> {
        if self.is_of_parent() { Vec::new() } else { self.crew.observed(self.desk) }
    }

    /// One more job was submitted.
    #[inline]
    pub(super) fn add(&mut self) {
        self.outstanding += 1;
    }

    pub(super) fn is_idle(&self) -> bool {
        self.outstanding == 0
    }

    /// Takes everything off the desk, and returns how much there is to be told.
    #[inline(never)]
    pub(super) fn take(&mut self) -> usize {
        // Else nothing is on its way.
        if self.outstanding > self.taken.len() && !self.is_of_parent() {
            self.crew.take(self.desk, &mut self.taken);
        }
        self.taken.len()
    }

    /// Before a wait, which may be short if others than the first job shall be waited for.
    pub(super) fn rest(&mut self, may_be_brief: bool) -> Rest {
        if self.is_of_parent() {
            return Rest::Long;
        }
        let on_their_way = self.outstanding - self.taken.len();
        let is_brief = may_be_brief && on_their_way >= MANY && self.pause == 0;
        self.pause = self.pause.saturating_sub(u32::from(may_be_brief));
        match self.crew.rest(self.desk, if is_brief { on_their_way } else { 1 }) {
            0 if is_brief => Rest::Briefly(if self.quick >= self.row { LONG_MOMENT } else { MOMENT }),
            0 => Rest::Long,
            _ => Rest::Found,
        }
    }

    /// The loop was woken in a brief wait, after so many nanoseconds.
    pub(super) fn woken_after(&mut self, nanoseconds: u64) {
        self.quick = if nanoseconds <= QUICK { self.quick.saturating_add(1) } else { 0 };
    }

    /// After a brief wait in which not enough have come back.
    pub(super) fn rest_on(&mut self) -> Rest {
        if self.quick >= self.row {
            self.row = (2 * self.row).min(LONGEST_ROW);
        }
        self.quick = 0;
        let found = self.crew.rest(self.desk, 1);
        if found < FEW {
            self.pause = PAUSE;
        }
        if found == 0 { Rest::Long } else { Rest::Found }
    }

    /// The next job to be told of, in the order in which they were finished.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Finished<J>> {
        let finished = self.taken.pop_front()?;
        self.outstanding -= 1;
        Some(finished)
    }
}

/// The loop is gone: what has not begun is not to be run, and what runs has nobody to be told.
impl<J: Job> Drop for Returns<J> {
    fn drop(&mut self) {
        if !self.is_of_parent() {
            self.crew.close_desk(self.desk);
        }
    }
}
