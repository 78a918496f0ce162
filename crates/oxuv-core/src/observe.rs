//! Looking on: what a loop does is told to an observer, turn by turn, phase by phase, callback by callback.
//!
//! A callback lasts from the return of [`Core::next`] to its next call, so the core can time callbacks without knowing them.
//! The driver of an unobserved loop looks at a pointer when it has found an event. An observed one is put into a phase of its own
//! during callbacks, so that the next call goes out of its way. Which phase and turn it is, an observed one
//! finds out from the events and the waits, so the phases know nothing of observers. Quick ways from one event to the next of
//! its kind are closed.

use std::fmt;

use crate::kernel::Kernel;
use crate::poll::Care;
use crate::{Alive, Buffers, Core, Event, Key, Kind, Lane, Phase};

/// One wait of the poll phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// When it began, in nanoseconds of the loop's clock.
    pub begun: u64,
    /// When it was over.
    pub ended: u64,
    /// How long it would have lasted at most, in nanoseconds; `None` is for ever.
    pub timeout: Option<u64>,
    /// How many descriptors were ready.
    pub ready: usize,
}

/// A job of the pool that was run, in nanoseconds of the loop's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The lane it was in.
    pub lane: Lane,
    /// When it was submitted.
    pub queued: u64,
    /// When a thread began it.
    pub started: u64,
    /// When it was over.
    pub finished: u64,
}

/// Is told what a loop does. All calls are on the loop's thread, outside of callbacks; times are nanoseconds of the loop's
/// clock, `CLOCK_MONOTONIC`.
///
/// It must not panic. What it does takes time of the loop's.
pub trait Observer<U>: fmt::Debug {
    /// A turn begins: the how manieth of the loop.
    fn turn_begun(&mut self, number: u64, at: u64);

    /// A phase begins that has something to do, and what was before it is over. Poll has always.
    fn phase_begun(&mut self, phase: Phase, at: u64);

    /// The loop is going to wait. Phase: poll.
    fn wait_begun(&mut self, timeout: Option<u64>, at: u64);

    /// The loop has waited. Phase: poll.
    fn waited(&mut self, wait: Wait);

    /// A callback is due: for what takes time, such as to find out its name, and is not to count as the callback's.
    fn callback_due(&mut self, event: &Event<U>) {
        let _ = event;
    }

    /// A callback is about to begin. `depth` is 1, and more by one for each callback that runs the loop and is under way.
    fn callback_begun(&mut self, event: &Event<U>, depth: u32, at: u64);

    /// The callback of this depth is over, and those of greater depth, should they have been left without a word.
    fn callback_ended(&mut self, depth: u32, at: u64);

    /// Within the callback under way, or outside of the run, another one begins that the front calls: of several that are one to
    /// the loop. What was told of before it is over.
    fn part_begun(&mut self, kind: CallbackKind, origin: &str, at: u64) {
        let _ = (kind, origin, at);
    }

    /// The last of them is over. Else the end of the callback that they are in is its end, too.
    fn part_ended(&mut self, at: u64) {
        let _ = at;
    }

    /// A job of this loop's has come back. Phase: poll.
    fn job_done(&mut self, job: Job);

    /// The run is over.
    fn run_ended(&mut self, at: u64);

    /// Whether to tell it now what keeps the loop alive. Asked after each wait.
    fn asks_why_alive(&mut self) -> bool {
        false
    }

    /// One of what keeps the loop alive; `None` when it has been told of all.
    fn keeper(&mut self, keeper: Option<&Alive<U>>) {
        let _ = keeper;
    }
}

/// What an observer has been told of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Told {
    /// How many callbacks are not over: those of outer runs, and one of this.
    callbacks: u32,
    /// One of them is this run's.
    is_calling: bool,
    /// The phase in which the loop is while the front has it.
    phase_under_way: Option<Phase>,
    /// The phase, and the number of its turn.
    phase: Option<Phase>,
    turn: u64,
}

impl Told {
    /// A run begins, perhaps in a callback of another one.
    pub(crate) fn begin_run(&mut self) {
        (self.is_calling, self.phase) = (false, None);
    }

    /// Another run had so many turns meanwhile.
    pub(crate) fn skip(&mut self, turns: u64) {
        self.turn += turns;
    }
}

/// What a callback tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // They are those of `Event`, but for the last two.
pub enum CallbackKind {
    Timer,
    Idle,
    Prepare,
    Check,
    Async,
    Signal,
    Poll,
    Connection,
    Read,
    Connect,
    Write,
    Receive,
    Send,
    Shutdown,
    Job,
    Exit,
    FsEvent,
    FsPoll,
    Close,
    /// One of a script's immediates, all of which are one check callback to the loop.
    Immediate,
    /// The main part of a script, before the loop runs.
    Script,
}

