//! Somebody who looks on: what is told has to be in order, and to agree with what the program hears.

use std::cell::RefCell;
use std::rc::Rc;

use oxuv_core::{Alive, CallbackKind, Event, Metrics, ObservedJob, Observer, Phase, Wait, Why};

use crate::Check;
use crate::run::Machine;

/// The callback under way, and when it began.
type Begun = (Event<u64>, u64);

/// What was told last.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    at: u64,
    turn: u64,
    phase: Option<Phase>,
    under_way: Option<Begun>,
    /// Those of outer runs, in which others run, and their phases.
    outer: Vec<(Option<Begun>, Option<Phase>)>,
    waits: u64,
    complaint: Option<String>,
}

impl Seen {
    /// That of a callback of the run under way. Those that were under way when this came, it is not told of.
    fn depth(&self) -> u32 {
        1 + self.outer.iter().filter(|(callback, _)| callback.is_some()).count() as u32
    }

    /// Something is told of this time.
    fn tell(&mut self, at: u64, is_right: bool, what: &str) {
        if at < self.at || !is_right {
            self.complaint.get_or_insert(format!("an observer is told of {what} at {at}, after {:?}", self.at));
        }
        self.at = at;
    }
}

#[derive(Debug)]
struct Witness(Rc<RefCell<Seen>>);

impl Observer<u64> for Witness {
    fn turn_begun(&mut self, number: u64, at: u64) {
        let mut seen = self.0.borrow_mut();
        let is_next = number >= seen.turn;
        seen.tell(at, is_next, "a turn");
        (seen.turn, seen.phase) = (number, None);
    }

    fn phase_begun(&mut self, phase: Phase, at: u64) {
        let mut seen = self.0.borrow_mut();
        let is_next = seen.phase.is_none_or(|before| before < phase || before == Phase::FirstTimers);
        let is_phase = phase > Phase::TurnBegun && phase < Phase::Over;
        seen.tell(at, is_next && is_phase, phase.name());
        seen.phase = Some(phase);
    }

    fn wait_begun(&mut self, _: Option<u64>, at: u64) {
        let mut seen = self.0.borrow_mut();
        let is_in_poll = seen.phase == Some(Phase::Poll);
        seen.tell(at, is_in_poll, "a wait");
    }

    fn waited(&mut self, wait: &Wait) {
        let mut seen = self.0.borrow_mut();
        seen.tell(wait.ended, wait.begun <= wait.ended, "the end of a wait");
        seen.waits += 1;
    }

    fn callback_begun(&mut self, event: &Event<u64>, depth: u32, at: u64) {
        let mut seen = self.0.borrow_mut();
        let is_right = depth == seen.depth();
        seen.tell(at, is_right, "a callback");
        seen.under_way = Some((*event, at));
    }

    fn callback_ended(&mut self, depth: u32, kind: CallbackKind, begun: u64, at: u64) {
        let mut seen = self.0.borrow_mut();
        let told = seen.under_way.take().map(|(event, at)| (event.callback_kind(), at));
        let is_right = told == Some((kind, begun)) && depth == seen.depth();
        seen.tell(at, is_right, "the end of a callback");
    }

    fn job_done(&mut self, job: ObservedJob) {
        let is_right = job.queued <= job.started && job.started <= job.finished;
        let mut seen = self.0.borrow_mut();
        let at = seen.at;
        seen.tell(at, is_right, "a job");
    }

    fn run_ended(&mut self, _: &Metrics, at: u64) {
        let mut seen = self.0.borrow_mut();
        let is_between = seen.under_way.is_none();
        seen.tell(at, is_between, "the end of a run");
        seen.phase = None;
    }

    fn asks_why_alive(&mut self) -> bool {
        self.0.borrow().waits.is_multiple_of(3)
    }

    fn keeper(&mut self, why: Why, _: Option<&Alive<u64>>, _: u64) {
        let mut seen = self.0.borrow_mut();
        let at = seen.at;
        seen.tell(at, why == Why::Alive, "what keeps the loop open");
    }
}

impl Machine<'_> {
    pub(crate) fn observe(&mut self, on: bool) -> Check {
        let seen = on.then(Rc::<RefCell<Seen>>::default);
        let witness = seen.as_ref().map(|seen| Box::new(Witness(Rc::clone(seen))) as Box<dyn Observer<u64>>);
        let before = self.core.observe(witness);
        ensure!(before.is_some() == self.seen.is_some(), "the observer before does not come back");
        self.seen = seen;
        Ok(())
    }

    /// The program hears of this now.
    pub(crate) fn check_observer(&mut self, event: Option<&Event<u64>>) -> Check {
        let Some(seen) = &self.seen else { return Ok(()) };
        let mut seen = seen.borrow_mut();
        seen.complaint.take().map_or(Ok(()), Err)?;
        let told = seen.under_way.as_ref().map(|(told, _)| told);
        ensure!(told == event, "{event:?} is heard, and an observer told of {told:?}");
        Ok(())
    }

    /// A run begins in the callback under way.
    pub(crate) fn suspend_seen(&mut self) {
        if let Some(seen) = &self.seen {
            let mut seen = seen.borrow_mut();
            let outer = (seen.under_way.take(), seen.phase.take());
            seen.outer.push(outer);
        }
    }

    /// And has ended.
    pub(crate) fn resume_seen(&mut self) {
        if let Some(seen) = &self.seen {
            let mut seen = seen.borrow_mut();
            if let Some(outer) = seen.outer.pop() {
                (seen.under_way, seen.phase) = outer;
            }
        }
    }

    /// A run begins, perhaps after one that was left in the middle.
    pub(crate) fn forget_seen(&mut self, is_inner: bool) {
        if let Some(seen) = &self.seen {
            let mut seen = seen.borrow_mut();
            (seen.under_way, seen.phase) = (None, None);
            if !is_inner {
                seen.outer.clear();
            }
        }
    }
}
