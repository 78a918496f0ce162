//! Jobs: what runs on other threads, and is told of when it is done.

use oxuv_os::{Errno, Result};

use crate::kernel::{Finished, Kernel};
use crate::slab::Slab;
use crate::write::Refused;
use crate::{Buffers, Core, Event, Key, Lane, Ticket};

/// What the core keeps of the jobs that were submitted.
#[derive(Debug)]
pub(crate) struct Jobs<U, J> {
    /// Who hears of each; its index is the number that the kernel gives back.
    pub(crate) askers: Slab<Option<Asker<U>>>,
    /// The job that was last told of.
    spent: Option<J>,
    /// Those that were submitted in the process that this one was forked from, last first.
    lost: Vec<u32>,
    /// The look of this handle, in this of its series, whose callback is called now.
    pub(crate) told_look: Option<(Key, u32)>,
}

/// Who hears of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asker<U> {
    /// The front, by this value.
    Front(U),
    /// A handle that looks at a file, in what it has been started for the how manieth time.
    FsPoll { key: Key, start: u32 },
}

impl<U, J> Default for Jobs<U, J> {
    fn default() -> Self {
        Jobs { askers: Slab::new(), spent: None, lost: Vec::new(), told_look: None }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Has a job run on a thread of the pool. It is a request: it keeps the loop alive until
    /// [`Event::Done`], which always comes.
    ///
    /// # Errors
    /// ENOMEM, EAGAIN when no thread can be started. The job is handed back.
    #[doc(alias = "uv_queue_work")]
    #[inline]
    pub fn submit(&mut self, lane: Lane, job: K::Job, user: U) -> Result<Ticket, Refused<K::Job>> {
        self.submit_for(Asker::Front(user), lane, job)
    }

    /// As [`Core::submit`], for whoever it is.
    #[inline(always)] // Nearly all that it takes would be to hand the job and the result on.
    pub(crate) fn submit_for(&mut self, asker: Asker<U>, lane: Lane, job: K::Job) -> Result<Ticket, Refused<K::Job>> {
        let request = match self.jobs.askers.insert(Some(asker)) {
            Ok(request) => request,
            Err(error) => return Err(Refused { error, given: job }),
        };
        match self.kernel.submit(lane, request, job) {
            Ok(ticket) => {
                self.requests += 1;
                if let (Some(observing), Asker::Front(user)) = (&mut self.observing, asker) {
                    observing.observer.job_made(&user, self.now);
                }
                if self.counts.looks_before {
                    // Whether it comes back before the loop waits is what is counted.
                    self.kernel.begin();
                }
                Ok(ticket)
            }
            Err((error, given)) => Err(self.refuse(request, error, given)),
        }
    }

    #[cold]
    fn refuse(&mut self, request: u32, error: Errno, given: K::Job) -> Refused<K::Job> {
        self.jobs.askers.remove(request);
        Refused { error, given }
    }

    /// Takes back a job that has not begun. [`Event::Done`] tells of it with ECANCELED, later.
    ///
    /// # Errors
    /// EBUSY when it runs, has run, or was cancelled before.
    #[doc(alias = "uv_cancel")]
    pub fn cancel(&mut self, ticket: Ticket) -> Result<()> {
        self.kernel.cancel(ticket)
    }

    /// The job that was last told of by [`Event::Done`], once. What is not taken is dropped some time.
    #[inline]
    pub fn take_job(&mut self) -> Option<K::Job> {
        self.jobs.spent.take()
    }

    /// Makes sure that [`Core::lose_jobs`] needs no memory.
    pub(crate) fn reserve_for_losses(&mut self) -> Result<()> {
        Ok(self.jobs.lost.try_reserve(self.jobs.askers.len())?)
    }

    /// In a child: what was submitted never comes back, and is told of as cancelled.
    pub(crate) fn lose_jobs(&mut self) {
        let numbers = 0..self.jobs.askers.bound() as u32;
        self.jobs.lost.clear();
        self.jobs.lost.extend(numbers.rev().filter(|&number| self.jobs.askers[number].is_some()));
        if !self.jobs.lost.is_empty() {
            self.have_mailbox_opened();
        }
    }

    /// True if some of the jobs that were lost are still to be told.
    #[inline]
    pub(crate) fn has_lost_jobs(&self) -> bool {
        !self.jobs.lost.is_empty()
    }

    /// What there rarely is: jobs that were lost, and a look whose callback has been called.
    #[cold]
    fn next_rare(&mut self) -> Option<Event<U>> {
        self.end_told_look();
        while let Some(request) = self.jobs.lost.pop() {
            let Some(asker) = self.jobs.askers.remove(request) else { continue };
            self.requests -= 1;
            match asker {
                Asker::Front(user) => {
                    self.jobs.spent = None;
                    return Some(Event::Done { user, result: Err(Errno::ECANCELED) });
                }
                Asker::FsPoll { key, start } => self.lose_look(key, start),
            }
        }
        None
    }

    /// What [`Core::next`] would give, if that is again a job that has come back, as the last was. It gets there quicker.
    #[inline]
    pub fn next_done(&mut self) -> Option<Event<U>> {
        if self.mailbox.has_jobs() && !self.is_observed() { self.next_returned() } else { None }
    }

    /// The next job of those that have come back.
    #[inline(always)] // Where the next event is looked for, and where another one of the same kind is.
    pub(crate) fn next_returned(&mut self) -> Option<Event<U>> {
        if (self.has_lost_jobs() || self.jobs.told_look.is_some())
            && let Some(event) = self.next_rare()
        {
            return Some(event);
        }
        while let Some(Finished { request, job, result }) = self.kernel.next_finished() {
            let Some(asker) = self.jobs.askers.remove(request) else { continue };
            self.requests -= 1;
            match asker {
                Asker::Front(user) => {
                    self.jobs.spent = Some(job);
                    return Some(Event::Done { user, result });
                }
                Asker::FsPoll { key, start } => {
                    if let Some(event) = self.looked(key, start, result) {
                        return Some(event);
                    }
                }
            }
        }
        self.mailbox.end_jobs();
        None
    }
}
