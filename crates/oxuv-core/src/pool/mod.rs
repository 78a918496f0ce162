//! The thread pool.
//!
//! A loop gives a [`Job`] to the pool with [`Core::submit`](crate::Core::submit), and hears of it by
//! [`Event::Done`](crate::Event::Done) in its poll phase. Any number of loops may share a pool; by default there is one for
//! the whole process, and a loop may have one of its own.
//!
//! * **Each job is published at once**, and may be cancelled until a thread begins it: no thread takes more than the job
//!   that it is going to run.
//! * **[Lanes](Lane)** keep kinds of jobs from starving each other.
//! * **Wake-ups are throttled**: one thread is woken at a time, and wakes the next if there is work for it.
//! * **Jobs come back in batches**: the first job that is put on a loop's desk wakes the loop, which takes all that is
//!   there by then. Until it is going to wait again it is not woken any more, but looks at its desk before it does.
//! * **One lock** guards queue and desks: a thread takes it once for each job, to give back one and to begin the next.
//! * **A child of a fork** has a pool without threads and jobs, and starts its own at first use.
//!
//! # To add another kind of job
//!
//! A front has one type of job for all that it does on threads. In the Rust front that is a `Box<dyn Job>`: make a struct
//! with what the job needs and room for its result, implement [`Job`] for it, and submit it boxed; the box comes back with
//! the event, and is cast down to the struct. In the C front it is the address of the request with a function
//! (`Request` in `oxuv-c/src/job.rs`); what the function finds out it writes into the request's memory, and
//! `done` there says by the request's type which callback is to hear of it. Neither takes a change of this crate, but the
//! choice of a lane.

mod desk;
mod queue;
mod size;
#[cfg(test)]
mod tests;
mod worker;

use std::ffi::CStr;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::sync::OnceLock;
use std::time::Duration;

use oxuv_os::{Errno, Result, Shared, Thread, fork};

use crate::kernel::{Finished, Job};
use crate::linux::Waker;
use crate::observe;
use desk::Returns;
pub(crate) use desk::{MOMENT, OBSERVED, Rest};
use worker::{Crew, Task};

pub use queue::{Lane, Ticket};

/// What a pool has counted of one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneMetrics {
    /// Jobs that wait for a thread now.
    pub queued: usize,
    /// Jobs that run now.
    pub running: usize,
    /// Jobs that have been run.
    pub done: u64,
    /// How long these have waited, in nanoseconds: those that were submitted after [`Pool::measure`], as with `run`.
    pub wait: u64,
    /// How long they have run, in nanoseconds.
    pub run: u64,
}

/// What a pool has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolMetrics {
    /// The threads; 0 before first use.
    pub threads: usize,
    /// By the numbers of [`Lane`].
    pub lanes: [LaneMetrics; 3],
}

/// Threads that run jobs.
pub struct Pool<J: Job> {
    first: Link<J>,
    name: &'static CStr,
    size: Option<NonZeroUsize>,
}

/// A pool belongs to one process. Its threads are gone in a child, and its locks may be held for ever, so a child has to do
/// with the next link of this chain.
struct Link<J: Job> {
    crew: OnceLock<Shared<Crew<J>>>,
    /// Used in children only.
    next: OnceLock<Shared<Link<J>>>,
}

impl<J: Job> Link<J> {
    const fn new() -> Self {
        Link { crew: OnceLock::new(), next: OnceLock::new() }
    }
}

impl<J: Job> Pool<J> {
    /// A pool whose threads bear this name. It has as many as `UV_THREADPOOL_SIZE` says at first use: 4 if it says nothing,
    /// 1024 at most.
    pub const fn new(name: &'static CStr) -> Pool<J> {
        Pool { first: Link::new(), name, size: None }
    }

    /// A pool with so many threads, 1024 at most.
    pub const fn with_size(name: &'static CStr, size: NonZeroUsize) -> Pool<J> {
        Pool { first: Link::new(), name, size: Some(size) }
    }

    /// Measures how long jobs wait and run that are submitted from now on. This costs three looks at the clock for each.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn measure(&self) -> Result<()> {
        self.crew()?.measure();
        Ok(())
    }

    /// What the pool has counted so far.
    pub fn metrics(&self) -> PoolMetrics {
        self.link().ok().and_then(|link| link.crew.get()).map_or_else(PoolMetrics::default, |crew| crew.metrics())
    }

    /// Runs what is queued, and ends the threads; jobs of the slow lane that have not begun are cancelled, since they might
    /// hold this up for long. The pool starts anew when it is used again; until this returns, it takes no jobs. A job that
    /// calls it does not wait for itself.
    ///
    /// With `patience` it waits no longer than that: it is for the end of the process. Threads that are still at work then are
    /// left to themselves, and the pool takes no more jobs.
    #[doc(alias = "uv_library_shutdown")]
    pub fn shutdown(&self, patience: Option<Duration>) {
        if let Ok(link) = self.link()
            && let Some(crew) = link.crew.get()
        {
            crew.end(patience);
        }
    }

    fn start(&self, crew: &Shared<Crew<J>>, threads: &mut Vec<Thread>) -> Result<()> {
        let size = self.size.map_or_else(size::asked_for, |size| size.get().min(size::MOST));
        worker::start(crew, threads, size, self.name)
    }

    fn crew(&self) -> Result<&Shared<Crew<J>>> {
        let link = self.link()?;
        if let Some(crew) = link.crew.get() {
            return Ok(crew);
        }
        fork::count()?;
        // If another thread is faster, this one is dropped.
        let _ = link.crew.set(Shared::new(Crew::new(fork::forks()))?);
        link.crew.get().ok_or(Errno::ENOMEM)
    }

    /// This process's link.
    fn link(&self) -> Result<&Link<J>> {
        let mut link = &self.first;
        for _ in 0..fork::forks() {
            if link.next.get().is_none() {
                let _ = link.next.set(Shared::new(Link::new())?);
            }
            link = link.next.get().ok_or(Errno::ENOMEM)?;
        }
        Ok(link)
    }
}

