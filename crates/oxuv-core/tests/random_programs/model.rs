//! The reference model: the state of every handle, in the plainest form.

use oxuv_core::kernel::Readiness;
use oxuv_core::{Errno, Key, Kind, Result};

use crate::jobs::Jobs;
use crate::program::Place;
use crate::streams::Stream;
use crate::turn::{Phase, Turn};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// Never initialised.
    Never,
    Open,
    Closing,
    /// The close event has come.
    Closed,
}

#[derive(Debug, Default)]
pub(crate) struct Timer {
    pub(crate) due: u64,
    /// Counts all starts of timers: among those due at the same time the one started first comes first.
    pub(crate) start: u64,
    pub(crate) repeat: u64,
    was_started: bool,
}

#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) kind: Kind,
    pub(crate) life: Life,
    pub(crate) key: Key,
    pub(crate) user: u64,
    pub(crate) is_active: bool,
    pub(crate) is_referenced: bool,
    pub(crate) timer: Timer,
    /// What a poll handle waits for.
    pub(crate) wanted: Readiness,
    pub(crate) stream: Stream,
    /// It looks at a file, or has done so: a look may be under way.
    pub(crate) may_look: bool,
}

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) handles: Vec<Handle>,
    /// All handles that are open or closing, in the order of their initialisation.
    pub(crate) order: Vec<Place>,
    /// Active idle, prepare and check handles, newest first.
    pub(crate) idle: Vec<Place>,
    pub(crate) prepare: Vec<Place>,
    pub(crate) check: Vec<Place>,
    /// Handles to be closed in the next pass, newest first.
    pub(crate) closing: Vec<Place>,
    pub(crate) stop: bool,
    pub(crate) jobs: Jobs,
    /// A run was left before its end.
    pub(crate) was_left: bool,
    pub(crate) turn: Turn,
    /// Signal handles that may have to be told something before they are closed.
    pub(crate) owed: Vec<Place>,
    starts: u64,
    inits: u64,
    /// The runs begun so far.
    pub(crate) runs: u64,
}

impl Model {
    pub(crate) fn new(kinds: &[Kind]) -> Model {
        let handle = |&kind| Handle {
            kind,
            life: Life::Never,
            key: Key::default(),
            user: 0,
            is_active: false,
            is_referenced: false,
            timer: Timer::default(),
            wanted: Readiness::empty(),
            stream: Stream::default(),
            may_look: false,
        };
        Model {
            handles: kinds.iter().map(handle).collect(),
            order: Vec::new(),
            idle: Vec::new(),
            prepare: Vec::new(),
            check: Vec::new(),
            closing: Vec::new(),
            stop: false,
            jobs: Jobs::default(),
            was_left: false,
            turn: Turn::default(),
            owed: Vec::new(),
            starts: 0,
            inits: 0,
            runs: 0,
        }
    }

    /// The user value that the next handle of this place gets.
    pub(crate) fn next_user(&self, place: Place) -> u64 {
        (self.inits + 1) << 8 | place as u64
    }

    pub(crate) fn init(&mut self, place: Place, key: Key) {
        let user = self.next_user(place);
        self.inits += 1;
        let kind = self.handles[place].kind;
        self.handles[place] = Handle {
            kind,
            life: Life::Open,
            key,
            user,
            is_active: matches!(kind, Kind::Async | Kind::Process),
            is_referenced: true,
            timer: Timer::default(),
            wanted: Readiness::empty(),
            stream: Stream::default(),
            may_look: false,
        };
        self.order.push(place);
    }

