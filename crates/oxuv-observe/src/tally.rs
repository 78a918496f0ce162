//! The observer that counts: what it does at each callback is a few additions.

use std::fmt;
use std::sync::Arc;

use oxuv_core::{CallbackKind, Event, Metrics, ObservedJob as Job, Observer, Phase, Wait};

use crate::numbers::{Numbers, Part};

/// Counts for one loop.
#[derive(Debug)]
pub(crate) struct Tally {
    counts: Arc<Part>,
    /// What the loop had counted when that was last added; `None` before the first turn.
    metrics: Option<Metrics>,
    /// Until when the time is shared out among idle and busy; `None` outside of a run.
    counted: Option<u64>,
    turn_begun: Option<u64>,
    /// Of the turn.
    idle: u64,
    /// Of several callbacks that are one to the loop, the one that is under way, and when it began.
    part: Option<(CallbackKind, u64)>,
    /// The callback under way is several, and they are counted.
    has_parts: bool,
}

impl Tally {
    pub(crate) fn new(numbers: &Numbers) -> Tally {
        let counts = numbers.part();
        Tally { counts, metrics: None, counted: None, turn_begun: None, idle: 0, part: None, has_parts: false }
    }

    pub(crate) fn turn_begun(&mut self, number: u64, at: u64) {
        self.end_turn(at);
        self.turn_begun = Some(at);
        self.counted.get_or_insert(at);
        self.metrics.get_or_insert(Metrics { turns: number - 1, ..Metrics::default() });
    }

    pub(crate) fn waited(&mut self, wait: &Wait) {
        let counted = self.counted.replace(wait.ended).unwrap_or(wait.begun);
        self.idle += wait.idle;
        self.count(&wait.metrics);
        self.counts.idle.add(wait.idle);
        self.counts.busy.add(wait.ended.saturating_sub(counted).saturating_sub(wait.idle));
    }

    #[inline]
    pub(crate) fn callback_ended(&mut self, kind: CallbackKind, begun: u64, at: u64) {
        let duration = at.saturating_sub(begun);
        self.counts.delays.record(duration);
        if self.has_parts {
            self.part_ended(at);
            self.has_parts = false;
        } else {
            self.counts.kinds[kind as usize].add(duration);
        }
    }

    pub(crate) fn part_begun(&mut self, kind: CallbackKind, depth: u32, at: u64) {
        self.part_ended(at);
        (self.part, self.has_parts) = (Some((kind, at)), depth > 0);
    }

    pub(crate) fn part_ended(&mut self, at: u64) {
        if let Some((kind, begun)) = self.part.take() {
            self.counts.kinds[kind as usize].add(at.saturating_sub(begun));
        }
    }

    pub(crate) fn job_done(&mut self, job: &Job) {
        let times = job.lane.map_or(&self.counts.ring, |lane| &self.counts.lanes[lane as usize]);
        times.add(job.finished.saturating_sub(job.started));
    }

    pub(crate) fn run_ended(&mut self, metrics: &Metrics, at: u64) {
        self.end_turn(at);
        let busy = self.counted.take().map_or(0, |counted| at.saturating_sub(counted));
        self.counts.busy.add(busy);
        self.count(metrics);
    }

    fn end_turn(&mut self, at: u64) {
        if let Some(begun) = self.turn_begun.take() {
            let time = at.saturating_sub(begun).saturating_sub(std::mem::take(&mut self.idle));
            self.counts.turn_times.record(time);
        }
    }

    /// Adds what the loop has counted since the last time.
    fn count(&mut self, now: &Metrics) {
        let before = self.metrics.replace(*now).unwrap_or(*now);
        self.counts.turns.add(now.turns - before.turns);
        self.counts.events.add(now.events - before.events);
        self.counts.events_waiting.add(now.events_waiting - before.events_waiting);
    }
}

impl<U> Observer<U> for Tally {
    fn turn_begun(&mut self, number: u64, at: u64) {
        self.turn_begun(number, at);
    }

    fn phase_begun(&mut self, _: Phase, _: u64) {}

    fn wait_begun(&mut self, _: Option<u64>, _: u64) {}

    fn waited(&mut self, wait: &Wait) {
        self.waited(wait);
    }

    fn is_thorough(&self) -> bool {
        false
    }

    fn callback_begun(&mut self, _: &Event<U>, _: u32, _: u64) {}

    fn callback_ended(&mut self, _: u32, kind: CallbackKind, begun: u64, at: u64) {
        self.callback_ended(kind, begun, at);
    }

    fn part_begun(&mut self, kind: CallbackKind, _: &dyn fmt::Display, depth: u32, at: u64) {
        self.part_begun(kind, depth, at);
    }

    fn part_ended(&mut self, at: u64) {
        self.part_ended(at);
    }

    fn job_done(&mut self, job: Job) {
        self.job_done(&job);
    }

    fn run_ended(&mut self, metrics: &Metrics, at: u64) {
        self.run_ended(metrics, at);
    }
}
