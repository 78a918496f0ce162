//! Looking on: what a loop does is told to an observer, turn by turn, phase by phase, callback by callback.
//!
//! A callback lasts from the return of [`Core::next`] to its next call, so the core can time callbacks without knowing them.
//! An observed loop is in a phase of its own, [`Phase::Told`], whenever its front has it, so that the next call goes out of its way;
//! that of another asks nothing. Which phase and turn it is, an observed one finds out from the events and the waits, so the phases
//! know nothing of observers. Quick ways from one event to the next of its kind are closed.

use std::fmt;

use crate::kernel::Kernel;
use crate::poll::Care;
use crate::{Alive, Buffers, Core, Event, Key, Kind, Lane, Metrics, Phase, Why};

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
    /// How much of it was idle, as [`Core::idle_time`] has it: all, or nothing where the loop only looked.
    pub idle: u64,
    /// What the loop has counted, as [`Core::metrics`] has it.
    pub metrics: Metrics,
}

/// A job that was run, in nanoseconds of the loop's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The lane of the pool that it was in; `None` if the kernel did it, by io_uring.
    pub lane: Option<Lane>,
    /// When it was submitted.
    pub queued: u64,
    /// When a thread began it, or the kernel was told of it.
    pub started: u64,
    /// When it was over, or the loop found the kernel's answer.
    pub finished: u64,
}

/// Is told what a loop does. All calls are on the loop's thread, outside of callbacks but for what is made; times are nanoseconds of
/// the loop's clock, `CLOCK_MONOTONIC`. Reading that is much of what observing costs, so what follows another without anything
/// between them has the same time.
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
    fn waited(&mut self, wait: &Wait);

    /// Whether it hears of phases, and of callbacks before they begin. Asked when it begins to observe. One that does not costs less.
    fn is_thorough(&self) -> bool {
        true
    }

    /// A callback is due: for what takes time, such as to find out its name, and is not to count as the callback's.
    fn callback_due(&mut self, event: &Event<U>) {
        let _ = event;
    }

    /// A callback is about to begin. `depth` is 1, and more by one for each callback that runs the loop and is under way.
    fn callback_begun(&mut self, event: &Event<U>, depth: u32, at: u64);

    /// The callback of this depth and kind is over, which began at this time; and those of greater depth, should they have been left
    /// without a word.
    fn callback_ended(&mut self, depth: u32, kind: CallbackKind, begun: u64, at: u64);

    /// Within the callback under way, whose depth this is, or by 0 outside of the run, another one begins that the front calls: of several
    /// that are one to the loop. What was told of before it is over.
    fn part_begun(&mut self, kind: CallbackKind, origin: &dyn fmt::Display, depth: u32, at: u64) {
        let _ = (kind, origin, depth, at);
    }

    /// The last of them is over. Else the end of the callback that they are in is its end, too.
    fn part_ended(&mut self, at: u64) {
        let _ = at;
    }

    /// A job of this loop's has come back. Phase: poll.
    fn job_done(&mut self, job: Job);

    /// The run is over.
    fn run_ended(&mut self, metrics: &Metrics, at: u64);

    /// A handle was made. Outside of callbacks of the loop's, too; the program is in the call that makes it.
    fn handle_made(&mut self, key: Key, at: u64) {
        let _ = (key, at);
    }

    /// The same for a job that was submitted, by its front's value.
    fn job_made(&mut self, user: &U, at: u64) {
        let _ = (user, at);
    }

    /// Whether to tell it now what keeps the loop alive. Asked after each wait.
    fn asks_why_alive(&mut self) -> bool {
        false
    }

    /// One of what keeps the loop alive, or open, at this time; `None` when it has been told of all.
    fn keeper(&mut self, why: Why, keeper: Option<&Alive<U>>, at: u64) {
        let _ = (why, keeper, at);
    }
}

/// An observer of a loop.
#[derive(Debug)]
pub(crate) struct Observing<U> {
    pub(crate) observer: Box<dyn Observer<U>>,
    is_thorough: bool,
}

/// What an observer has been told of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// How many callbacks are not over: those of outer runs, and one of this.
    callbacks: u32,
    /// One of them is this run's.
    is_calling: bool,
    /// What that is told of, and when it began.
    kind: CallbackKind,
    begun: u64,
    /// The phase in which the loop is while the front has it.
    phase_under_way: Phase,
    /// The phase, and the number of its turn.
    phase: Option<Phase>,
    turn: u64,
    /// When the clock was last read.
    at: u64,
}

