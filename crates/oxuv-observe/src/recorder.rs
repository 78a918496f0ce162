//! The observer.

use std::fmt;
use std::io::Write;
use std::time::Duration;

use oxuv_core::{Alive, CallbackKind, Event, Key, Metrics, ObservedJob as Job, Observer, Phase, Wait, Why};

use crate::inquiry::Inquiry;
use crate::settings::{Settings, SlowCallback};
#[cfg(feature = "tracing")]
use crate::spans::Spans;
use crate::tally::Tally;
use crate::text::short;
use crate::trace::{Details, Span, Trace, Track};

/// Knows where callbacks are from.
pub trait Origins<U> {
    /// Writes what else is known at this time of something that keeps the loop alive, behind what the core knows: since when it is
    /// there, and where it is from.
    fn describe(&mut self, keeper: &Alive<U>, at: u64, to: &mut String);

    /// Writes where the callback of this event, which is about to begin, is from: a file and a line, or a symbol.
    fn origin(&mut self, event: &Event<U>, to: &mut Vec<u8>);

    /// Adds a line for each of what keeps the loop alive, or open, of which only the front knows.
    fn others(&mut self, why: Why, at: u64, to: &mut Vec<String>) {
        let _ = (why, at, to);
    }

    /// A handle was made at this time; the program is in the call that makes it.
    fn handle_made(&mut self, key: Key, at: u64) {
        let _ = (key, at);
    }

    /// The same for a job, by its front's value.
    fn job_made(&mut self, user: &U, at: u64) {
        let _ = (user, at);
    }
}

/// Knows of none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOrigins;

impl<U> Origins<U> for NoOrigins {
    fn describe(&mut self, _: &Alive<U>, _: u64, _: &mut String) {}

    fn origin(&mut self, _: &Event<U>, _: &mut Vec<u8>) {}
}

/// Writes a trace, tells of slow callbacks, and counts: see [`Settings`].
struct Recorder<U> {
    settings: Settings,
    origins: Box<dyn Origins<U>>,
    tracks: Option<Tracks>,
    /// A run of the loop, and the runs inside its callbacks.
    levels: Vec<Level>,
    wait: Option<Span>,
    /// Callbacks that are under way.
    depth: usize,
    /// Of several callbacks that are one to the loop, the one that is under way.
    part: Option<Open>,
    tally: Option<Tally>,
    #[cfg(feature = "tracing")]
    spans: Option<Spans>,
    /// Somebody wants to know where callbacks are from.
    wants_origins: bool,
    /// Where the one that begins is from.
    origin: Vec<u8>,
    /// What keeps the loop alive, while it is being told.
    keepers: Vec<String>,
}

/// The loop's tracks in a trace.
struct Tracks {
    trace: Trace,
    /// The loop's number.
    number: u64,
    /// What the spans of each kind begin with.
    turn: Vec<u8>,
    wait: Vec<u8>,
    phases: [Vec<u8>; Phase::ALL.len()],
    callbacks: [Vec<u8>; CallbackKind::ALL.len()],
}

impl Tracks {
    fn new(trace: &Trace, name: Option<&str>) -> Tracks {
        let number = trace.add_loop(name);
        let head = |track, category, name| trace.head(number, track, category, name);
        Tracks {
            trace: trace.clone(),
            number,
            turn: head(Track::Phases, "turn", "turn"),
            wait: head(Track::Phases, "wait", "wait"),
            phases: Phase::ALL.map(|phase| head(Track::Phases, "phase", phase.name())),
            callbacks: CallbackKind::ALL.map(|kind| head(Track::Callbacks, "callback", kind.name())),
        }
    }
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

/// An observer that does what the settings say, for one loop; `None` if that is nothing.
pub fn observer<U: 'static>(settings: Settings, origins: Box<dyn Origins<U>>) -> Option<Box<dyn Observer<U>>> {
    match &settings.numbers {
        _ if settings.is_empty() => None,
        Some(numbers) if settings.only_counts() => Some(Box::new(Tally::new(numbers))),
        _ => Some(Box::new(Recorder::new(settings, origins))),
    }
}

impl<U> Recorder<U> {
    fn new(settings: Settings, origins: Box<dyn Origins<U>>) -> Recorder<U> {
        let tracks = settings.trace.as_ref().map(|trace| Tracks::new(trace, settings.name.as_deref()));
        let tally = settings.numbers.as_ref().map(Tally::new);
        let wants_origins = settings.trace.is_some() || settings.slow.is_some() || settings.pulse.is_some();
        #[cfg(feature = "tracing")]
        let wants_origins = wants_origins || settings.tracing;
        Recorder {
            #[cfg(feature = "tracing")]
            spans: settings.tracing.then(Spans::default),
            settings,
            origins,
            tracks,
            levels: Vec::new(),
            wait: None,
            depth: 0,
            part: None,
            tally,
            wants_origins,
            origin: Vec::new(),
            keepers: Vec::new(),
        }
    }

