//! Operations on files by io_uring: the kernel does them, and no thread of ours waits for it.
//!
//! A [`Ring`] has places for [`Operation`]s, which are put there and stay there, each with a value of its owner's, until the
//! kernel is done with them: what an operation points to must stay for so long. [`Ring::enter`] tells the kernel of all that
//! are new by one system call; [`Ring::next_done`] tells of them. The ring's descriptor is readable when there is something
//! to be told.
//!
//! What comes back is what the functions of [`fs`](crate::fs) would have said. Where a ring would do something else, the
//! operation comes back as one for a thread ([`Outcome::Elsewhere`]), or is not taken in the first place:
//!
//! * Where a file has no position, a ring takes no notice of an offset, nor of `O_NONBLOCK`. Reads and writes with either are
//!   not for a ring.
//! * A ring does not lock a file's position. Of the reads and writes that use it, one is under way at a time.
//! * A ring tries to open a thing without waiting, and so finds a FIFO open to which nobody writes yet. Such a one is opened
//!   again, by a worker of the kernel's that waits.
//! * A ring closes a thing while it is entered, or says so before it has happened. So only what is quick to close, and was not
//!   written, is closed by a ring. (Else a program could be busy still when it is run.)
//! * An error that may be the ring's own, for it can do less, is looked into by a thread.
//!
//! There is no polling thread. So an operation has the credentials of the thread that enters it, at that time
//! (`IORING_FEAT_CUR_PERSONALITY`, without which a ring is not used), and a change of user concerns all that follow.
//!
//! No more operations are under way than the completion queue has room for, so that it cannot overflow; the others wait.

mod call;
mod operation;
mod set_up;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use io_uring::IoUring;
use io_uring::types::{CancelBuilder, Timespec};
use rustix::fs::{FileType, fstat};

use crate::{Errno, Result, fork};

pub use call::{Answer, Bytes, Call};
pub use operation::Operation;
use operation::What;

/// How long a ring that goes waits for what it cannot take back.
const PATIENCE: Duration = Duration::from_secs(1);

/// A ring, and the operations that it was given.
pub struct Ring<T> {
    ring: IoUring,
    /// By their codes, the operations that the kernel knows.
    known: u64,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    /// Not entered yet, in their order. Each slot has room here.
    waiting: VecDeque<u32>,
    /// The files whose position is in use, with those that wait for it.
    positions: HashMap<RawFd, VecDeque<u32>>,
    /// So many are the kernel's now.
    entered: usize,
    /// So many may be.
    most: usize,
    /// See [`fork::forks`].
    forks: u32,
}

struct Slot<T> {
    /// Never 0.
    generation: u32,
    is_entered: bool,
    is_cancelled: bool,
    /// `None` of a free slot.
    value: Option<T>,
    operation: Operation,
}

/// The name of an operation that a ring holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// The slot's number; those of few operations are low.
    pub index: u32,
    /// Not 0. Another one for each operation that has the slot.
    pub generation: u32,
}

/// What became of an operation.
#[derive(Debug)]
pub enum Outcome {
    /// It was done, or has failed. What the number means is told by [`Operation::answer`].
    Answer(Result<usize>),
    /// It was taken back.
    Cancelled,
    /// It has not been done, or not to its end, and is for a thread.
    Elsewhere,
}

impl<T> Ring<T> {
    /// The place for the operation that is submitted next, which is empty.
    ///
    /// # Errors
    /// ENOMEM.
    #[inline]
    pub fn place(&mut self) -> Result<&mut Operation> {
        let index = match self.free.last() {
            Some(&index) => index,
            None => self.grow()?,
        };
        let operation = &mut self.slots[index as usize].operation;
        operation.what = What::Nothing;
        Ok(operation)
    }

    #[cold]
    fn grow(&mut self) -> Result<u32> {
        let count = self.slots.len() + 1;
        let index = u32::try_from(self.slots.len()).map_err(|_| Errno::ENOMEM)?;
        self.slots.try_reserve(1)?;
        self.free.try_reserve(count)?;
        self.waiting.try_reserve(count - self.waiting.len())?;
        let (value, operation) = (None, Operation::default());
        self.slots.push(Slot { generation: 1, is_entered: false, is_cancelled: false, value, operation });
        self.free.push(index);
        Ok(index)
    }