impl CallbackKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [CallbackKind; 21] = {
        use CallbackKind::*;
        [
            Timer, Idle, Prepare, Check, Async, Signal, Poll, Connection, Read, Connect, Write, Receive, Send,
            Shutdown, Job, Exit, FsEvent, FsPoll, Close, Immediate, Script,
        ]
    };

    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; CallbackKind::ALL.len()] = [
            "timer",
            "idle",
            "prepare",
            "check",
            "async",
            "signal",
            "poll",
            "connection",
            "read",
            "connect",
            "write",
            "receive",
            "send",
            "shutdown",
            "job",
            "exit",
            "fs_event",
            "fs_poll",
            "close",
            "immediate",
            "script",
        ];
        NAMES[self as usize]
    }
}

impl Phase {
    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Phase::TurnBegun | Phase::Over | Phase::Told => "none",
            Phase::Pending | Phase::PendingAfterPoll => "pending",
            Phase::Idle => "idle",
            Phase::Prepare => "prepare",
            Phase::Poll => "poll",
            Phase::Check => "check",
            Phase::Closing => "closing",
            Phase::Timers | Phase::FirstTimers => "timers",
        }
    }
}

impl Kind {
    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Kind::None => "none",
            Kind::Timer => "timer",
            Kind::Idle => "idle",
            Kind::Prepare => "prepare",
            Kind::Check => "check",
            Kind::Async => "async",
            Kind::Tcp => "tcp",
            Kind::Pipe => "pipe",
            Kind::Tty => "tty",
            Kind::Poll => "poll",
            Kind::Udp => "udp",
            Kind::Process => "process",
            Kind::FsEvent => "fs_event",
            Kind::FsPoll => "fs_poll",
            Kind::Signal => "signal",
        }
    }
}

impl<U> Event<U> {
    /// What it tells of.
    pub fn callback_kind(&self) -> CallbackKind {
        match self {
            Event::Timer { .. } => CallbackKind::Timer,
            Event::Idle { .. } => CallbackKind::Idle,
            Event::Prepare { .. } => CallbackKind::Prepare,
            Event::Check { .. } => CallbackKind::Check,
            Event::Async { .. } => CallbackKind::Async,
            Event::Signal { .. } => CallbackKind::Signal,
            Event::Poll { .. } | Event::Ready { .. } => CallbackKind::Poll,
            Event::Connection { .. } => CallbackKind::Connection,
            Event::NeedBuffer { .. } | Event::HungUp { .. } => CallbackKind::Read,
            Event::Connected { .. } => CallbackKind::Connect,
            Event::Written { .. } => CallbackKind::Write,
            Event::NeedDatagramBuffer { .. } => CallbackKind::Receive,
            Event::Sent { .. } => CallbackKind::Send,
            Event::ShutDown { .. } => CallbackKind::Shutdown,
            Event::Done { .. } => CallbackKind::Job,
            Event::Exited { .. } => CallbackKind::Exit,
            Event::FsEvent { .. } => CallbackKind::FsEvent,
            Event::FsPoll { .. } => CallbackKind::FsPoll,
            Event::Closed { .. } => CallbackKind::Close,
        }
    }

