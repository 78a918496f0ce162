//! The observer.

use std::fmt;
use std::time::Duration;

use oxuv_core::{Alive, CallbackKind, Event, ObservedJob as Job, Observer, Phase, Wait};

use crate::inquiry::Inquiry;
use crate::settings::{Settings, SlowCallback};
use crate::text::short;
use crate::trace::{Details, Span, Track};

/// Knows where callbacks are from.
pub trait Origins<U> {
    /// The same of something that keeps the loop alive.
    fn origin_of_keeper(&mut self, keeper: &Alive<U>, to: &mut Vec<u8>);

    /// Writes where the callback of this event, which is about to begin, is from: a file and a line, or a symbol.
    fn origin(&mut self, event: &Event<U>, to: &mut Vec<u8>);
}

/// Knows of none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOrigins;

impl<U> Origins<U> for NoOrigins {
    fn origin_of_keeper(&mut self, _: &Alive<U>, _: &mut Vec<u8>) {}

    fn origin(&mut self, _: &Event<U>, _: &mut Vec<u8>) {}
}

/// Writes a trace, tells of slow callbacks, and counts: see [`Settings`].
pub struct Recorder<U> {
    settings: Settings,
    origins: Box<dyn Origins<U>>,
    /// The loop's number in the trace.
    number: u64,
    /// A run of the loop, and the runs inside its callbacks.
    levels: Vec<Level>,
    wait: Option<Span>,
    /// Callbacks that are under way.
    depth: usize,
    /// Of several callbacks that are one to the loop, the one that is under way.
    part: Option<Open>,
    /// Where the one that begins is from.
    origin: Vec<u8>,
    /// What keeps the loop alive, while it is being told.
    keepers: Vec<String>,
}

/// What is under way in a run.
#[derive(Debug, Default)]
struct Level {
    turn: Option<Span>,
    phase: Option<Span>,
    callback: Option<Open>,
    /// The callback is several, and they are told of.
    has_parts: bool,
}

/// A callback that is under way.
#[derive(Debug)]
struct Open {
    kind: CallbackKind,
    handle: Option<usize>,
    origin: String,
    begun: u64,
    span: Option<Span>,
}

impl<U> fmt::Debug for Recorder<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<U> Recorder<U> {
    /// One that does what the settings say, for one loop.
    pub fn new(settings: Settings, origins: Box<dyn Origins<U>>) -> Recorder<U> {
        let number = settings.trace.as_ref().map_or(0, |trace| trace.add_loop(settings.name.as_deref()));
        let (levels, origin, keepers) = (Vec::new(), Vec::new(), Vec::new());
        Recorder { settings, origins, number, levels, wait: None, depth: 0, part: None, origin, keepers }
    }

    /// The run under way.
    fn level(&mut self) -> &mut Level {
        if self.levels.len() <= self.depth {
            self.levels.resize_with(self.depth + 1, Level::default);
        }
        &mut self.levels[self.depth]
    }