    /// Takes what is in [`Ring::place`]. It is not begun before [`Ring::enter`].
    ///
    /// # Errors
    /// The value is back if there is nothing, the kernel does not know this kind, or memory is short.
    #[inline]
    pub fn submit(&mut self, value: T) -> Result<Name, T> {
        let Some(&index) = self.free.last() else { return Err(value) };
        let slot = &mut self.slots[index as usize];
        let what = &slot.operation.what;
        let is_known = self.known & 1 << what.code() != 0;
        let position = what.position();
        if !is_known || (what.needs_room() && self.reserve(index).is_err()) {
            return Err(value);
        }
        self.free.pop();
        let slot = &mut self.slots[index as usize];
        slot.value = Some(value);
        let name = Name { index, generation: slot.generation };
        match position {
            Some(file) => self.queue_for_position(index, file),
            None => self.waiting.push_back(index),
        }
        Ok(name)
    }

    /// Room for metadata, or in the queue for a position.
    #[inline(never)]
    fn reserve(&mut self, index: u32) -> Result<()> {
        let Operation { what, found, .. } = &mut self.slots[index as usize].operation;
        match what.position().map(|file| (file, self.positions.get_mut(&file))) {
            Some((_, Some(queue))) => Ok(queue.try_reserve(1)?),
            Some((_, None)) => self.positions.try_reserve(1).map_err(|_| Errno::ENOMEM),
            None => Ok(found.try_reserve_exact(1)?),
        }
    }

    /// Leaves what is in [`Ring::place`] to somebody else.
    pub fn withdraw(&mut self, give: impl FnOnce(&mut Operation)) {
        if let Some(&index) = self.free.last() {
            let slot = &mut self.slots[index as usize];
            give(&mut slot.operation);
            slot.clear();
        }
    }

    #[inline(never)]
    fn queue_for_position(&mut self, index: u32, file: RawFd) {
        match self.positions.get_mut(&file) {
            Some(queue) => queue.push_back(index),
            None => {
                self.positions.insert(file, VecDeque::new());
                self.waiting.push_back(index);
            }
        }
    }

    /// True if [`Ring::enter`] would begin something.
    #[inline]
    pub fn must_enter(&self) -> bool {
        !self.waiting.is_empty() && self.entered < self.most
    }

    /// Tells the kernel of what is new, as far as the completion queue has room. What it can do at once is done then.
    ///
    /// # Errors
    /// Those of `io_uring_enter`. What was not taken is given by [`Ring::take_waiting`]; this must not be called again.
    pub fn enter(&mut self) -> Result<()> {
        while self.must_enter() {
            let filled = self.fill();
            while !self.ring.submission().is_empty() {
                match self.ring.submit().map_err(Errno::from) {
                    // It takes at least one, or says why not.
                    Ok(1..) | Err(Errno::EINTR) => {}
                    Ok(0) => return self.refused(filled, Errno::EAGAIN),
                    Err(error) => return self.refused(filled, error),
                }
            }
            self.waiting.drain(..filled);
        }
        Ok(())
    }

    /// Fills the submission queue, which is empty, and returns with how many of those that wait.
    fn fill(&mut self) -> usize {
        let mut queue = self.ring.submission();
        let mut filled = 0;
        for &index in self.waiting.iter().take(self.most - self.entered) {
            let slot = &mut self.slots[index as usize];
            let name = Name { index, generation: slot.generation };
            let entry = slot.operation.entry().user_data(name.to_u64());
            // SAFETY: what the entry points to stays as long as the operation is in its slot, and that is until it is completed,
            // also if the ring goes before: see there. Where metadata is asked for, `reserve` has made room for it, which does
            // not move with the slot.
            if unsafe { queue.push(&entry) }.is_err() {
                break;
            }
            slot.is_entered = true;
            filled += 1;
        }
        self.entered += filled;
        filled
    }

    /// What is left in the submission queue is not the kernel's: without entering it will never be.
    #[cold]
    fn refused(&mut self, filled: usize, error: Errno) -> Result<()> {
        let left = self.ring.submission().len().min(filled);
        self.waiting.drain(..filled - left);
        for &index in self.waiting.iter().take(left) {
            self.slots[index as usize].is_entered = false;
            self.entered -= 1;
        }
        Err(error)
    }

    /// Gives up an operation that is not the kernel's. For a ring that is not to be entered any more.
    pub fn take_waiting(&mut self) -> Option<(T, Operation)> {
        let is_left = |slot: &Slot<T>| slot.value.is_some() && !slot.is_entered;
        let index = self.slots.iter().position(is_left)? as u32;
        self.waiting.retain(|&other| other != index);
        self.positions.values_mut().for_each(|queue| queue.retain(|&other| other != index));
        self.vacate(index)
    }

    /// How many places it has.
    #[inline]
    pub fn places(&self) -> usize {
        self.slots.len()
    }