impl Default for Told {
    fn default() -> Self {
        let (kind, phase_under_way) = (CallbackKind::Timer, Phase::Over);
        Told { callbacks: 0, is_calling: false, kind, begun: 0, phase_under_way, phase: None, turn: 0, at: 0 }
    }
}

impl Told {
    /// A run begins, perhaps in a callback of another one.
    pub(crate) fn begin_run(&mut self) {
        (self.is_calling, self.phase) = (false, None);
    }

    /// Another observer looks on, or nobody.
    pub(crate) fn forget(&mut self) {
        *self = Told { phase_under_way: self.phase_under_way, ..Told::default() };
    }

    /// Another run had so many turns meanwhile.
    pub(crate) fn skip(&mut self, turns: u64) {
        self.turn += turns;
    }
}

/// What a callback tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // They are those of `Event`, but for the last three.
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
    /// A poll of one of a front's tasks, several of which may be one prepare or check callback to the loop.
    Task,
}

impl CallbackKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [CallbackKind; 22] = {
        use CallbackKind::*;
        [
            Timer, Idle, Prepare, Check, Async, Signal, Poll, Connection, Read, Connect, Write, Receive, Send,
            Shutdown, Job, Exit, FsEvent, FsPoll, Close, Immediate, Script, Task,
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
            "task",
        ];
        NAMES[self as usize]
    }
}

