//! The simulated pool and ring: jobs are done in a wait, when the clock comes to their time, in an order drawn from the seed.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Release;

use oxuv_os::{Errno, Result, Shared};

use super::{Fault, Sim};
use crate::fs_poll::Look;
use crate::kernel::{Finished, Job, Operation};
use crate::{Lane, Ticket};

/// A job takes less than this many nanoseconds to begin, and then to run.
const LONGEST: usize = 200_000;

#[derive(Debug)]
struct Waiting {
    lane: Lane,
    request: u32,
    job: Box<dyn Job>,
    ticket: Ticket,
}

/// A job that the ring has.
#[derive(Debug)]
struct Held {
    request: u32,
    job: Box<dyn Job>,
    operation: Operation,
    ticket: Ticket,
    /// The kernel knows of it.
    is_begun: bool,
}

#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// Whether there is a ring for operations on files.
    has_ring: bool,
    held: Vec<Held>,
    waiting: Vec<Waiting>,
    running: [usize; 3],
    finished: VecDeque<Finished<Box<dyn Job>>>,
    collected: VecDeque<Finished<Box<dyn Job>>>,
    last_ticket: u32,
    /// Counts the forks: what was running before has no thread.
    forks: u32,
}

/// As in a pool of four threads.
const THREADS: usize = 4;
const SLOW_THREADS: usize = 2;

impl Jobs {
    /// What was submitted never comes back.
    pub(super) fn lose(&mut self) {
        let Jobs { has_ring, last_ticket, forks, .. } = *self;
        *self = Jobs { has_ring, last_ticket, forks: forks + 1, ..Jobs::default() };
    }

    pub(super) fn must_begin(&self) -> bool {
        self.held.iter().any(|held| !held.is_begun)
    }

    fn may_begin(&self, lane: Lane) -> bool {
        let running: usize = self.running.iter().sum();
        running < THREADS && (lane != Lane::SlowIo || self.running[lane as usize] < SLOW_THREADS)
    }

    fn is_idle(&self) -> bool {
        self.held.is_empty() && self.waiting.is_empty() && self.running == [0; 3]
    }

    fn take_held(&mut self, ticket: Ticket) -> Option<Held> {
        let found = self.held.iter().position(|held| held.ticket == ticket)?;
        Some(self.held.remove(found))
    }
}

impl Sim {
    /// Whether there is a ring, which does operations on files: it says that each is done, and does nothing. There is none at
    /// first.
    pub fn set_ring(&self, on: bool) {
        self.world.borrow_mut().jobs.has_ring = on;
    }

    pub(super) fn submit_job(
        &self,
        lane: Lane,
        request: u32,
        mut job: Box<dyn Job>,
    ) -> Result<Ticket, (Errno, Box<dyn Job>)> {
        let mut world = self.world.borrow_mut();
        if world.commits(Fault::NoMemory) {
            return Err((Errno::ENOMEM, job));
        }
        if world.commits(Fault::NoThread) {
            return Err((Errno::EAGAIN, job));
        }
        world.jobs.last_ticket += 1;
        let ticket = Ticket { index: request, generation: world.jobs.last_ticket };
        if lane == Lane::FastIo && world.jobs.has_ring {
            // Alone, it may be done here and now.
            if world.jobs.is_idle() && world.random.chance(300) && job.run_at_once() {
                drop(world);
                self.finish_job(request, job, Ok(()));
                return Ok(ticket);
            }
            let mut operation = Operation::default();
            job.put_operation(&mut operation);
            if !operation.is_empty() {
                world.jobs.held.push(Held { request, job, operation, ticket, is_begun: false });
                return Ok(ticket);
            }
        }
        drop(world);
        self.queue_job(Waiting { lane, request, job, ticket });
        Ok(ticket)
    }