    /// How many completions are there.
    pub fn completed(&mut self) -> usize {
        self.ring.completion().len()
    }

    /// How many operations it holds.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// True if it holds none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Looks at one completion, and tells what has become of the operation, with its value. `None` if there is none, and also if
    /// the operation is to go on.
    #[inline]
    pub fn next_done<R>(&mut self, tell: impl FnOnce(T, Outcome, &mut Operation) -> R) -> Option<R> {
        let completion = self.ring.completion().next()?;
        let index = Name::from_u64(completion.user_data()).index;
        let result = match completion.result() {
            failed @ ..0 => Err(Errno::from_raw(-failed)),
            number => Ok(number as usize),
        };
        let slot = &mut self.slots[index as usize];
        slot.is_entered = false;
        self.entered -= 1;
        let Some(outcome) = slot.judge(result) else {
            self.waiting.push_front(index);
            return None;
        };
        let position = slot.operation.what.position();
        let told = tell(slot.value.take()?, outcome, &mut slot.operation);
        slot.clear();
        self.free.push(index);
        if let Some(file) = position {
            self.release_position(file);
        }
        Some(told)
    }

    /// The next that waits for the file's position may go.
    #[inline(never)]
    fn release_position(&mut self, file: RawFd) {
        match self.positions.get_mut(&file).and_then(VecDeque::pop_front) {
            Some(next) => self.waiting.push_back(next),
            None => drop(self.positions.remove(&file)),
        }
    }

    /// Frees a slot, with what is in it.
    fn vacate(&mut self, index: u32) -> Option<(T, Operation)> {
        let slot = &mut self.slots[index as usize];
        let (value, operation) = (slot.value.take()?, std::mem::take(&mut slot.operation));
        slot.clear();
        self.free.push(index);
        Some((value, operation))
    }

    /// Takes an operation back. One that is not entered yet is given back at once; else it comes back as cancelled.
    ///
    /// # Errors
    /// EBUSY when it is done, is being done, or was cancelled before.
    pub fn cancel(&mut self, name: Name) -> Result<Option<(T, Operation)>> {
        let slot = self.slots.get_mut(name.index as usize).filter(|slot| slot.generation == name.generation);
        let slot = slot.ok_or(Errno::EBUSY)?;
        let has_begun = match slot.operation.what {
            What::Write(transfer) => transfer.moved > 0,
            _ => slot.operation.file.is_some(),
        };
        if slot.value.is_none() || slot.is_cancelled || has_begun {
            return Err(Errno::EBUSY);
        }
        if slot.is_entered {
            let (now, which) = (Timespec::new(), CancelBuilder::user_data(name.to_u64()));
            // A kernel without this call does not take anything back.
            self.ring.submitter().register_sync_cancel(Some(now), which).map_err(|_| Errno::EBUSY)?;
            slot.is_cancelled = true;
            return Ok(None);
        }
        let position = slot.operation.what.position();
        match self.waiting.iter().position(|&index| index == name.index) {
            Some(place) => {
                self.waiting.remove(place);
                position.into_iter().for_each(|file| self.release_position(file));
            }
            None => self.positions.values_mut().for_each(|queue| queue.retain(|&index| index != name.index)),
        }
        Ok(self.vacate(name.index))
    }
}

impl<T> Slot<T> {
    /// Nothing is in it any more.
    #[inline]
    fn clear(&mut self) {
        self.generation = self.generation.checked_add(1).unwrap_or(1);
        self.is_cancelled = false;
        self.operation.what = What::Nothing;
        (self.operation.file, self.operation.is_found) = (None, false);
        // As a rule there is none any more.
        if self.operation.call.is_some() {
            self.operation.call = None;
        }
    }

    /// What a completion means. `None` if the operation is to go on.
    #[inline]
    fn judge(&mut self, result: Result<usize>) -> Option<Outcome> {
        match (&mut self.operation, result) {
            (Operation { what: What::Read(_), call, .. }, Ok(count)) => {
                if let Some(call) = call {
                    call.moved(count);
                }
                Some(Outcome::Answer(result))
            }
            _ => self.judge_otherwise(result),
        }
    }

