//! Looking on: what a loop does is told to an observer, turn by turn, phase by phase, callback by callback.
//!
//! A callback lasts from the return of [`Core::next`] to its next call, so the core can time callbacks without knowing them.
//! The driver of an unobserved loop looks at one pointer for each event; for an observed one there is a way of its own through
//! the phases, and quick ways from one event to the next of its kind are closed.

use std::fmt;

use crate::kernel::Kernel;
use crate::slots::Walk;
use crate::{Buffers, Core, Event, Key, Kind, Lane, Phase};

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

    /// A phase begins that has something to do, and what was before it is over. Poll and timers have always.
    fn phase_begun(&mut self, phase: Phase, at: u64);

    /// The loop is going to wait. Phase: poll.
    fn wait_begun(&mut self, timeout: Option<u64>, at: u64);

    /// The loop has waited. Phase: poll.
    fn waited(&mut self, wait: Wait);

    /// A callback is about to begin. `depth` is 1, and more by one for each callback that runs the loop and is under way.
    fn callback_begun(&mut self, event: &Event<U>, depth: u32, at: u64);

    /// The callback of this depth is over, and those of greater depth, should they have been left without a word.
    fn callback_ended(&mut self, depth: u32, at: u64);

    /// A job of this loop's has come back. Phase: poll.
    fn job_done(&mut self, job: Job);

    /// The run is over.
    fn run_ended(&mut self, at: u64);
}

/// What a callback tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // They are those of `Event`.
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
}

impl CallbackKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [CallbackKind; 19] = {
        use CallbackKind::*;
        [
            Timer, Idle, Prepare, Check, Async, Signal, Poll, Connection, Read, Connect, Write, Receive, Send,
            Shutdown, Job, Exit, FsEvent, FsPoll, Close,
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
        ];
        NAMES[self as usize]
    }
}

impl Phase {
    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Phase::TurnBegun | Phase::Over => "none",
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
        (self.turn.open_callbacks, self.turn.has_callback) = (0, false);
        if observer.is_some() {
            self.poll.is_careful = true;
            self.kernel.measure_jobs();
        }
        std::mem::replace(&mut self.observing, observer)
    }

    /// The observer, to be asked what it has seen.
    pub fn observer_mut(&mut self) -> Option<&mut (dyn Observer<U> + 'static)> {
        self.observing.as_deref_mut()
    }

    #[inline(always)] // A look at a pointer.
    pub(crate) fn is_observed(&self) -> bool {
        self.observing.is_some()
    }

    /// As [`Core::next`], of a loop that is observed.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_observed(&mut self) -> Option<Event<U>> {
        let now = self.kernel.now();
        if self.turn.has_callback {
            self.turn.has_callback = false;
            let depth = self.turn.open_callbacks;
            self.turn.open_callbacks = depth.saturating_sub(1);
            if let Some(observer) = &mut self.observing {
                observer.callback_ended(depth, now);
            }
        }
        let event = match self.step_watchers() {
            Some(event) => Some(event),
            None => self.advance::<true>(),
        };
        let now = self.kernel.now();
        let Some(observer) = &mut self.observing else { return event };
        if let Some(event) = &event {
            self.turn.open_callbacks += 1;
            self.turn.has_callback = true;
            observer.callback_begun(event, self.turn.open_callbacks, now);
        } else {
            self.kernel.measured_jobs(&mut |job| observer.job_done(job));
            observer.run_ended(now);
        }
        event
    }

    fn step_watchers(&mut self) -> Option<Event<U>> {
        let index = self.slots.step(Walk::Watchers)?;
        let (key, user) = (self.slots.key(index), self.slots[index].user);
        Some(match self.slots[index].kind {
            Kind::Idle => Event::Idle { key, user },
            Kind::Prepare => Event::Prepare { key, user },
            _ => Event::Check { key, user },
        })
    }

    pub(crate) fn observe_phase(&mut self, phase: Phase) {
        let now = self.kernel.now();
        if let Some(observer) = &mut self.observing {
            observer.phase_begun(phase, now);
        }
    }

    pub(crate) fn observe_turn(&mut self) {
        let now = self.kernel.now();
        if let Some(observer) = &mut self.observing {
            observer.turn_begun(self.turn.count + 1, now);
        }
    }

    /// As [`Core::wait_unobserved`], and tells of it; and of the jobs that have come back meanwhile.
    #[cold]
    pub(crate) fn wait_observed(&mut self, timeout: Option<u64>) {
        let begun = self.kernel.now();
        if let Some(observer) = &mut self.observing {
            observer.wait_begun(timeout, begun);
        }
        self.wait_unobserved(timeout);
        if let Some(observer) = &mut self.observing {
            observer.waited(Wait { begun, ended: self.now, timeout, ready: self.poll.len });
            self.kernel.measured_jobs(&mut |job| observer.job_done(job));
        }
    }
}
