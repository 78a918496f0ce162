//! The phase machine: one turn of the loop, phase by phase, event by event.
//!
//! ```text
//! alive, not stopped? -> (Default, once: time, timers)
//!   -> { pending -> idle -> prepare -> poll -> pending (8 rounds) -> check -> closing -> time -> timers -> alive? }
//! ```

use oxuv_os::Result;

use crate::kernel::Kernel;
use crate::observe::Told;
use crate::poll::Come;
use crate::slots::{List, Walk};
use crate::{Buffers, Core, Event, Mode};

/// The phases of a turn, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Right before pending.
    TurnBegun,
    /// Reports of writes and shutdowns.
    Pending,
    /// Idle handles.
    Idle,
    /// Prepare handles.
    Prepare,
    /// Waits, and works off what has come.
    Poll,
    /// Pending once more, right after poll.
    PendingAfterPoll,
    /// Check handles.
    Check,
    /// Close callbacks.
    Closing,
    /// Timers that are due.
    Timers,
    /// Default's pass of timers before its first turn.
    FirstTimers,
    /// No run is under way, or it is over.
    Over,
    /// The front has an observed loop; which phase it is in is kept elsewhere.
    Told,
}

/// Pending's rounds after poll: enough to let writes lead to writes, not enough to keep the loop from turning.
const PENDING_ROUNDS: u8 = 8;

/// How far a run had come when another one began in one of its callbacks.
#[derive(Debug, Clone, Copy)]
pub struct Suspended {
    turn: Turn,
    /// The observers that had come by then.
    observers: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) phase: Phase,
    mode: Mode,
    pub(crate) stop: bool,
    /// What the run will return.
    alive: bool,
    /// Neither pending nor idle had anything when the turn began.
    may_wait: bool,
    /// The rounds of pending after poll that are left.
    pending_rounds: u8,
    pub(crate) count: u64,
    /// Which run this is of those that are nested.
    run: u32,
    /// What an observer has been told.
    pub(crate) told: Told,
}

/// What of poll is under way when it is gone on with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Nothing,
    /// A round of pending after it.
    Round,
    Batch,
}

/// What of a turn is still to come: for a front that has work of its own to do before the wait, or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// The next that comes is prepare, of this turn or of the next one.
    Prepare,
    /// Prepare is under way, and comes no more to a handle that is started now: the next is the wait.
    Wait,
    /// The wait is over, and check comes next.
    Check,
}

impl Default for Turn {
    fn default() -> Self {
        let (phase, mode) = (Phase::Over, Mode::Default);
        let told = Told::default();
        Turn { phase, mode, stop: false, alive: false, may_wait: false, pending_rounds: 0, count: 0, run: 0, told }
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Begins a run. If an earlier one was left before its end (its driver was unwound), everything that it had moved
    /// aside is first put back where it belongs.
    #[doc(alias = "uv_run")]
    pub fn begin(&mut self, mode: Mode) {
        self.put_back();
        self.poll.fault = None;
        self.turn.mode = mode;
        self.turn.run = self.turn.run.wrapping_add(1);
        self.turn.alive = self.alive();
        if !self.turn.alive {
            self.update_time();
        }
        self.turn.phase = Phase::FirstTimers;
        self.turn.told.begin_run();
        if mode == Mode::Default && self.turn.alive && !self.turn.stop {
            self.update_time();
            self.begin_timers();
        }
        self.heed_observer();
    }

    /// The next due event of the run under way, `None` when it is over. The front runs the callback before it asks
    /// again.
    #[inline]
    #[allow(clippy::should_implement_trait)] // An iterator would borrow the core across the callbacks.
    pub fn next(&mut self) -> Option<Event<U>> {
        loop {
            if let Some((key, kind, user)) = self.next_watcher() {
                return Some(Event::of_watcher(key, kind, user));
            }
            let event = self.next_other();
            if event.is_some() || self.is_over() {
                return event;
            }
        }
    }

    /// Ends a run whose events are all told: true if something is still alive.
    ///
    /// # Errors
    /// The error with which the kernel's wait failed for good: EBADF when foreign hands closed the loop's descriptor.
    pub fn end(&mut self) -> Result<bool> {
        self.flush_writes();
        self.kernel.leave();
        match self.poll.fault.take() {
            Some(error) => Err(error),
            None => Ok(self.turn.alive),
        }
    }

    /// The next event of the phase under way, or of the first one after it that has any, through as many turns as that
    /// takes. For when [`Core::next_watcher`] has none. `None` where that has some again: it is to be asked, unless the
    /// run [is over](Core::is_over).
    #[inline]
    pub fn next_other(&mut self) -> Option<Event<U>> {
        self.advance()
    }

    /// True if the run has told all, or none is under way.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.turn.phase == Phase::Over
    }