    #[inline(never)]
    fn judge_otherwise(&mut self, result: Result<usize>) -> Option<Outcome> {
        let Operation { what, call, file: opened, is_found, .. } = &mut self.operation;
        let answer = match (&mut *what, result) {
            (What::Write(transfer), Err(_)) if transfer.moved > 0 => Ok(transfer.moved),
            (_, Err(Errno::ECANCELED | Errno::EINTR)) if self.is_cancelled => return Some(Outcome::Cancelled),
            // The thread that has entered it is gone. What uses a position stays in its line.
            (what, Err(Errno::ECANCELED | Errno::EINTR)) if what.position().is_some() => return None,
            (_, Err(Errno::ECANCELED)) => return Some(Outcome::Elsewhere),
            (What::Open { flags, may_wait, .. }, Err(Errno::ENXIO)) if !*may_wait && *flags & libc::O_NONBLOCK == 0 => {
                *may_wait = true;
                return None;
            }
            (What::Open { flags, may_wait, .. }, Ok(number)) => {
                // SAFETY: the kernel has opened it for us.
                let file = unsafe { OwnedFd::from_raw_fd(number as RawFd) };
                if self.is_cancelled {
                    // Too late, and nobody expects it any more.
                    return Some(Outcome::Cancelled);
                }
                let is_early = !*may_wait && may_be_early(*flags) && is_fifo(&file);
                *opened = Some(file);
                if is_early {
                    *may_wait = true;
                    return None;
                }
                Ok(0)
            }
            // Closed in any case, as by the call.
            (What::Close { .. }, Ok(_) | Err(Errno::EINTR | Errno::EINPROGRESS)) => Ok(0),
            (What::Write(transfer), Ok(count)) => {
                transfer.moved += count;
                if count > 0 && transfer.moved < transfer.total() {
                    call.iter_mut().for_each(|call| call.moved(count));
                    return None;
                }
                Ok(transfer.moved)
            }
            (What::Metadata { .. }, Ok(_)) => {
                *is_found = true;
                Ok(0)
            }
            (_, Ok(_)) => Ok(0),
            (what, Err(error)) if what.may_be_the_rings(error) => return Some(Outcome::Elsewhere),
            (_, Err(error)) => Err(error),
        };
        if let Some(call) = call
            && !call.ended(result)
        {
            return Some(Outcome::Elsewhere);
        }
        Some(Outcome::Answer(answer))
    }
}

/// Whether with these flags a FIFO is found open before somebody writes to it. What may make a file is not tried without
/// waiting.
fn may_be_early(flags: i32) -> bool {
    let others = libc::O_NONBLOCK | libc::O_PATH | libc::O_DIRECTORY | libc::O_CREAT | libc::O_TRUNC | libc::O_ACCMODE;
    flags & others == libc::O_RDONLY
}

fn is_fifo(file: &OwnedFd) -> bool {
    // The first question is cheap, and answers most.
    operation::has_place(file.as_fd()).is_err()
        && fstat(file).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo)
}

impl Name {
    fn to_u64(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    fn from_u64(number: u64) -> Name {
        Name { index: number as u32, generation: (number >> 32) as u32 }
    }
}

impl<T> AsRawFd for Ring<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.ring.as_raw_fd()
    }
}

impl<T> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("fd", &self.as_raw_fd()).field("entered", &self.entered).finish_non_exhaustive()
    }
}

/// Takes back what can be, and waits for the rest for a second. What is the kernel's even then stays in memory for good.
impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        if self.entered == 0 || !self.is_of_this_process() {
            // In a child of a fork, the kernel writes to the parent's memory.
            return;
        }
        let deadline = Instant::now() + PATIENCE;
        let timeout = Timespec::new().sec(PATIENCE.as_secs());
        // A kernel that does not know this call completes most operations all the same.
        let _ = self.ring.submitter().register_sync_cancel(Some(timeout), CancelBuilder::any());
        // What has opened a file closes it when it is dropped.
        while self.entered > 0 && self.wait_until(deadline) {
            for _ in 0..self.completed() {
                self.next_done(|value, _, _| drop(value));
            }
        }
        for slot in self.slots.iter_mut().filter(|slot| slot.is_entered) {
            std::mem::forget(std::mem::take(&mut slot.operation));
        }
    }
}

impl<T> Ring<T> {
    /// False in a child of the process that the ring was made in.
    pub fn is_of_this_process(&self) -> bool {
        self.forks == fork::forks()
    }

    /// In a child of that process: closes the ring. What it was given is left as it is, not even freed.
    pub fn forget(mut self) {
        std::mem::forget(std::mem::take(&mut self.slots));
    }

    /// Waits for a completion. False when there is none and the time is over.
    fn wait_until(&mut self, deadline: Instant) -> bool {
        while self.completed() == 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let mut ready = libc::pollfd { fd: self.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            let milliseconds = left.as_millis() as libc::c_int + 1;
            // SAFETY: one structure, which lives until the call returns. What it returns, the queue will tell.
            unsafe { libc::poll(&raw mut ready, 1, milliseconds) };
        }
        true
    }
}
