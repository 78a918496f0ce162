//! The phase machine: one turn of the loop, phase by phase, event by event.
//!
//! ```text
//! alive, not stopped? -> (Default, once: time, timers)
//!   -> { pending -> idle -> prepare -> poll -> pending (8 rounds) -> check -> closing -> time -> timers -> alive? }
//! ```

use oxuv_os::Result;

use crate::kernel::Kernel;
use crate::slots::{ALL, List, PHASE};
use crate::{Buffers, Core, Event, Mode};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No run is under way, or it is over.
    Over,
    /// Default's pass of timers before its first turn.
    FirstTimers,
    Pending,
    Idle,
    Prepare,
    Poll,
    /// Pending once more, right after poll; the rounds that are left.
    PendingAfterPoll(u8),
    Check,
    Closing,
    Timers,
}

/// Pending's rounds after poll: enough to let writes lead to writes, not enough to keep the loop from turning.
const PENDING_ROUNDS: u8 = 8;

#[derive(Debug)]
pub(crate) struct Turn {
    phase: Phase,
    mode: Mode,
    pub(crate) stop: bool,
    /// What the run will return.
    alive: bool,
    /// Neither pending nor idle had anything when the turn began.
    may_wait: bool,
    pub(crate) count: u64,
}

impl Default for Turn {
    fn default() -> Self {
        let (phase, mode) = (Phase::Over, Mode::Default);
        Turn { phase, mode, stop: false, alive: false, may_wait: false, count: 0 }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Begins a run. If an earlier one was left before its end (its driver was unwound), everything that it had moved
    /// aside is first put back where it belongs.
    #[doc(alias = "uv_run")]
    pub fn begin(&mut self, mode: Mode) {
        self.abandon();
        self.turn.mode = mode;
        self.turn.alive = self.alive();
        if !self.turn.alive {
            self.update_time();
        }
        if mode == Mode::Default && self.turn.alive && !self.turn.stop {
            self.update_time();
            self.begin_timers();
            self.turn.phase = Phase::FirstTimers;
        } else {
            self.begin_turn();
        }
    }

    /// The next due event of the run under way, `None` when it is over. The front runs the callback before it asks
    /// again.
    #[inline]
    #[allow(clippy::should_implement_trait)] // An iterator would borrow the core across the callbacks.
    pub fn next(&mut self) -> Option<Event<U>> {
        // The fast arm: the callbacks that run in every turn.
        if let Some(event) = self.next_watcher() {
            return Some(event);
        }
        self.next_of_phase()
    }

    /// Ends a run whose events are all told: true if something is still alive.
    ///
    /// # Errors
    /// The error with which the kernel's wait failed for good: EBADF when foreign hands closed the loop's descriptor.
    pub fn end(&mut self) -> Result<bool> {
        match self.poll.fault.take() {
            Some(error) => Err(error),
            None => Ok(self.turn.alive),
        }
    }

    fn next_of_phase(&mut self) -> Option<Event<U>> {
        loop {
            let event = match self.turn.phase {
                Phase::Over => return None,
                Phase::FirstTimers | Phase::Timers => self.next_timer(),
                Phase::Pending | Phase::PendingAfterPoll(_) => self.next_pending(),
                Phase::Idle | Phase::Prepare | Phase::Check => self.next_watcher(),
                Phase::Poll => self.next_ready(),
                Phase::Closing => self.next_closing(),
            };
            if event.is_some() {
                return event;
            }
            self.leave_phase();
        }
    }

    /// The phase under way is worked off: begins the one behind it.
    fn leave_phase(&mut self) {
        match self.turn.phase {
            Phase::Over => {}
            Phase::FirstTimers => self.begin_turn(),
            Phase::Pending => self.begin_watchers(Phase::Idle, List::Idle),
            Phase::Idle => self.begin_watchers(Phase::Prepare, List::Prepare),
            Phase::Prepare => {
                self.turn.phase = Phase::Poll;
                self.turn.count += 1;
                let may_wait = match self.turn.mode {
                    Mode::Default => true,
                    Mode::Once => self.turn.may_wait,
                    Mode::NoWait => false,
                };
                let timeout = if may_wait { self.poll_timeout() } else { Some(0) };
                self.begin_poll(timeout);
            }
            Phase::Poll => self.begin_pending_round(PENDING_ROUNDS),
            Phase::PendingAfterPoll(rounds) => self.begin_pending_round(rounds),
            Phase::Check => {
                self.turn.phase = Phase::Closing;
                self.begin_closing();
            }
            Phase::Closing => {
                self.turn.phase = Phase::Timers;
                self.update_time();
                self.begin_timers();
            }
            Phase::Timers => {
                self.turn.alive = self.alive();
                if self.turn.mode == Mode::Default && self.poll.fault.is_none() {
                    self.begin_turn();
                } else {
                    self.finish();
                }
            }
        }
    }

    fn begin_turn(&mut self) {
        if !self.turn.alive || self.turn.stop {
            return self.finish();
        }
        self.turn.may_wait = self.slots.is_empty(List::Pending) && self.slots.is_empty(List::Idle);
        self.turn.phase = Phase::Pending;
        self.begin_pending();
    }

    fn begin_watchers(&mut self, phase: Phase, list: List) {
        self.turn.phase = phase;
        self.slots.walk::<PHASE>(list);
    }

    fn begin_pending_round(&mut self, rounds: u8) {
        if rounds > 0 && !self.slots.is_empty(List::Pending) {
            self.turn.phase = Phase::PendingAfterPoll(rounds - 1);
            self.begin_pending();
        } else {
            self.begin_watchers(Phase::Check, List::Check);
        }
    }

    fn finish(&mut self) {
        self.turn.phase = Phase::Over;
        self.turn.stop = false;
    }

    /// Puts everything that a run has moved aside back where it belongs.
    fn abandon(&mut self) {
        if self.turn.phase == Phase::Over {
            return;
        }
        self.turn.phase = Phase::Over;
        self.turn.stop = false;
        self.slots.end_walk::<PHASE>();
        self.slots.end_walk::<ALL>();
        self.abandon_timers();
        self.abandon_step();
        self.slots.move_to_front(List::PendingRound, List::Pending);
        self.abandon_poll();
        self.abandon_closing();
    }
}
