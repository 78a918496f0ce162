//! Who does the jobs of a [`Linux`] kernel, its ring or the pool, and how it waits for them.

use oxuv_os::epoll::{Epoll, Event, EventData, EventFlags};
use oxuv_os::{Errno, Result, clock};

use super::Linux;
use crate::kernel::{BATCH, Finished, Job, WAKE, Wake};
use crate::pool::{Lane, MOMENT, Rest, Ticket};
use crate::ring::Returned;

/// How a [`Linux`] waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Usual,
    /// A wait of no time would find nothing, and is left out: there is no descriptor, job, signal or waker yet.
    Unreached,
    WithoutSigprof,
    ByTestClock,
}

impl<J: Job> Linux<J> {
    /// Leaves out waits of no time as long as nothing but this thread can have anything for the loop. For a kernel that was just
    /// made; its wakers are for async handles alone. Nobody can tell, but who looks at system calls, cancels the thread in a wait,
    /// or closes the descriptor.
    pub fn skip_vain_waits(&mut self) {
        if self.way == Way::Usual {
            self.way = Way::Unreached;
        }
    }

    /// Something else than this thread may have something for the loop from now on.
    #[inline]
    pub(super) fn be_reached(&mut self) {
        if self.way == Way::Unreached {
            self.way = Way::Usual;
        }
    }

    #[inline(always)] // Of its callers one is in every turn.
    pub(super) fn wait_now(&mut self, timeout: Option<u64>) -> Result<u32> {
        match self.way {
            Way::Usual => self.epoll.wait(&mut *self.events, timeout),
            Way::Unreached if timeout == Some(0) => Ok(0),
            _ => self.wait_otherwise(timeout),
        }
    }

    #[cold]
    fn wait_otherwise(&mut self, timeout: Option<u64>) -> Result<u32> {
        let events = &mut *self.events;
        match self.way {
            Way::Usual | Way::Unreached => return self.epoll.wait(events, timeout),
            Way::WithoutSigprof => return self.epoll.wait_without_sigprof(events, timeout),
            Way::ByTestClock => {}
        }
        let count = self.epoll.wait(events, Some(0))?;
        if count > 0 {
            return Ok(count);
        }
        match timeout {
            // What threads and the kernel do for us takes its real time.
            Some(1..) if !self.jobs.is_idle() || !self.ring.is_idle() => self.epoll.wait(events, None),
            Some(nanoseconds) => {
                self.test_time = self.test_time.saturating_add(nanoseconds);
                Ok(0)
            }
            None => self.epoll.wait(events, None),
        }
    }

    /// Waits, while nobody wakes the loop for the first job that comes back.
    #[inline(never)]
    pub(super) fn wait_for_jobs(&mut self, timeout: Option<u64>) -> Result<u32> {
        let may_be_brief =
            Epoll::is_exact() && self.way == Way::Usual && timeout.is_none_or(|timeout| timeout > MOMENT);
        let count = match self.jobs.rest(may_be_brief) {
            Rest::Long => return self.wait_now(timeout),
            Rest::Found => self.wait_now(Some(0))?,
            Rest::Briefly(moment) => {
                let begun = clock::now();
                let count = self.wait_now(Some(timeout.map_or(moment, |timeout| timeout.min(moment))))?;
                let waited = clock::now().saturating_sub(begun);
                if count > 0 {
                    if self.is_woken(count) {
                        self.jobs.woken_after(waited);
                    }
                    return Ok(count);
                }
                if self.jobs.rest_on() == Rest::Long {
                    return self.wait_now(timeout.map(|timeout| timeout.saturating_sub(waited)));
                }
                0
            }
        };
        // What nobody has said, or the end of a run, before which jobs had come back. Behind a full batch it is said by the next.
        if self.is_woken(count) || count as usize == BATCH {
            return Ok(count);
        }
        self.events[count as usize] = Event { flags: EventFlags::IN, data: EventData::new_u64(WAKE) };
        Ok(count + 1)
    }

    /// Whether the wait, which has told of so many, has told of the loop's waker.
    fn is_woken(&self, count: u32) -> bool {
        self.events[..count as usize].iter().any(|event| event.data.u64() == WAKE)
    }

    /// Here, and in [`RingJobs`](crate::ring::RingJobs), it is decided who does an operation on files.
    #[inline(always)] // As `Core::submit_for`.
    pub(super) fn submit_job(&mut self, lane: Lane, request: u32, job: J) -> Result<Ticket, (Errno, J)> {
        self.be_reached();
        let job = match lane {
            Lane::FastIo => match self.submit_file_job(request, job) {
                Ok(ticket) => return Ok(ticket),
                Err(job) => job,
            },
            _ => job,
        };
        self.jobs.submit(lane, request, job, || self.waker.clone())
    }

    /// Does an operation on files at once, or has the ring do it; it is back if it is for a thread.
    #[inline(never)]
    fn submit_file_job(&mut self, request: u32, mut job: J) -> Result<Ticket, J> {
        if self.ring.is_idle() && self.jobs.is_idle() {
            match self.ring.run_at_once(request, job) {
                Ok(ticket) => {
                    // It is told of in the poll phase, as all jobs are.
                    self.waker.wake();
                    return Ok(ticket);
                }
                Err(back) => job = back,
            }
        }
        self.ring.submit(request, job, &self.epoll)
    }

    pub(super) fn cancel_job(&mut self, ticket: Ticket) -> Result<()> {
        if !ticket.is_of_ring() {
            return self.jobs.cancel(ticket);
        }
        if self.ring.cancel(ticket)? {
            self.waker.wake();
        }
        Ok(())
    }

    /// The next job that has come back.
    #[inline]
    pub(super) fn next_job(&mut self) -> Option<Finished<J>> {
        if self.ring.has_returned()
            && let Some(finished) = self.next_of_ring()
        {
            return Some(finished);
        }
        self.jobs.next()
    }

    #[inline(never)]
    fn next_of_ring(&mut self) -> Option<Finished<J>> {
        while let Some(returned) = self.ring.next() {
            match returned {
                Returned::Finished(finished) => return Some(finished),
                Returned::ForThread { request, job } => {
                    if let Some(finished) = self.run_elsewhere(request, job) {
                        return Some(finished);
                    }
                }
            }
        }
        None
    }

    /// Begins what was submitted to the ring since the last time.
    #[cold]
    pub(super) fn enter_ring(&mut self) {
        if self.ring.enter().is_err() {
            // What the ring has not taken is for the pool.
            self.waker.wake();
        }
    }

    /// A job that the ring was given is for a thread. Where there is no room for it in the pool, it is run at once: better the
    /// loop waits than that the job is lost.
    #[cold]
    fn run_elsewhere(&mut self, request: u32, job: J) -> Option<Finished<J>> {
        match self.jobs.submit(Lane::FastIo, request, job, || self.waker.clone()) {
            Ok(_) => None,
            Err((_, mut job)) => {
                job.run();
                Some(Finished { request, job, result: Ok(()) })
            }
        }
    }
}