    /// Goes through the phases to the next event, or to a phase of watchers.
    #[inline(always)] // It is of the driver's; the other caller is for those who are observed.
    pub(crate) fn advance(&mut self) -> Option<Event<U>> {
        let mut at = self.turn.phase;
        'turns: loop {
            let mut begun = Begun::Nothing;
            'timers: {
                'closing: {
                    'poll: {
                        'prepare: {
                            'idle: {
                                // Where something is under way it goes on, and leads on to what comes next without a look at
                                // all between.
                                match at {
                                    Phase::TurnBegun => {
                                        if !self.begin_pending() {
                                            break 'idle;
                                        }
                                        self.enter(Phase::Pending);
                                    }
                                    Phase::Pending => {}
                                    Phase::Idle => break 'prepare,
                                    Phase::Prepare => break 'poll,
                                    Phase::Poll => {
                                        begun = Begun::Batch;
                                        break 'poll;
                                    }
                                    Phase::PendingAfterPoll => {
                                        begun = Begun::Round;
                                        break 'poll;
                                    }
                                    Phase::Check => break 'closing,
                                    Phase::Closing => match self.next_closing() {
                                        None => break 'timers,
                                        event => return event,
                                    },
                                    Phase::Timers | Phase::FirstTimers => {
                                        if let Some(event) = self.next_timer() {
                                            return Some(event);
                                        }
                                        at = if at == Phase::Timers { self.end_turn() } else { self.begin_turn() };
                                        continue 'turns;
                                    }
                                    Phase::Over => return None,
                                    Phase::Told => return self.next_told(),
                                }
                                if let Some(event) = self.next_pending_before_poll() {
                                    return Some(event);
                                }
                            }
                            if self.begin_watchers(Phase::Idle, List::Idle) {
                                return None;
                            }
                        }
                        if self.begin_watchers(Phase::Prepare, List::Prepare) {
                            return None;
                        }
                    }
                    if let Some(event) = self.next_of_poll(begun) {
                        return Some(event);
                    }
                    if self.begin_watchers(Phase::Check, List::Check) {
                        return None;
                    }
                }
                if self.begin_closing() {
                    self.enter(Phase::Closing);
                    if let Some(event) = self.next_closing() {
                        return Some(event);
                    }
                }
            }
            self.update_time();
            at = self.enter(Phase::Timers);
            if !self.begin_timers() {
                at = self.end_turn();
            }
        }
    }

    /// The next event of the poll phase and of the rounds of pending after it, one of which may be under way: of this turn, and of
    /// the following ones as long as these have nothing else.
    #[inline(always)] // As `advance`.
    fn next_of_poll(&mut self, mut begun: Begun) -> Option<Event<U>> {
        if begun == Begun::Nothing {
            let timeout = if self.turn.may_wait { self.poll_timeout() } else { Some(0) };
            if self.poll(timeout) {
                begun = Begun::Batch;
            }
        }
        loop {
            if begun == Begun::Batch
                && let Some(event) = self.next_ready()
            {
                return Some(event);
            }
            let mut has_round = begun == Begun::Round || self.begin_pending_round();
            while has_round {
                if let Some(event) = self.next_pending() {
                    return Some(event);
                }
                has_round = self.begin_pending_round();
            }
            if !self.has_only_the_wait() {
                return None;
            }
            self.turn.pending_rounds = PENDING_ROUNDS;
            begun = match self.poll_for_read() {
                Come::Read(key, user) => return Some(Event::NeedBuffer { key, user }),
                Come::Others(true) => Begun::Batch,
                Come::Others(false) => Begun::Nothing,
            };
        }
    }

    /// True if this turn is over, and the next has nothing but to wait for as long as it takes: so it is with most of a server's.
    /// Then that begins at once. Nobody sees the loop's time until it is read after the wait, so it is not read before.
    #[inline(always)] // As `advance`.
    fn has_only_the_wait(&self) -> bool {
        self.pending.is_empty()
            && self.slots.are_all_empty(&[List::Idle, List::Prepare, List::Check, List::Closing])
            && self.timers.heap.is_empty()
            && self.waits_for_something()
            && self.turn.mode == Mode::Default
            && !self.turn.stop
            && !self.poll.has_to_look()
    }

    /// Pending's round before poll mostly has nothing.
    #[inline(never)]
    fn next_pending_before_poll(&mut self) -> Option<Event<U>> {
        self.next_pending()
    }

    #[inline]
    pub(crate) fn enter(&mut self, phase: Phase) -> Phase {
        self.turn.phase = phase;
        phase
    }

    /// A turn is over: is there another?
    fn end_turn(&mut self) -> Phase {
        self.turn.alive = self.alive();
        if self.turn.mode == Mode::Default && self.poll.fault.is_none() { self.begin_turn() } else { self.finish() }
    }

    /// Before a turn: shall it be?
    fn begin_turn(&mut self) -> Phase {
        if !self.turn.alive || self.turn.stop {
            return self.finish();
        }
        self.turn.may_wait = match self.turn.mode {
            Mode::Default => true,
            Mode::Once => self.pending.is_empty() && self.slots.is_empty(List::Idle),
            Mode::NoWait => false,
        };
        self.turn.pending_rounds = PENDING_ROUNDS;
        Phase::TurnBegun
    }

    fn finish(&mut self) -> Phase {
        self.turn.stop = false;
        self.enter(Phase::Over)
    }

    /// Begins the walk over the watchers of a phase, which is [`Core::next_watcher`]'s. False if there are none.
    #[inline]
    fn begin_watchers(&mut self, phase: Phase, list: List) -> bool {
        let has_some = self.slots.begin_walk(Walk::Watchers, list);
        if has_some {
            self.enter(phase);
        }
        has_some
    }

    #[inline]
    fn begin_pending_round(&mut self) -> bool {
        // The rounds count down only where there is one.
        let has_some = !self.pending.is_empty() && self.turn.pending_rounds > 0;
        if has_some {
            self.turn.pending_rounds -= 1;
            self.begin_pending();
            self.enter(Phase::PendingAfterPoll);
        }
        has_some
    }

    /// What of the turn is still to come.
    #[inline]
    pub fn ahead(&self) -> Ahead {
        match self.phase_under_way() {
            Phase::Prepare => Ahead::Wait,
            Phase::Poll | Phase::PendingAfterPoll => Ahead::Check,
            _ => Ahead::Prepare,
        }
    }

    /// Before a run begins in a callback of another one: what [`Core::resume`] needs for the outer one to go on.
    /// Everything that it has moved aside is put back where it belongs, for the inner one to find.
    pub fn suspend(&mut self) -> Suspended {
        let turn = self.turn;
        self.put_back();
        self.turn.told = turn.told;
        Suspended { turn, observers: self.observers }
    }

    /// After the inner run has ended: the outer one goes on with the rest of its phase, then of its turn. It is not
    /// stopped any more, since the inner run has taken that to heart.
    pub fn resume(&mut self, outer: Suspended) {
        // The batch is the inner run's, whose wait is not to be gone on with.
        self.forget_batch();
        let count = self.turn.count;
        let mut turn = Turn { stop: false, count, ..outer.turn };
        turn.told.skip(count.wrapping_sub(outer.turn.count));
        if outer.observers != self.observers {
            turn.told.forget();
        }
        self.turn = turn;
        self.heed_observer();
    }

    /// The number of the run under way. While it is another than the one that its driver found after [`Core::begin`], the run
    /// under way is an inner one that was left before its end, and so was not resumed from: see [`Core::take_over`].
    #[inline]
    pub fn run(&self) -> u32 {
        self.turn.run
    }

    /// Ends an inner run that was left, for the run of this number and mode in one of whose callbacks it began. How far that had
    /// come is not known any more: its turn is over.
    pub fn take_over(&mut self, run: u32, mode: Mode) {
        self.put_back();
        (self.turn.run, self.turn.mode, self.turn.phase) = (run, mode, Phase::Timers);
        self.heed_observer();
    }

    /// Gives up the run under way, if there is one: puts everything that it has moved aside back where it belongs, and tells the observer
    /// that it is over. For a driver that is being unwound; [`Core::begin`] puts things back too, for one that could not.
    pub fn abandon(&mut self) {
        if self.turn.phase != Phase::Over {
            self.tell_abandoned();
            self.put_back();
        }
    }

    /// Puts what the run under way, if there is one, has moved aside back where it belongs.
    fn put_back(&mut self) {
        if self.turn.phase == Phase::Over {
            return;
        }
        self.flush_writes();
        self.turn.phase = Phase::Over;
        self.turn.told = Told::default();
        self.slots.end_walks();
        self.abandon_timers();
        self.end_told_look();
        self.abandon_step();
        self.pending.abandon();
        self.abandon_poll();
        self.abandon_closing();
        self.kernel.leave();
    }
}