    /// The run under way.
    fn level(&mut self) -> &mut Level {
        if self.levels.len() <= self.depth {
            self.levels.resize_with(self.depth + 1, Level::default);
        }
        &mut self.levels[self.depth]
    }

    fn end(&self, span: Option<Span>, at: u64) {
        if let Some(tracks) = &self.tracks {
            tracks.trace.end(span, at);
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
        if let Some(tracks) = &self.tracks {
            let number = if is_part { Some(("part", 1)) } else { handle.map(|handle| ("handle", handle as u64)) };
            let details = Details { numbers: number.as_slice(), origin: &self.origin };
            open.span = tracks.trace.begin(&tracks.callbacks[kind as usize], at, &details);
        }
        if self.settings.slow.is_some() || self.settings.pulse.is_some() {
            open.origin = short(&self.origin).into_owned();
        }
        if let Some(pulse) = &self.settings.pulse {
            pulse.callback_begun(kind, &open.origin, at);
        }
        open
    }

    /// A callback is over. It is told of if it was slow; or its parts are, which it was.
    fn close(&mut self, open: Open, has_parts: bool, at: u64) {
        self.end(open.span, at);
        if let Some(pulse) = &self.settings.pulse {
            match self.depth.checked_sub(1).and_then(|outer| self.levels[outer].callback.as_ref()) {
                // That one goes on, and has been at it since.
                Some(outer) => pulse.callback_begun(outer.kind, &outer.origin, outer.begun),
                None => pulse.callback_ended(),
            }
        }
        if let Some((threshold, tell)) = &mut self.settings.slow {
            let Open { kind, handle, origin, begun, .. } = open;
            let duration = Duration::from_nanos(at.saturating_sub(begun));
            if duration >= *threshold && !has_parts {
                tell(SlowCallback { kind, handle, origin, duration });
            }
        }
    }

    /// The part under way is over, if there is one.
    fn close_part(&mut self, at: u64) {
        if let Some(part) = self.part.take() {
            #[cfg(feature = "tracing")]
            if let Some(spans) = &mut self.spans {
                spans.part_ended();
            }
            self.close(part, false, at);
        }
    }
}

impl<U> Observer<U> for Recorder<U> {
    fn turn_begun(&mut self, number: u64, at: u64) {
        self.end_phase(true, at);
        self.level().turn = self.tracks.as_ref().and_then(|tracks| {
            let details = Details { numbers: &[("number", number)], ..Details::default() };
            tracks.trace.begin(&tracks.turn, at, &details)
        });
        if let Some(tally) = &mut self.tally {
            tally.turn_begun(number, at);
        }
        #[cfg(feature = "tracing")]
        if let Some(spans) = &mut self.spans {
            spans.turn_begun(self.depth, number);
        }
    }

    fn phase_begun(&mut self, phase: Phase, at: u64) {
        self.end_phase(false, at);
        self.level().phase = self
            .tracks
            .as_ref()
            .and_then(|tracks| tracks.trace.begin(&tracks.phases[phase as usize], at, &Details::default()));
    }

    fn wait_begun(&mut self, timeout: Option<u64>, at: u64) {
        let timeout = timeout.map(|timeout| ("timeout_us", timeout / 1000));
        self.wait = self.tracks.as_ref().and_then(|tracks| {
            let details = Details { numbers: timeout.as_slice(), ..Details::default() };
            tracks.trace.begin(&tracks.wait, at, &details)
        });
    }

    fn waited(&mut self, wait: &Wait) {
        let span = self.wait.take();
        self.end(span, wait.ended);
        if let Some(tally) = &mut self.tally {
            tally.waited(wait);
        }
        #[cfg(feature = "tracing")]
        if let Some(spans) = &self.spans {
            spans.waited(wait);
        }
    }