    fn begin(
        &self,
        track: Track,
        category: &str,
        name: &str,
        at: u64,
        numbers: &[(&'static str, u64)],
    ) -> Option<Span> {
        let details = Details { category, numbers, origin: &[] };
        self.settings.trace.as_ref()?.begin(self.number, track, name, at, &details)
    }

    fn end(&self, span: Option<Span>, at: u64) {
        if let Some(trace) = &self.settings.trace {
            trace.end(span, at);
        }
    }

    /// The phase under way is over, and with `whole_turn` the turn as well.
    fn end_phase(&mut self, whole_turn: bool, at: u64) {
        let level = self.level();
        let phase = level.phase.take();
        let turn = if whole_turn { level.turn.take() } else { None };
        self.end(phase, at);
        self.end(turn, at);
    }

    /// A callback begins whose origin is in the buffer for that.
    fn open(&mut self, kind: CallbackKind, handle: Option<usize>, is_part: bool, at: u64) -> Open {
        let mut open = Open { kind, handle, origin: String::new(), begun: at, span: None };
        if let Some(trace) = &self.settings.trace {
            let number = if is_part { Some(("part", 1)) } else { handle.map(|handle| ("handle", handle as u64)) };
            let details = Details { category: "callback", numbers: number.as_slice(), origin: &self.origin };
            open.span = trace.begin(self.number, Track::Callbacks, kind.name(), at, &details);
        }
        if self.settings.slow.is_some() || self.settings.pulse.is_some() {
            open.origin = short(&self.origin);
        }
        if let Some(pulse) = &self.settings.pulse {
            pulse.callback_begun(kind, &open.origin, at);
        }
        open
    }

    /// A callback is over: how long it took.
    fn close(&mut self, open: &Open, at: u64) -> u64 {
        self.end(open.span, at);
        if let Some(pulse) = &self.settings.pulse {
            pulse.callback_ended(at);
        }
        at.saturating_sub(open.begun)
    }

    /// Counts a callback, and tells of it if it was slow.
    fn count(&mut self, open: Open, duration: u64) {
        if let Some(numbers) = &self.settings.numbers {
            numbers.callback(open.kind, duration);
        }
        if let Some((threshold, tell)) = &mut self.settings.slow {
            let duration = Duration::from_nanos(duration);
            if duration >= *threshold {
                let Open { kind, handle, origin, .. } = open;
                tell(SlowCallback { kind, handle, origin, duration });
            }
        }
    }

    /// The part under way is over, if there is one.
    fn close_part(&mut self, at: u64) {
        if let Some(part) = self.part.take() {
            let duration = self.close(&part, at);
            self.count(part, duration);
        }
    }
}

impl<U> Observer<U> for Recorder<U> {
    fn turn_begun(&mut self, number: u64, at: u64) {
        self.end_phase(true, at);
        self.level().turn = self.begin(Track::Phases, "turn", "turn", at, &[("number", number)]);
        if let Some(numbers) = &self.settings.numbers {
            numbers.turn_begun(at);
        }
    }

    fn phase_begun(&mut self, phase: Phase, at: u64) {
        self.end_phase(false, at);
        self.level().phase = self.begin(Track::Phases, "phase", phase.name(), at, &[]);
    }

    fn wait_begun(&mut self, timeout: Option<u64>, at: u64) {
        let timeout = timeout.map(|timeout| ("timeout_us", timeout / 1000));
        self.wait = self.begin(Track::Phases, "wait", "wait", at, timeout.as_slice());
    }

    fn waited(&mut self, wait: Wait) {
        let span = self.wait.take();
        self.end(span, wait.ended);
        if let Some(numbers) = &self.settings.numbers {
            numbers.waited(&wait);
        }
    }

    fn callback_due(&mut self, event: &Event<U>) {
        if self.settings.trace.is_some() || self.settings.slow.is_some() || self.settings.pulse.is_some() {
            self.origin.clear();
            self.origins.origin(event, &mut self.origin);
        }
    }

    fn callback_begun(&mut self, event: &Event<U>, depth: u32, at: u64) {
        self.depth = depth as usize - 1;
        self.level();
        let (kind, handle) = (event.callback_kind(), event.key().map(|key| key.index()));
        let open = self.open(kind, handle, false, at);
        let level = &mut self.levels[self.depth];
        (level.callback, level.has_parts) = (Some(open), false);
        self.depth += 1;
    }

    fn callback_ended(&mut self, depth: u32, at: u64) {
        let Some(depth) = (depth as usize).checked_sub(1) else { return };
        // Runs inside of it that were left without a word.
        self.levels.truncate(depth + 1);
        self.depth = depth;
        self.close_part(at);
        let Some(open) = self.level().callback.take() else { return };
        let duration = self.close(&open, at);
        if let Some(numbers) = &self.settings.numbers {
            numbers.delay(duration);
        }
        // Its parts are what it was.
        if !self.level().has_parts {
            self.count(open, duration);
        }
    }

    fn part_begun(&mut self, kind: CallbackKind, origin: &str, at: u64) {
        self.close_part(at);
        if let Some(outer) = self.depth.checked_sub(1) {
            self.levels[outer].has_parts = true;
        }
        self.origin.clear();
        self.origin.extend_from_slice(origin.as_bytes());
        self.part = Some(self.open(kind, None, true, at));
    }

    fn part_ended(&mut self, at: u64) {
        self.close_part(at);
    }

    fn job_done(&mut self, job: Job) {
        if let Some(trace) = &self.settings.trace {
            trace.job(self.number, &job);
        }
        if let Some(numbers) = &self.settings.numbers {
            numbers.job(&job);
        }
    }

    fn run_ended(&mut self, at: u64) {
        self.end_phase(true, at);
        if let Some(numbers) = &self.settings.numbers {
            numbers.run_ended(at);
        }
    }

    fn asks_why_alive(&mut self) -> bool {
        self.settings.inquiry.as_ref().is_some_and(Inquiry::is_pending)
    }

    fn keeper(&mut self, keeper: Option<&Alive<U>>) {
        let Some(inquiry) = &self.settings.inquiry else { return };
        let Some(keeper) = keeper else { return inquiry.answer(std::mem::take(&mut self.keepers)) };
        let mut line = keeper.to_string();
        self.origin.clear();
        self.origins.origin_of_keeper(keeper, &mut self.origin);
        if !self.origin.is_empty() {
            line = format!("{line}, from {}", short(&self.origin));
        }
        self.keepers.push(line);
    }
}
