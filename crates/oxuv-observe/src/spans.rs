//! What a loop does as spans and events of the crate `tracing`.

use oxuv_core::{CallbackKind, ObservedJob as Job, Wait};
use tracing::span::EnteredSpan;
use tracing::{debug_span, trace, trace_span};

/// The spans that are entered, the outermost first: turns, and callbacks within them, which may run the loop.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<(usize, EnteredSpan)>);

impl Spans {
    /// A turn begins, in a callback of this depth or, by 0, in none.
    pub(crate) fn turn_begun(&mut self, depth: usize, number: u64) {
        self.leave(2 * depth);
        self.0.push((2 * depth, trace_span!(target: "oxuv", "turn", number).entered()));
    }

    pub(crate) fn callback_begun(&mut self, depth: usize, kind: CallbackKind, handle: Option<usize>, origin: &str) {
        self.leave(2 * depth - 1);
        let span = debug_span!(target: "oxuv", "callback", kind = kind.name(), handle, origin);
        self.0.push((2 * depth - 1, span.entered()));
    }

    pub(crate) fn callback_ended(&mut self, depth: usize) {
        self.leave(2 * depth - 1);
    }

    pub(crate) fn run_ended(&mut self, depth: usize) {
        self.leave(2 * depth);
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

    /// Leaves what is entered at this depth, or deeper.
    fn leave(&mut self, depth: usize) {
        while self.0.last().is_some_and(|(entered, _)| *entered >= depth) {
            self.0.pop();
        }
    }
}

impl Drop for Spans {
    fn drop(&mut self) {
        self.leave(0);
    }
}