    pub(super) fn cancel_job(&self, ticket: Ticket) -> Result<()> {
        let mut world = self.world.borrow_mut();
        let jobs = &mut world.jobs;
        let (request, job) = if let Some(Held { request, mut job, mut operation, .. }) = jobs.take_held(ticket) {
            job.take_back(&mut operation);
            (request, job)
        } else {
            let found = jobs.waiting.iter().position(|waiting| waiting.ticket == ticket).ok_or(Errno::EBUSY)?;
            let Waiting { request, job, .. } = jobs.waiting.remove(found);
            (request, job)
        };
        drop(world);
        self.finish_job(request, job, Err(Errno::ECANCELED));
        Ok(())
    }

    pub(super) fn collect_jobs(&self) -> usize {
        let mut world = self.world.borrow_mut();
        let jobs = &mut world.jobs;
        jobs.collected.append(&mut jobs.finished);
        jobs.collected.len()
    }

    pub(super) fn next_job(&self) -> Option<Finished<Box<dyn Job>>> {
        self.world.borrow_mut().jobs.collected.pop_front()
    }

    /// The ring begins what it was given.
    pub(super) fn begin_operations(&self) {
        let mut begun = Vec::new();
        {
            let mut world = self.world.borrow_mut();
            let world = &mut *world;
            for held in world.jobs.held.iter_mut().filter(|held| !held.is_begun) {
                held.is_begun = true;
                begun.push((held.ticket, world.random.below(LONGEST) as u64));
            }
        }
        for (ticket, delay) in begun {
            self.later(delay, move |sim| sim.end_operation(ticket));
        }
    }

    fn end_operation(&self, ticket: Ticket) {
        let mut world = self.world.borrow_mut();
        let Some(Held { request, mut job, mut operation, .. }) = world.jobs.take_held(ticket) else { return };
        let declines = world.commits(Fault::RingDeclines);
        drop(world);
        if declines {
            job.take_back(&mut operation);
            self.queue_job(Waiting { lane: Lane::FastIo, request, job, ticket });
        } else {
            job.answered(Ok(0), &mut operation);
            self.finish_job(request, job, Ok(()));
        }
    }

    fn finish_job(&self, request: u32, job: Box<dyn Job>, result: Result<()>) {
        self.world.borrow_mut().jobs.finished.push_back(Finished { request, job, result });
        self.waker.0.store(true, Release);
    }

    fn queue_job(&self, waiting: Waiting) {
        self.world.borrow_mut().jobs.waiting.push(waiting);
        self.plan_job();
    }

    /// Some time from now, a thread looks for a job.
    fn plan_job(&self) {
        let delay = self.world.borrow_mut().random.below(LONGEST) as u64;
        self.later(delay, Sim::begin_job);
    }

    fn begin_job(&self) {
        let mut world = self.world.borrow_mut();
        let world = &mut *world;
        let jobs = &world.jobs;
        let able: Vec<usize> = (0..jobs.waiting.len()).filter(|&nth| jobs.may_begin(jobs.waiting[nth].lane)).collect();
        let Some(&nth) = world.random.pick(&able) else { return };
        let Waiting { lane, request, mut job, .. } = world.jobs.waiting.remove(nth);
        world.jobs.running[lane as usize] += 1;
        let delay = world.random.below(LONGEST) as u64;
        let forks = world.jobs.forks;
        let plan = move |sim: &Sim| {
            if sim.world.borrow().jobs.forks != forks {
                return;
            }
            sim.run_job(&mut job);
            let mut world = sim.world.borrow_mut();
            world.jobs.running[lane as usize] -= 1;
            let is_left = !world.jobs.waiting.is_empty();
            drop(world);
            sim.finish_job(request, job, Ok(()));
            if is_left {
                sim.plan_job();
            }
        };
        world.plan(delay, Box::new(plan));
    }

    /// A look is at a simulated file, if there are any.
    fn run_job(&self, job: &mut Box<dyn Job>) {
        let job: &mut dyn Job = job.as_mut();
        let look = (&*job as &dyn Any).downcast_ref::<Shared<Look>>();
        let found = look.and_then(|look| self.world.borrow().disk.look(look.path()));
        match (look, found) {
            (Some(look), Some(found)) => look.find(found),
            _ => job.run(),
        }
    }
}
