//! The simulated pool: jobs run in a wait, when the clock comes to their time, in an order drawn from the seed.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Release;

use oxuv_os::{Errno, Result};

use super::Sim;
use crate::kernel::{Finished, Job};
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

#[derive(Debug, Default)]
pub(super) struct Jobs {
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
        *self = Jobs { last_ticket: self.last_ticket, forks: self.forks + 1, ..Jobs::default() };
    }

    fn may_begin(&self, lane: Lane) -> bool {
        let running: usize = self.running.iter().sum();
        running < THREADS && (lane != Lane::SlowIo || self.running[lane as usize] < SLOW_THREADS)
    }
}

impl Sim {
    pub(super) fn submit_job(
        &self,
        lane: Lane,
        request: u32,
        job: Box<dyn Job>,
    ) -> Result<Ticket, (Errno, Box<dyn Job>)> {
        let mut world = self.world.borrow_mut();
        let no_memory = world.faults.no_memory;
        if world.random.chance(no_memory) {
            return Err((Errno::ENOMEM, job));
        }
        world.jobs.last_ticket += 1;
        let ticket = Ticket { index: request, generation: world.jobs.last_ticket };
        world.jobs.waiting.push(Waiting { lane, request, job, ticket });
        drop(world);
        self.plan_job();
        Ok(ticket)
    }

    pub(super) fn cancel_job(&self, ticket: Ticket) -> Result<()> {
        let mut world = self.world.borrow_mut();
        let found = world.jobs.waiting.iter().position(|waiting| waiting.ticket == ticket).ok_or(Errno::EBUSY)?;
        let Waiting { request, job, .. } = world.jobs.waiting.remove(found);
        world.jobs.finished.push_back(Finished { request, job, result: Err(Errno::ECANCELED) });
        self.waker.0.store(true, Release);
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
        let (delay, key) = (world.random.below(LONGEST) as u64, world.next_plan);
        world.next_plan += 1;
        let forks = world.jobs.forks;
        let plan = move |sim: &Sim| {
            if sim.world.borrow().jobs.forks != forks {
                return;
            }
            job.run();
            let mut world = sim.world.borrow_mut();
            world.jobs.running[lane as usize] -= 1;
            world.jobs.finished.push_back(Finished { request, job, result: Ok(()) });
            let is_left = !world.jobs.waiting.is_empty();
            drop(world);
            sim.waker.0.store(true, Release);
            if is_left {
                sim.plan_job();
            }
        };
        world.plans.insert((world.now.saturating_add(delay), key), Box::new(plan));
    }
}
