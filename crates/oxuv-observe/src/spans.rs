//! What a loop does as spans and events of the crate `tracing`.

use oxuv_core::{CallbackKind, ObservedJob as Job, Wait};
use tracing::span::EnteredSpan;
use tracing::{Span, debug_span, trace, trace_span};

/// The spans that are entered, the outermost first: turns, callbacks within them, parts of these, and the turns of a run in one. Each has
/// its place in that order.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    entered: Vec<(usize, EnteredSpan)>,
    /// The place of the part under way.
    part: Option<usize>,
}

/// The place of a turn in a callback of this depth or, by 0, in none.
fn turn(depth: usize) -> usize {
    3 * depth
}

fn callback(depth: usize) -> usize {
    3 * depth - 2
}

/// The place of a part of the callback of this depth, or of none.
fn part(depth: usize) -> usize {
    (3 * depth).saturating_sub(1)
}

impl Spans {
    pub(crate) fn turn_begun(&mut self, depth: usize, number: u64) {
        self.enter(turn(depth), || trace_span!(target: "oxuv", "turn", number));
    }

    pub(crate) fn callback_begun(&mut self, depth: usize, kind: CallbackKind, handle: Option<usize>, origin: &str) {
        self.enter(callback(depth), || debug_span!(target: "oxuv", "callback", kind = kind.name(), handle, origin));
    }

    pub(crate) fn callback_ended(&mut self, depth: usize) {
        self.leave(callback(depth));
    }

    pub(crate) fn part_begun(&mut self, depth: usize, kind: CallbackKind, origin: &str) {
        self.enter(part(depth), || debug_span!(target: "oxuv", "callback", kind = kind.name(), origin));
        self.part = Some(part(depth));
    }

    pub(crate) fn part_ended(&mut self) {
        if let Some(place) = self.part {
            self.leave(place);
        }
    }

    pub(crate) fn run_ended(&mut self, depth: usize) {
        self.leave(turn(depth));
    }

    pub(crate) fn waited(&self, wait: &Wait) {
        let microseconds = wait.ended.saturating_sub(wait.begun) / 1000;
        trace!(target: "oxuv", microseconds, ready = wait.ready, "waited");
    }

    pub(crate) fn job(&self, job: &Job) {
        let lane = job.lane.map_or("io_uring", |lane| lane.name());
        let queued = job.started.saturating_sub(job.queued) / 1000;
        let microseconds = job.finished.saturating_sub(job.started) / 1000;
        trace!(target: "oxuv", lane, queued, microseconds, "job");
    }

    fn enter(&mut self, place: usize, span: impl FnOnce() -> Span) {
        self.leave(place);
        self.entered.push((place, span().entered()));
    }

    /// Leaves what is entered at this place, or within that.
    fn leave(&mut self, place: usize) {
        self.part.take_if(|part| *part >= place);
        while self.entered.last().is_some_and(|(entered, _)| *entered >= place) {
            self.entered.pop();
        }
    }
}

impl Drop for Spans {
    fn drop(&mut self) {
        self.leave(0);
    }
}