    fn callback_due(&mut self, event: &Event<U>) {
        self.origin.clear();
        if self.wants_origins {
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
        #[cfg(feature = "tracing")]
        if let Some(spans) = &mut self.spans {
            spans.callback_begun(self.depth, kind, handle, &short(&self.origin));
        }
    }

    fn callback_ended(&mut self, depth: u32, kind: CallbackKind, begun: u64, at: u64) {
        if let Some(tally) = &mut self.tally {
            tally.callback_ended(kind, begun, at);
        }
        let Some(depth) = (depth as usize).checked_sub(1) else { return };
        // Runs inside of it that were left without a word.
        self.levels.truncate(depth + 1);
        self.depth = depth;
        #[cfg(feature = "tracing")]
        if let Some(spans) = &mut self.spans {
            spans.callback_ended(depth + 1);
        }
        self.close_part(at);
        let level = self.level();
        let has_parts = level.has_parts;
        if let Some(open) = level.callback.take() {
            self.close(open, has_parts, at);
        }
    }

    fn part_begun(&mut self, kind: CallbackKind, origin: &dyn fmt::Display, depth: u32, at: u64) {
        if let Some(tally) = &mut self.tally {
            tally.part_begun(kind, depth, at);
        }
        self.close_part(at);
        if let Some(outer) = (depth as usize).checked_sub(1).filter(|&outer| outer < self.levels.len()) {
            self.levels[outer].has_parts = true;
        }
        self.origin.clear();
        if self.wants_origins {
            // Writing to memory does not fail.
            let _ = write!(self.origin, "{origin}");
        }
        self.part = Some(self.open(kind, None, true, at));
        #[cfg(feature = "tracing")]
        if let Some(spans) = &mut self.spans {
            spans.part_begun(depth as usize, kind, &short(&self.origin));
        }
    }

    fn part_ended(&mut self, at: u64) {
        if let Some(tally) = &mut self.tally {
            tally.part_ended(at);
        }
        self.close_part(at);
    }

    fn job_done(&mut self, job: Job) {
        if let Some(tracks) = &self.tracks {
            tracks.trace.job(tracks.number, &job);
        }
        if let Some(tally) = &mut self.tally {
            tally.job_done(&job);
        }
        #[cfg(feature = "tracing")]
        if let Some(spans) = &self.spans {
            spans.job(&job);
        }
    }

    fn run_ended(&mut self, metrics: &Metrics, at: u64) {
        self.end_phase(true, at);
        if let Some(tally) = &mut self.tally {
            tally.run_ended(metrics, at);
        }
        #[cfg(feature = "tracing")]
        if let Some(spans) = &mut self.spans {
            spans.run_ended(self.depth);
        }
    }

    fn handle_made(&mut self, key: Key, at: u64) {
        self.origins.handle_made(key, at);
    }

    fn job_made(&mut self, user: &U, at: u64) {
        self.origins.job_made(user, at);
    }

    fn asks_why_alive(&mut self) -> bool {
        self.settings.inquiry.as_ref().is_some_and(Inquiry::is_pending)
    }

    fn keeper(&mut self, why: Why, keeper: Option<&Alive<U>>, at: u64) {
        let Some(inquiry) = &self.settings.inquiry else { return };
        let Some(keeper) = keeper else {
            self.origins.others(why, at, &mut self.keepers);
            return inquiry.answer(why, std::mem::take(&mut self.keepers));
        };
        let mut line = keeper.to_string();
        self.origins.describe(keeper, at, &mut line);
        self.keepers.push(line);
    }
}

#[cfg(test)]
mod tests {
    use oxuv_core::sim::{Faults, Sim};
    use oxuv_core::{Config, Core, Mode, One};

    use super::*;
    use crate::Pulse;

    #[test]
    fn a_callback_is_under_way_also_when_one_within_it_has_come_and_gone() {
        let mut core = Core::<_, u32, One<Vec<u8>>>::new(Sim::new(1, Faults::none()), Config::default()).unwrap();
        let pulse = Pulse::default();
        let settings = Settings { pulse: Some(pulse.clone()), ..Settings::default() };
        core.observe(Some(Box::new(Recorder::new(settings, Box::new(NoOrigins)))));
        let (outer, inner) = (core.timer_init(1).unwrap(), core.idle_init(2).unwrap());
        core.timer_start(outer, 0, 0).unwrap();
        core.begin(Mode::Default);
        assert_eq!(core.next().map(|event| event.callback_kind()), Some(CallbackKind::Timer));
        let suspended = core.suspend();
        core.watcher_start(inner).unwrap();
        core.begin(Mode::NoWait);
        assert_eq!(core.next().map(|event| event.callback_kind()), Some(CallbackKind::Idle));
        assert_eq!(pulse.under_way().unwrap().kind, CallbackKind::Idle);
        core.watcher_stop(inner).unwrap();
        assert_eq!(core.next(), None);
        core.end().unwrap();
        core.resume(suspended);
        assert!(pulse.is_of_this_thread() && pulse.under_way().unwrap().kind == CallbackKind::Timer);
        assert_eq!(core.next(), None);
        assert!(pulse.under_way().is_none());
    }
}