    /// The key of the handle that it concerns; a job has none.
    pub fn key(&self) -> Option<Key> {
        match *self {
            Event::Done { .. } => None,
            Event::Timer { key, .. }
            | Event::Idle { key, .. }
            | Event::Prepare { key, .. }
            | Event::Check { key, .. }
            | Event::Async { key, .. }
            | Event::Signal { key, .. }
            | Event::Poll { key, .. }
            | Event::Connection { key, .. }
            | Event::Ready { key, .. }
            | Event::NeedBuffer { key, .. }
            | Event::HungUp { key, .. }
            | Event::Connected { key, .. }
            | Event::Written { key, .. }
            | Event::NeedDatagramBuffer { key, .. }
            | Event::Sent { key, .. }
            | Event::ShutDown { key, .. }
            | Event::Exited { key, .. }
            | Event::FsEvent { key, .. }
            | Event::FsPoll { key, .. }
            | Event::Closed { key, .. } => Some(key),
        }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Has this observer told what the loop does from now on; `None` for nobody. Within a callback, too: then that one is not told
    /// of. The observer before it comes back.
    pub fn observe(&mut self, observer: Option<Box<dyn Observer<U>>>) -> Option<Box<dyn Observer<U>>> {
        let phase_under_way = self.turn.told.phase_under_way;
        self.turn.told = Told { phase_under_way, ..Told::default() };
        if observer.is_some() {
            self.poll.care = Care::Look;
            self.kernel.measure_jobs();
        }
        let before = std::mem::replace(&mut self.observing, observer);
        self.heed_observer();
        before
    }

    /// Tells the observer that a callback begins which is the front's own, within one of the loop's or outside of a run.
    pub fn begin_part(&mut self, kind: CallbackKind, origin: &str) {
        if let Some(observer) = &mut self.observing {
            observer.part_begun(kind, origin, self.kernel.now());
        }
    }

    /// Tells the observer that the last of those is over.
    pub fn end_part(&mut self) {
        if let Some(observer) = &mut self.observing {
            observer.part_ended(self.kernel.now());
        }
    }

    /// The observer, to be asked what it has seen.
    pub fn observer_mut(&mut self) -> Option<&mut (dyn Observer<U> + 'static)> {
        self.observing.as_deref_mut()
    }

    #[inline(always)] // A look at a pointer.
    pub(crate) fn is_observed(&self) -> bool {
        self.observing.is_some()
    }

    /// An observed loop that runs is in [`Phase::Told`] whenever the front has it, so that its next call goes out of its
    /// way, and nobody else's asks whether there is an observer. To be called where a front gets a loop, and where that
    /// comes to be observed or not.
    pub(crate) fn heed_observer(&mut self) {
        let is_told = self.turn.phase == Phase::Told;
        if self.is_observed() && !is_told && self.turn.phase != Phase::Over {
            self.turn.told.phase_under_way = Some(self.turn.phase);
            self.turn.phase = Phase::Told;
            self.slots.put_walk_by();
        } else if is_told && !self.is_observed() {
            self.take_up();
        }
    }

    /// The phase in which the loop is, observed or not.
    #[inline]
    pub(crate) fn phase_under_way(&self) -> Phase {
        match self.turn.phase {
            Phase::Told => self.turn.told.phase_under_way.unwrap_or(Phase::Over),
            phase => phase,
        }
    }

    /// The loop is the core's again.
    fn take_up(&mut self) {
        self.turn.phase = self.phase_under_way();
        self.slots.take_walk_up();
    }

    /// The next event of an observed loop.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_told(&mut self) -> Option<Event<U>> {
        self.before_next();
        loop {
            let event = self.next_watcher().map(|(key, kind, user)| Event::of_watcher(key, kind, user));
            let event = event.or_else(|| self.advance());
            if event.is_some() || self.is_over() {
                return self.after_next(event);
            }
        }
    }

    /// Before the next event is looked for: the callback is over.
    fn before_next(&mut self) {
        self.take_up();
        let told = &mut self.turn.told;
        if std::mem::take(&mut told.is_calling) {
            let depth = told.callbacks;
            told.callbacks -= 1;
            let now = self.kernel.now();
            if let Some(observer) = &mut self.observing {
                observer.callback_ended(depth, now);
            }
        }
    }

    /// An event was found: its callback begins. Or none was, and the run is over.
    fn after_next(&mut self, event: Option<Event<U>>) -> Option<Event<U>> {
        if event.is_some() {
            self.tell_phase(self.turn.phase);
        }
        let Some(observer) = &mut self.observing else { return event };
        if let Some(event) = &event {
            observer.callback_due(event);
        }
        let now = self.kernel.now();
        if let Some(event) = &event {
            let told = &mut self.turn.told;
            told.callbacks += 1;
            told.is_calling = true;
            observer.callback_begun(event, told.callbacks, now);
            self.heed_observer();
        } else {
            self.kernel.measured_jobs(&mut |job| observer.job_done(job));
            observer.run_ended(now);
        }
        event
    }

    /// Tells of a phase, and of a turn that begins with it.
    fn tell_phase(&mut self, phase: Phase) {
        // A turn is counted when it polls.
        let turn = self.turn.count + u64::from(phase < Phase::Poll);
        let told = &mut self.turn.told;
        let is_new = turn != told.turn && phase != Phase::FirstTimers;
        if !is_new && told.phase == Some(phase) {
            return;
        }
        told.phase = Some(phase);
        let now = self.kernel.now();
        let Some(observer) = &mut self.observing else { return };
        if is_new {
            told.turn = turn;
            observer.turn_begun(turn, now);
        }
        observer.phase_begun(phase, now);
    }

    /// As [`Core::wait_unobserved`], and tells of it; and of the jobs that have come back meanwhile.
    #[cold]
    pub(crate) fn wait_observed(&mut self, timeout: Option<u64>) {
        self.tell_phase(Phase::Poll);
        let begun = self.kernel.now();
        if let Some(observer) = &mut self.observing {
            observer.wait_begun(timeout, begun);
        }
        self.wait_unobserved(timeout);
        if let Some(observer) = &mut self.observing {
            observer.waited(Wait { begun, ended: self.now, timeout, ready: self.poll.len });
            self.kernel.measured_jobs(&mut |job| observer.job_done(job));
            if observer.asks_why_alive() {
                self.tell_keepers();
            }
        }
    }

    fn tell_keepers(&mut self) {
        let Some(mut observer) = self.observing.take() else { return };
        self.why_alive(|keeper| observer.keeper(Some(&keeper)));
        observer.keeper(None);
        self.observing = Some(observer);
    }
}