    /// Ok for an open handle, else what most calls say.
    pub(crate) fn open(&self, place: Place) -> Result<()> {
        if self.handles[place].life == Life::Open { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// Ok for a handle that is open or closing.
    pub(crate) fn known(&self, place: Place) -> Result<()> {
        if matches!(self.handles[place].life, Life::Open | Life::Closing) { Ok(()) } else { Err(Errno::EINVAL) }
    }

    pub(crate) fn start_timer(&mut self, place: Place, time: u64, timeout: u64, repeat: u64) -> Result<()> {
        self.open(place)?;
        self.take_out(place);
        self.starts += 1;
        let start = self.starts;
        self.handles[place].timer = Timer { due: time.saturating_add(timeout), start, repeat, was_started: true };
        self.handles[place].is_active = true;
        Ok(())
    }

    pub(crate) fn stop_timer(&mut self, place: Place) -> Result<()> {
        self.known(place)?;
        self.take_out(place);
        Ok(())
    }

    pub(crate) fn again(&mut self, place: Place, time: u64) -> Result<()> {
        self.open(place)?;
        let Timer { was_started, repeat, .. } = self.handles[place].timer;
        if !was_started {
            return Err(Errno::EINVAL);
        }
        if repeat != 0 { self.start_timer(place, time, repeat, repeat) } else { Ok(()) }
    }

    pub(crate) fn set_repeat(&mut self, place: Place, repeat: u64) -> Result<()> {
        self.known(place)?;
        self.handles[place].timer.repeat = repeat;
        Ok(())
    }

    pub(crate) fn start_watcher(&mut self, place: Place) -> Result<bool> {
        self.open(place)?;
        if self.handles[place].is_active {
            return Ok(false);
        }
        let list = match self.handles[place].kind {
            Kind::Idle => &mut self.idle,
            Kind::Prepare => &mut self.prepare,
            _ => &mut self.check,
        };
        list.insert(0, place);
        self.handles[place].is_active = true;
        Ok(true)
    }

    pub(crate) fn stop_watcher(&mut self, place: Place) -> Result<()> {
        self.known(place)?;
        self.take_out(place);
        Ok(())
    }

    pub(crate) fn close(&mut self, place: Place) -> Result<()> {
        self.open(place)?;
        self.take_out(place);
        self.handles[place].life = Life::Closing;
        self.handles[place].stream.close();
        // When its last look has come back, nobody knows.
        if self.handles[place].kind != Kind::FsPoll {
            self.closing.insert(0, place);
        }
        Ok(())
    }

    /// Nothing more comes of a handle until it is started again.
    fn take_out(&mut self, place: Place) {
        self.handles[place].is_active = false;
        let is_other = |&other: &Place| other != place;
        for list in [&mut self.idle, &mut self.prepare, &mut self.check] {
            list.retain(is_other);
        }
        if self.turn.phase != Phase::Closing {
            self.turn.left.retain(is_other);
        }
    }

    pub(crate) fn set_referenced(&mut self, place: Place, is_referenced: bool) -> Result<()> {
        self.known(place)?;
        self.handles[place].is_referenced = is_referenced;
        Ok(())
    }

    /// The close event has come.
    pub(crate) fn forget(&mut self, place: Place) {
        self.handles[place].life = Life::Closed;
        (self.handles[place].is_referenced, self.handles[place].may_look) = (false, false);
        self.order.retain(|&other| other != place);
    }

    /// The requests whose event is still to come.
    pub(crate) fn requests(&self) -> usize {
        self.jobs.count() + self.handles.iter().map(|handle| handle.stream.requests()).sum::<usize>()
    }

    /// Something keeps the loop alive for sure.
    pub(crate) fn is_alive(&self) -> bool {
        self.has_work() || !self.closing.is_empty()
    }

    /// Something is active and referenced, or requested.
    pub(crate) fn has_work(&self) -> bool {
        self.requests() > 0 || self.handles.iter().any(|handle| handle.is_active && handle.is_referenced)
    }

    /// A stream may be in pending although nothing of it is open: its write was reported in poll already.
    pub(crate) fn may_be_alive(&self) -> bool {
        self.is_alive()
            || self.may_look()
            || self.handles.iter().any(|handle| {
                handle.life == Life::Open && (handle.stream.may_be_pending || handle.stream.may_be_in_round)
            })
    }

    /// A look at a file may be under way, or be due, or a handle be closed that has waited for one.
    pub(crate) fn may_look(&self) -> bool {
        self.handles.iter().any(|handle| handle.may_look || handle.kind == Kind::FsPoll && handle.life == Life::Closing)
    }

    pub(crate) fn first_due(&self) -> Option<u64> {
        let timers = self.handles.iter().filter(|handle| handle.kind == Kind::Timer && handle.is_active);
        timers.map(|handle| handle.timer.due).min()
    }
}
