//! Jobs: work, operations on files, and lookups, which differ by their lane. Each is done once, or taken back, and is told of once.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use oxuv_core::kernel::{Call, Job, Operation};
use oxuv_core::{Errno, Lane, Result as CoreResult, Ticket};

use crate::Check;
use crate::actions::{same, user_of_request};
use crate::program::Place;
use crate::run::Machine;

/// What becomes of a job.
#[derive(Debug, Default)]
struct Fate {
    /// How often a thread has run it, and the ring has done it.
    runs: AtomicU32,
    answers: AtomicU32,
    /// How often the ring has it, or had it and gave it back.
    is_held: AtomicU32,
}

#[derive(Debug)]
struct Task {
    user: u64,
    /// Of an operation, whether the ring may be asked, and whether the loop's own thread may do it.
    is_for_files: bool,
    fate: Arc<Fate>,
}

impl Job for Task {
    fn run(&mut self) {
        self.fate.runs.fetch_add(1, Relaxed);
    }

    fn run_at_once(&mut self) -> bool {
        let runs = self.is_for_files && self.user.is_multiple_of(3);
        self.fate.runs.fetch_add(u32::from(runs), Relaxed);
        runs
    }

    fn put_operation(&mut self, place: &mut Operation) {
        if self.is_for_files {
            let is_put = Call::Metadata(c"/".to_owned()).put(place).is_ok();
            self.fate.is_held.fetch_add(u32::from(is_put), Relaxed);
        }
    }

    fn answered(&mut self, _: CoreResult<usize>, _: &mut Operation) {
        self.fate.answers.fetch_add(1, Relaxed);
        self.fate.is_held.fetch_sub(1, Relaxed);
    }

    fn take_back(&mut self, _: &mut Operation) {
        self.fate.is_held.fetch_sub(1, Relaxed);
    }
}

#[derive(Debug)]
struct Submitted {
    ticket: Ticket,
    fate: Arc<Fate>,
    is_cancelled: bool,
    /// The process that submitted it was this one's parent.
    is_lost: bool,
}

/// Those that were not told of, by their users.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    submitted: BTreeMap<u64, Submitted>,
}

impl Jobs {
    pub(crate) fn count(&self) -> usize {
        self.submitted.len()
    }

    /// This is a child: they are their parent's.
    pub(crate) fn lose(&mut self) {
        self.submitted.values_mut().for_each(|job| job.is_lost = true);
    }
}

/// What a job of this lane is, in the words of programs.
pub(crate) fn name(lane: Lane) -> &'static str {
    match lane {
        Lane::Work => "work",
        Lane::FastIo => "file operation",
        Lane::SlowIo => "lookup",
    }
}

impl Machine<'_> {
    pub(crate) fn submit(&mut self, place: Place, lane: Lane) -> Check {
        self.requests += 1;
        let (user, fate) = (user_of_request(self.requests, place), Arc::new(Fate::default()));
        let task = Task { user, is_for_files: lane == Lane::FastIo, fate: Arc::clone(&fate) };
        self.coverage.note("kinds", name(lane));
        match self.core.submit(lane, Box::new(task), user) {
            Ok(ticket) => {
                let submitted = Submitted { ticket, fate, is_cancelled: false, is_lost: false };
                self.model.jobs.submitted.insert(user, submitted);
            }
            Err(refused) => {
                let faults = &self.program.faults;
                let may_fail = match refused.error {
                    Errno::ENOMEM => faults.no_memory > 0,
                    Errno::EAGAIN => faults.no_thread > 0,
                    _ => false,
                };
                ensure!(may_fail, "submit fails with {:?}", refused.error);
                let given: Box<dyn Any> = refused.given;
                ensure!(given.downcast::<Task>().is_ok_and(|task| task.user == user), "another job is handed back");
            }
        }
        Ok(())
    }

    /// Takes back one of the jobs that were not told of.
    pub(crate) fn cancel(&mut self, nth: usize) -> Check {
        let jobs = &mut self.model.jobs.submitted;
        let count = jobs.len().max(1);
        let Some(job) = jobs.values_mut().nth(nth % count) else { return Ok(()) };
        let has_run = job.fate.runs.load(Relaxed) + job.fate.answers.load(Relaxed) > 0;
        match self.core.cancel(job.ticket) {
            Ok(()) => {
                ensure!(!has_run && !job.is_cancelled && !job.is_lost, "a job is taken back that cannot be");
                job.is_cancelled = true;
            }
            got => same("cancel", got, Err(Errno::EBUSY))?,
        }
        Ok(())
    }

    pub(crate) fn take_done(&mut self, user: u64, result: CoreResult<()>) -> Check {
        let job = self.model.jobs.submitted.remove(&user).ok_or("a job comes back that was not submitted, or again")?;
        let [runs, answers, held] = [&job.fate.runs, &job.fate.answers, &job.fate.is_held].map(|it| it.load(Relaxed));
        let given: Option<Box<dyn Any>> = self.core.take_job().map(|job| job as Box<dyn Any>);
        let is_it = given.map(|given| given.downcast::<Task>().is_ok_and(|task| task.user == user));
        if job.is_lost {
            same("a lost job", (result, is_it), (Err(Errno::ECANCELED), None))?;
            return Ok(());
        }
        same("the job that comes back", is_it, Some(true))?;
        ensure!(self.core.take_job().is_none(), "a job can be taken twice");
        let expected = if job.is_cancelled { (Err(Errno::ECANCELED), 0) } else { (Ok(()), 1) };
        same("a job", (result, runs + answers), expected)?;
        ensure!(held == 0, "the ring has a job still that has come back");
        self.coverage.note(
            "jobs",
            if answers > 0 {
                "done by the ring"
            } else if runs > 0 {
                "run"
            } else {
                "cancelled"
            },
        );
        Ok(())
    }
}