impl Phase {
    /// All of them, in the order of their numbers.
    pub const ALL: [Phase; 12] = {
        use Phase::*;
        [TurnBegun, Pending, Idle, Prepare, Poll, PendingAfterPoll, Check, Closing, Timers, FirstTimers, Over, Told]
    };

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
        self.turn.told.forget();
        self.observers = self.observers.wrapping_add(1);
        if observer.is_some() {
            self.poll.care = Care::Look;
            self.kernel.measure_jobs();
        }
        let observing = observer.map(|observer| Observing { is_thorough: observer.is_thorough(), observer });
        let before = std::mem::replace(&mut self.observing, observing);
        self.heed_observer();
        before.map(|before| before.observer)
    }

    /// Tells the observer that a callback begins which is the front's own, within one of the loop's or outside of a run.
    pub fn begin_part(&mut self, kind: CallbackKind, origin: &dyn fmt::Display) {
        if let Some(Observing { observer, .. }) = &mut self.observing {
            observer.part_begun(kind, origin, self.turn.told.callbacks, self.kernel.now());
        }
    }

    /// Tells the observer that the last of those is over.
    pub fn end_part(&mut self) {
        if let Some(Observing { observer, .. }) = &mut self.observing {
            observer.part_ended(self.kernel.now());
        }
    }

    /// The observer, to be asked what it has seen.
    pub fn observer_mut(&mut self) -> Option<&mut (dyn Observer<U> + 'static)> {
        self.observing.as_mut().map(|observing| &mut *observing.observer)
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
            self.hand_over();
        } else if is_told && !self.is_observed() {
            self.take_up();
        }
    }

    /// The front has the loop.
    #[inline]
    fn hand_over(&mut self) {
        self.turn.told.phase_under_way = self.turn.phase;
        self.turn.phase = Phase::Told;
        self.slots.put_walk_by();
    }

    /// The phase in which the loop is, observed or not.
    #[inline]
    pub(crate) fn phase_under_way(&self) -> Phase {
        match self.turn.phase {
            Phase::Told => self.turn.told.phase_under_way,
            phase => phase,
        }
    }

    /// The loop is the core's again.
    #[inline]
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
                self.after_next(event.as_ref());
                return event;
            }
        }
    }

    /// Before the next event is looked for: the callback is over.
    #[inline]
    fn before_next(&mut self) {
        self.take_up();
        let told = &mut self.turn.told;
        if std::mem::take(&mut told.is_calling) {
            let depth = told.callbacks;
            told.callbacks -= 1;
            told.at = self.kernel.now();
            if let Some(Observing { observer, .. }) = &mut self.observing {
                observer.callback_ended(depth, told.kind, told.begun, told.at);
            }
        }
    }

    /// An event was found: its callback begins. Or none was, and the run is over.
    #[inline]
    fn after_next(&mut self, event: Option<&Event<U>>) {
        match (event, &self.observing) {
            (Some(event), Some(observing)) if !observing.is_thorough && self.is_next_of_its_phase() => {
                self.begin_callback(event.callback_kind());
            }
            _ => self.tell_found(event),
        }
    }

    /// Whether nothing has happened since the last callback that an observer would have to be told of; nor has the core worked.
    #[inline]
    fn is_next_of_its_phase(&self) -> bool {
        let phase = self.turn.phase;
        // There is a wait between a phase and the same of another turn, and that was told.
        self.turn.told.phase == Some(phase) && !matches!(phase, Phase::Poll | Phase::Pending | Phase::PendingAfterPoll)
    }

    /// A callback begins at the time that was last read.
    #[inline]
    fn begin_callback(&mut self, kind: CallbackKind) {
        let told = &mut self.turn.told;
        told.callbacks += 1;
        told.is_calling = true;
        (told.kind, told.begun) = (kind, told.at);
        self.hand_over();
    }

    #[inline(never)]
    fn tell_found(&mut self, event: Option<&Event<U>>) {
        if event.is_some() {
            self.tell_phase(self.turn.phase);
        }
        let is_next = self.is_next_of_its_phase();
        let Some(Observing { observer, is_thorough }) = &mut self.observing else { return };
        let Some(event) = event else {
            let now = self.kernel.now();
            self.kernel.measured_jobs(&mut |job| observer.job_done(job));
            let metrics = self.counts.metrics(self.turn.count);
            return observer.run_ended(&metrics, now);
        };
        if *is_thorough {
            observer.callback_due(event);
        }
        if *is_thorough || !is_next {
            self.turn.told.at = self.kernel.now();
        }
        self.begin_callback(event.callback_kind());
        let told = self.turn.told;
        if let Some(Observing { observer, is_thorough: true }) = &mut self.observing {
            observer.callback_begun(event, told.callbacks, told.at);
        }
    }

    /// The run is left in the middle: its callback is over, and so is it.
    #[cold]
    pub(crate) fn tell_abandoned(&mut self) {
        let Some(Observing { observer, .. }) = &mut self.observing else { return };
        let (now, told) = (self.kernel.now(), self.turn.told);
        if told.is_calling {
            observer.callback_ended(told.callbacks, told.kind, told.begun, now);
        }
        observer.run_ended(&self.counts.metrics(self.turn.count), now);
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
        // What was told before a run begins may be of another one within the same callback.
        let is_first = told.phase.replace(phase).is_none();
        told.at = if is_new || is_first { self.kernel.now() } else { told.at.max(self.now) };
        let Some(Observing { observer, is_thorough }) = &mut self.observing else { return };
        if is_new {
            told.turn = turn;
            observer.turn_begun(turn, told.at);
        }
        if *is_thorough {
            observer.phase_begun(phase, told.at);
        }
    }

    /// Waits, and measures it as [`Core::measure_idle_time`] has it measured, and tells of it; and of the jobs that have come back
    /// meanwhile.
    #[cold]
    pub(crate) fn wait_observed(&mut self, timeout: Option<u64>) {
        self.tell_phase(Phase::Poll);
        let begun = self.kernel.now();
        if let Some(Observing { observer, .. }) = &mut self.observing {
            observer.wait_begun(timeout, begun);
        }
        let is_idle = timeout != Some(0);
        if is_idle {
            self.counts.begin_idle(begun);
        }
        self.wait_now(timeout);
        let ended = self.now;
        if is_idle {
            self.counts.end_idle(ended);
        }
        if let Some(Observing { observer, .. }) = &mut self.observing {
            self.turn.told.at = ended;
            let idle = if is_idle { ended.saturating_sub(begun) } else { 0 };
            let metrics = self.counts.metrics(self.turn.count);
            observer.waited(&Wait { begun, ended, timeout, ready: self.poll.len, idle, metrics });
            self.kernel.measured_jobs(&mut |job| observer.job_done(job));
            if observer.asks_why_alive() {
                self.tell_keepers(Why::Alive);
            }
        }
    }

    /// Tells the observer, if there is one, what keeps the loop alive, or open.
    pub fn tell_keepers(&mut self, why: Why) {
        let Some(mut observing) = self.observing.take() else { return };
        let now = self.kernel.now();
        self.keepers(why, |keeper| observing.observer.keeper(why, Some(&keeper), now));
        observing.observer.keeper(why, None, now);
        self.observing = Some(observing);
    }

    /// A new handle, by what the phases and the kernel need of it; [`Slots::reserve`](crate::slots::Slots::reserve) goes before.
    #[inline]
    pub(crate) fn add_handle(&mut self, kind: Kind, state: u32, user: U) -> Key {
        let key = self.slots.insert(kind, state, user);
        if let Some(Observing { observer, .. }) = &mut self.observing {
            observer.handle_made(key, self.now);
        }
        key
    }
}
