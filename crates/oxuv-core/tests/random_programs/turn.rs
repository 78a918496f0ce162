//! Where in a turn the loop is, reckoned from its events: what was passed over must have had nothing to do.

use oxuv_core::{Kind, Mode};

use crate::Check;
use crate::model::Model;
use crate::program::Place;

/// The phases between two polls, in their order. Pending directly after poll counts as poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Poll,
    Check,
    Closing,
    /// Also the pass of timers before the first turn.
    Timers,
    Pending,
    Idle,
    Prepare,
}

impl Phase {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Phase::Poll => "poll",
            Phase::Check => "check",
            Phase::Closing => "closing",
            Phase::Timers => "timers",
            Phase::Pending => "pending",
            Phase::Idle => "idle",
            Phase::Prepare => "prepare",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// A run is under way, or was left.
    pub(crate) is_running: bool,
    pub(crate) mode: Mode,
    /// The polls begun so far.
    count: u64,
    pub(crate) phase: Phase,
    /// This is the pass of timers before the first turn.
    is_first: bool,
    /// The handles that this phase has still to do, in their order.
    pub(crate) left: Vec<Place>,
    /// The handle of the last event.
    pub(crate) last: Option<Place>,
    /// A time at or after which the next pass of timers began.
    known_time: u64,
}

impl Default for Turn {
    fn default() -> Self {
        let (mode, phase, left) = (Mode::Default, Phase::Timers, Vec::new());
        Turn { is_running: false, mode, count: 0, phase, is_first: false, left, last: None, known_time: 0 }
    }
}

impl Model {
    /// A run was begun, with something alive and no stop: it will have at least its pass of timers or one turn.
    pub(crate) fn begin_run(&mut self, mode: Mode, count: u64, time: u64) {
        self.runs += 1;
        self.turn = Turn {
            is_running: true,
            mode,
            count,
            phase: if mode == Mode::Default { Phase::Timers } else { Phase::Pending },
            is_first: mode == Mode::Default,
            left: Vec::new(),
            last: None,
            known_time: time,
        };
        self.enter(time);
    }

    /// What a run that was left had moved aside goes back to its place, as the next run begins.
    pub(crate) fn abandon_run(&mut self) {
        if !std::mem::take(&mut self.turn.is_running) {
            return;
        }
        self.was_left = true;
        let left = std::mem::take(&mut self.turn.left);
        match self.turn.phase {
            Phase::Timers => left.iter().for_each(|&place| self.handles[place].is_active = true),
            Phase::Closing => {
                self.closing.splice(0..0, left);
            }
            _ => {}
        }
        self.handles.iter_mut().for_each(|handle| handle.stream.may_be_pending = true);
    }

    /// A run begins in a callback of this one, and finds what this had moved aside.
    pub(crate) fn suspend(&mut self) -> Turn {
        let outer = self.turn.clone();
        self.abandon_run();
        Turn { left: Vec::new(), ..outer }
    }

    /// The run in the callback has ended, `count` polls being begun: the other goes on with the rest of its turn.
    pub(crate) fn resume(&mut self, outer: Turn, count: u64) {
        self.turn = Turn { count, known_time: self.turn.known_time, ..outer };
    }

    /// The run is over.
    pub(crate) fn finish_run(&mut self, count: u64, time: u64) -> Check {
        self.advance(count, Phase::Timers, time)?;
        self.leave()?;
        self.turn.is_running = false;
        self.stop = false;
        Ok(())
    }

    /// The clock was read, or a callback is over.
    pub(crate) fn note_time(&mut self, time: u64) -> Check {
        let before = std::mem::replace(&mut self.turn.known_time, time);
        ensure!(before <= time, "the time went back from {before} to {time}");
        Ok(())
    }