/// Waits for the jobs.
impl<J: Job> Drop for Pool<J> {
    fn drop(&mut self) {
        self.shutdown(None);
    }
}

impl<J: Job> fmt::Debug for Pool<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("name", &self.name).field("metrics", &self.metrics()).finish_non_exhaustive()
    }
}

/// The pool that a loop uses.
#[derive(Debug)]
pub enum PoolOf<J: Job> {
    /// That of the whole process.
    Process(&'static Pool<J>),
    /// One that it shares with those whom it was given to.
    Own(Shared<Pool<J>>),
}

impl<J: Job> Deref for PoolOf<J> {
    type Target = Pool<J>;

    #[inline]
    fn deref(&self) -> &Pool<J> {
        match self {
            PoolOf::Process(pool) => pool,
            PoolOf::Own(pool) => pool,
        }
    }
}

/// Opens a desk of this process's pool, in place of one of its parent's.
#[cold]
fn open_desk<'a, J: Job>(
    returns: &'a mut Option<Returns<J>>,
    pool: &Pool<J>,
    waker: Waker,
) -> Result<&'a mut Returns<J>> {
    let mut new = Returns::new(pool.crew()?.clone(), waker)?;
    if let Some(of_parent) = returns {
        new.inherit(of_parent);
    }
    Ok(returns.insert(new))
}

/// A loop's way to its pool.
#[derive(Debug)]
pub(crate) struct Counter<J: Job> {
    /// The loop must ask before it waits: it is not woken by the first job that comes back.
    pub(crate) is_awake: bool,
    /// Its jobs' times are kept for [`Counter::observed`].
    is_observed: bool,
    /// Made at first use. Before the pool, which runs no job of a loop that is gone.
    returns: Option<Returns<J>>,
    pub(crate) pool: PoolOf<J>,
}

impl<J: Job> Counter<J> {
    pub(crate) fn new(pool: PoolOf<J>) -> Self {
        Counter { is_awake: false, is_observed: false, pool, returns: None }
    }

    #[inline(always)] // As `Core::submit_for`.
    pub(crate) fn submit(
        &mut self,
        lane: Lane,
        request: u32,
        job: J,
        waker: impl FnOnce() -> Waker,
    ) -> Result<Ticket, (Errno, J)> {
        let returns = match &mut self.returns {
            Some(returns) if !returns.is_of_parent() => returns,
            returns => match open_desk(returns, &self.pool, waker()) {
                Ok(returns) => {
                    if self.is_observed {
                        returns.observe();
                    }
                    returns
                }
                Err(error) => return Err((error, job)),
            },
        };
        if let Err(error) = returns.reserve() {
            return Err((error, job));
        }
        let task = Task { job, lane, request, desk: returns.desk, since: 0 };
        match returns.crew.submit(task, |threads| self.pool.start(&returns.crew, threads)) {
            Ok(ticket) => {
                returns.add();
                Ok(ticket)
            }
            Err((error, task)) => Err((error, task.job)),
        }
    }

    /// Has the times of jobs kept that are submitted from now on.
    pub(crate) fn observe(&mut self) {
        self.is_observed = true;
        if let Some(returns) = &mut self.returns {
            returns.observe();
        }
    }

    /// Tells of the jobs that were run since it was last asked.
    pub(crate) fn observed(&mut self, tell: &mut dyn FnMut(observe::Job)) {
        if self.is_observed
            && let Some(returns) = &mut self.returns
        {
            returns.observed().into_iter().for_each(tell);
        }
    }

    /// Whether no job of the loop's is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.returns.as_ref().is_none_or(Returns::is_idle)
    }

    pub(crate) fn cancel(&mut self, ticket: Ticket) -> Result<()> {
        self.pool.crew()?.cancel(ticket)
    }

    /// In a child: what was submitted is its parent's.
    pub(crate) fn lose(&mut self) {
        if let Some(returns) = self.returns.take() {
            returns.leave_to_parent();
        }
    }

    #[inline]
    pub(crate) fn take(&mut self) -> usize {
        self.is_awake = self.returns.is_some();
        self.returns.as_mut().map_or(0, Returns::take)
    }

    /// Before the loop waits: how it may. It need not ask if it has not taken anything since it was told to wait long.
    pub(crate) fn rest(&mut self, may_be_brief: bool) -> Rest {
        self.rest_by(|returns| returns.rest(may_be_brief))
    }

    /// As [`Counter::rest`], after a brief wait in which nobody has woken the loop.
    pub(crate) fn rest_on(&mut self) -> Rest {
        self.rest_by(Returns::rest_on)
    }

    /// The loop was woken in a brief wait, after so many nanoseconds.
    pub(crate) fn woken_after(&mut self, nanoseconds: u64) {
        if let Some(returns) = &mut self.returns {
            returns.woken_after(nanoseconds);
        }
    }

    fn rest_by(&mut self, rest: impl FnOnce(&mut Returns<J>) -> Rest) -> Rest {
        let rest = self.returns.as_mut().map_or(Rest::Long, rest);
        self.is_awake = rest != Rest::Long;
        rest
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<Finished<J>> {
        self.returns.as_mut()?.next()
    }
}