    /// An event of this phase has come, `count` polls being begun.
    pub(crate) fn advance(&mut self, count: u64, phase: Phase, time: u64) -> Check {
        while (self.turn.count, self.turn.phase) != (count, phase) {
            let (at_count, at_phase) = (self.turn.count, self.turn.phase);
            ensure!(
                (count, phase) > (at_count, at_phase),
                "{phase:?} of turn {count} after {at_phase:?} of {at_count}"
            );
            self.leave()?;
            if at_phase == Phase::Timers {
                let goes_on = self.turn.is_first || self.turn.mode == Mode::Default && self.may_be_alive();
                ensure!(goes_on, "a turn begins although nothing is alive, or the run was for one turn");
                ensure!(!self.stop, "a turn begins although the loop was stopped");
            }
            self.turn.is_first = false;
            self.turn.phase = match at_phase {
                Phase::Poll => Phase::Check,
                Phase::Check => Phase::Closing,
                Phase::Closing => Phase::Timers,
                Phase::Timers => Phase::Pending,
                Phase::Pending => Phase::Idle,
                Phase::Idle => Phase::Prepare,
                Phase::Prepare => Phase::Poll,
            };
            if at_phase == Phase::Prepare {
                // Turns without any event are all the same.
                self.turn.count = (at_count + 1).max(count.saturating_sub(2));
            }
            // A pass of timers before the last poll went by an older time than this one.
            self.enter(if self.turn.count == count { time } else { self.turn.known_time });
        }
        Ok(())
    }

    fn enter(&mut self, time: u64) {
        self.turn.left = match self.turn.phase {
            Phase::Poll => Vec::new(),
            Phase::Check => self.check.clone(),
            Phase::Idle => self.idle.clone(),
            Phase::Prepare => self.prepare.clone(),
            Phase::Closing => std::mem::take(&mut self.closing),
            Phase::Timers => self.take_due(time),
            Phase::Pending => {
                for stream in self.handles.iter_mut().map(|handle| &mut handle.stream) {
                    stream.may_be_in_round = std::mem::take(&mut stream.may_be_pending);
                }
                Vec::new()
            }
        };
    }

    fn leave(&mut self) -> Check {
        if self.turn.phase == Phase::Pending {
            self.handles.iter_mut().for_each(|handle| handle.stream.may_be_in_round = false);
        }
        if self.turn.phase == Phase::Closing {
            self.defer_closing(Place::MAX);
        }
        ensure!(self.turn.left.is_empty(), "{:?} is over without places {:?}", self.turn.phase, self.turn.left);
        Ok(())
    }

    fn take_due(&mut self, time: u64) -> Vec<Place> {
        let handles = &mut self.handles;
        let is_due = |&place: &Place| {
            handles[place].kind == Kind::Timer && handles[place].is_active && handles[place].timer.due <= time
        };
        let mut due: Vec<Place> = (0..handles.len()).filter(is_due).collect();
        due.sort_by_key(|&place| (handles[place].timer.due, handles[place].timer.start));
        due.iter().for_each(|&place| handles[place].is_active = false);
        due
    }

    /// In the closing phase something of this place comes next: signal handles before it wait for the next pass, if they
    /// may.
    pub(crate) fn defer_closing(&mut self, place: Place) {
        while let Some(&next) = self.turn.left.first().filter(|&&next| next != place && self.owed.contains(&next)) {
            self.turn.left.remove(0);
            self.closing.insert(0, next);
        }
    }

    /// The event of the next handle that this phase has to do.
    pub(crate) fn take_left(&mut self, place: Place) -> Check {
        if self.turn.phase == Phase::Closing {
            self.defer_closing(place);
        }
        let next = self.turn.left.first().copied();
        ensure!(next == Some(place), "{:?}: place {place} comes instead of {next:?}", self.turn.phase);
        self.turn.left.remove(0);
        Ok(())
    }

    /// The number of the pending phase before idle, if that is under way with this stream.
    pub(crate) fn pending_round_of(&self, place: Place) -> Option<(u64, u64)> {
        let is_it = self.turn.is_running && self.turn.phase == Phase::Pending && self.turn.last == Some(place);
        is_it.then_some((self.runs, self.turn.count))
    }

    /// True if a pass of timers is under way.
    pub(crate) fn is_in_timers(&self, count: u64) -> bool {
        self.turn.phase == Phase::Timers && self.turn.count == count
    }

    /// The phase of a write's or shutdown's event: closing if its handle is being closed there, else poll or pending.
    pub(crate) fn phase_of_request(&self, count: u64, is_being_closed: bool) -> Phase {
        match self.turn.phase {
            _ if is_being_closed => Phase::Closing,
            at @ (Phase::Poll | Phase::Pending) if self.turn.count == count => at,
            _ if self.turn.count == count => Phase::Pending,
            _ => Phase::Poll,
        }
    }
}
