//! Runs a program on a simulated kernel, the model beside it.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::rc::Rc;

use oxuv_core::sim::{Fault, Fd, Note, Random, Sim};
use oxuv_core::{Config, Core, Errno, Event, Key, Kind, Many, Mode};

use crate::Check;
use crate::coverage::{self, Coverage};
use crate::draw::STARTS;
use crate::files::make_files;
use crate::model::{Life, Model};
use crate::observer::Seen;
use crate::outside::{Outside, Shared};
use crate::program::{Action, Outer, Place, Program};
use crate::tcp::SERVED;
use crate::turn::Phase;

pub(crate) type Pieces = Many<Vec<Vec<u8>>>;

pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) sim: Sim,
    pub(crate) core: Core<Sim, u64, Pieces>,
    pub(crate) model: Model,
    pub(crate) outside: Shared,
    /// For each place, how many callbacks it has had.
    callbacks: Vec<usize>,
    /// Draws the sizes of the buffers to read into.
    pub(crate) random: Random,
    pub(crate) requests: u64,
    /// The descriptors of the poll handles, and the numbers of their connections.
    pub(crate) owned: Vec<Option<Fd>>,
    pub(crate) polled: Vec<Option<usize>>,
    /// The names that pipes are bound to.
    pub(crate) names: Vec<Option<Vec<u8>>>,
    /// The time that callbacks have taken since the core has looked at the clock.
    pub(crate) worked: u64,
    /// Callbacks do nothing any more.
    is_ending: bool,
    /// The runs under way, one in a callback of the other.
    runs: Vec<Mode>,
    /// A callback has left a run that was in a callback.
    is_left: bool,
    /// This callback is asked for a buffer, or to read: what comes then is of this run.
    pub(crate) needs_buffer: bool,
    pub(crate) trace: Vec<String>,
    pub(crate) notes: Vec<Note>,
    /// When a signal was last told of: the run, and the polls begun.
    pub(crate) last_signal: Option<(u64, u64)>,
    /// An async handle that is not the program's. It ends runs in which files are looked at for ever.
    pub(crate) guard: Key,
    /// What somebody who looks on has seen.
    pub(crate) seen: Option<Rc<RefCell<Seen>>>,
    pub(crate) coverage: Coverage,
}

/// What a program has done: what the program heard, and what the kernel did.
pub(crate) type Trace = (Vec<String>, Vec<Note>);

/// Whether a callback has left the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Goes,
    Left,
}

/// A run in a callback of another one.
pub(crate) const INSIDE: &str = "run inside";

/// Events after which a run is stopped, and those after which it never ends.
const STOP_AFTER: usize = 60;
const TOO_MANY: usize = 20_000;

/// Nanoseconds for which a run may look at files.
const PATIENCE: u64 = 50_000_000;

/// Runs a program to its end, everything being closed then.
pub(crate) fn run(program: &Program) -> Result<(Trace, Coverage), String> {
    let mut machine = Machine::new(program);
    match machine.run_all() {
        Ok(()) => {
            machine.note_conditions();
            Ok(((machine.trace, machine.notes), machine.coverage))
        }
        Err(error) => {
            let last = machine.trace.len().saturating_sub(20);
            Err(format!("{error}\nafter\n  {}", machine.trace[last..].join("\n  ")))
        }
    }
}

/// Whether the loop sends small writes together.
pub(crate) fn gathers(seed: u64) -> bool {
    seed % 4 == 1
}

impl<'a> Machine<'a> {
    fn new(program: &'a Program) -> Self {
        let sim = Sim::new(program.seed, program.faults);
        sim.set_capacity(program.capacity);
        sim.set_network_room(program.capacity / 8 + 1);
        sim.set_offload(crate::udp::offload(program.seed));
        sim.set_wait_limit(100_000);
        sim.set_time(program.start);
        sim.set_ring(program.ring);
        make_files(&sim);
        sim.serve((Ipv4Addr::LOCALHOST, SERVED).into());
        let mut core =
            Core::new(sim.clone(), Config { grain: program.grain, ..Config::default() }).expect("the grain is not 0");
        if gathers(program.seed) {
            core.gather_writes(|bytes| Many(vec![bytes.to_vec()]));
        }
        let guard = core.async_init(u64::MAX).expect("there is memory");
        core.hide(guard).and_then(|()| core.unreference(guard)).expect("it is there");
        Machine {
            program,
            sim,
            core,
            model: Model::new(&program.kinds),
            outside: Outside::new(program.kinds.len()),
            callbacks: vec![0; program.kinds.len()],
            random: Random::new(program.seed),
            requests: 0,
            owned: program.kinds.iter().map(|_| None).collect(),
            polled: vec![None; program.kinds.len()],
            names: vec![None; program.kinds.len()],
            worked: 0,
            is_ending: false,
            runs: Vec::new(),
            is_left: false,
            needs_buffer: false,
            trace: Vec::new(),
            notes: Vec::new(),
            last_signal: None,
            guard,
            seen: None,
            coverage: Coverage::default(),
        }
    }

    /// What the program ran with.
    fn note_conditions(&mut self) {
        let Program { start, grain, ring, .. } = *self.program;
        for (name, _) in STARTS.iter().filter(|&&(_, time)| time == start) {
            self.coverage.note("clocks", name);
        }
        self.coverage.note("loops", coverage::grain(grain));
        self.coverage.note("loops", coverage::ring(ring));
        self.coverage.note("loops", coverage::gathering(gathers(self.program.seed)));
        for fault in Fault::ALL {
            self.coverage.add("faults", fault.name(), self.sim.committed(fault));
        }
    }

    fn run_all(&mut self) -> Check {
        for &action in &self.program.outside {
            self.act(action)?;
        }
        self.settle()?;
        self.end()
    }

    /// Ends the run that is under way some time from now.
    pub(crate) fn plan_end(&self) {
        if let Ok(sender) = self.core.async_sender(self.guard) {
            // The loop outlives its plans.
            self.sim.later(PATIENCE, move |_| sender.send().expect("nobody closes it"));
        }
    }

    /// Runs the loop in a callback of another run.
    fn run_inside(&mut self, mode: Mode) -> Check {
        self.coverage.note("loops", INSIDE);
        let (outer, turn) = (self.core.suspend(), self.model.suspend());
        self.suspend_seen();
        if self.run(mode)? == Flow::Left {
            // What has left it, leaves the outer one, too.
            self.is_left = true;
            return Ok(());
        }
        self.core.resume(outer);
        self.resume_seen();
        self.model.resume(turn, self.core.turns());
        if self.model.may_look() {
            self.plan_end();
        }
        Ok(())
    }

    pub(crate) fn run(&mut self, mode: Mode) -> Result<Flow, String> {
        self.runs.push(mode);
        let flow = self.run_to_its_end(mode);
        self.runs.pop();
        flow
    }

    fn run_to_its_end(&mut self, mode: Mode) -> Result<Flow, String> {
        if self.model.may_look() {
            self.plan_end();
        }
        self.model.end_failed_read();
        self.model.end_sending();
        self.model.abandon_run();
        self.end_one_shot();
        self.forget_seen(self.runs.len() > 1);
        let turns = self.core.turns();
        self.core.begin(mode);
        // What the timers that are due by now had kept alive, the model knows.
        let was_alive = self.model.is_alive() || self.core.alive();
        let will_run = was_alive && !self.model.stop;
        self.model.note_time(self.core.time())?;
        if will_run {
            self.model.begin_run(mode, turns, self.core.time());
        }
        let mut events = 0;
        while let Some(event) = self.next()? {
            ensure!(will_run, "{event:?} although nothing was alive or the loop was stopped");
            events += 1;
            ensure!(events < TOO_MANY, "the run does not end");
            self.trace.push(format!("{event:?} at {}", self.core.time()));
            if event.key() == Some(self.guard) {
                self.model.advance(self.core.turns(), Phase::Poll, self.core.time())?;
                self.core.stop();
                self.model.stop = true;
                continue;
            }
            if self.hear(event)? == Flow::Left {
                return Ok(Flow::Left);
            }
            self.model.note_time(self.core.time())?;
            // Each time, since a run within takes a stop for its own.
            if events >= STOP_AFTER {
                self.core.stop();
                self.model.stop = true;
            }
        }
        self.finish(mode, will_run, was_alive, turns)?;
        Ok(Flow::Goes)
    }

    /// A run is over: what it returns, and why it may be over.
    fn finish(&mut self, mode: Mode, has_run: bool, was_alive: bool, turns_before: u64) -> Check {
        let (was_stopped, turns) = (self.model.stop, self.core.turns());
        if has_run {
            self.model.owed = self.outside.borrow().signals.owed();
            self.model.finish_run(turns, self.core.time())?;
            // After a stop in the timers before the first turn there was no poll.
            if self.program.faults == Default::default() && turns > turns_before {
                self.outside.borrow().check_asyncs(&self.model, turns)?;
                self.outside.borrow().signals.check(turns)?;
                self.outside.borrow().watches.check(turns)?;
            }
        }
        self.model.note_time(self.core.time())?;
        self.model.stop = false;
        let result = self.core.end();
        self.trace.push(format!("{mode:?} returns {result:?} at {}", self.core.time()));
        match result {
            Ok(is_alive) if !has_run => ensure!(is_alive == was_alive, "run returns {is_alive}"),
            Ok(true) => {
                ensure!(was_stopped || mode != Mode::Default, "the run is over although something is alive");
                // After a stop in the timers before the first turn it is what was alive before.
                let may_be = self.core.alive() || was_stopped;
                ensure!(may_be, "run returns true, and nothing is alive");
            }
            Ok(false) => ensure!(!self.core.alive(), "run returns false, and something is alive"),
            Err(error) => ensure!(error == EDEADLK && mode != Mode::NoWait, "run fails with {error:?}"),
        }
        self.verify()
    }

    fn next(&mut self) -> Result<Option<Event<u64>>, String> {
        self.model.end_failed_read();
        self.model.end_sending();
        self.end_one_shot();
        self.outside.borrow_mut().turns = self.core.turns();
        let was_in_timers = self.model.is_in_timers(self.core.turns());
        let read = if self.core.turns().is_multiple_of(2) { self.next_to_read() } else { None };
        let event = read.map(|(key, user)| Event::NeedBuffer { key, user }).or_else(|| self.core.next());
        self.check_notes()?;
        self.check_observer(event.as_ref())?;
        let (time, clock) = (self.core.time(), self.sim.time());
        if time == clock - clock % self.program.grain {
            self.worked = 0;
        } else if matches!(event, None | Some(Event::Timer { .. })) && !was_in_timers && self.model.turn.is_running {
            ensure!(self.has_jumps(), "timers go by the time {time} at {clock}");
        }
        Ok(event)
    }

    /// A front may ask for this first; here it does in every other turn.
    fn next_to_read(&mut self) -> Option<(Key, u64)> {
        let run = self.core.run();
        self.core.next_to_read(run).or_else(|| self.core.next_to_read_on(run))
    }

    /// The clock may jump or leap.
    pub(crate) fn has_jumps(&self) -> bool {
        self.program.faults.clock_jump > 0 || self.program.faults.clock_leap > 0
    }

    /// Does what the next callback of a place does.
    pub(crate) fn callback(&mut self, place: Place) -> Result<Flow, String> {
        self.verify()?;
        let program = self.program;
        let nth = self.callbacks[place];
        self.callbacks[place] += 1;
        let actions = program.callbacks[place].get(nth).filter(|_| !self.is_ending);
        for &action in actions.into_iter().flatten() {
            if action == Action::Leave {
                self.note_action(action, "Leave");
                return Ok(Flow::Left);
            }
            self.act(action)?;
            if std::mem::take(&mut self.is_left) {
                return Ok(Flow::Left);
            }
        }
        Ok(Flow::Goes)
    }

    pub(crate) fn act(&mut self, action: Action) -> Check {
        self.outside.borrow_mut().turns = self.core.turns();
        let text = format!("{action:?}");
        self.note_action(action, &text);
        self.trace.push(text);
        match action {
            Action::Run(_) if self.runs.len() > 1 || self.needs_buffer => {}
            Action::Run(mode) if !self.runs.is_empty() => self.run_inside(mode)?,
            Action::Run(mode) => drop(self.run(mode)?),
            Action::Now(outer) => self.outside.borrow_mut().act(&self.sim, outer),
            Action::Later(delay, outer) => {
                let outside = Rc::clone(&self.outside);
                self.sim.later(delay, move |sim| outside.borrow_mut().act(sim, outer));
            }
            _ => self.act_on_handle(action)?,
        }
        self.check_notes()?;
        self.verify().map_err(|error| format!("{error}, after {action:?}"))
    }

    fn note_action(&mut self, action: Action, text: &str) {
        let name = |text: &str| text.split('(').next().unwrap_or_default().to_owned();
        let what = if let Action::Run(_) = action { text.to_owned() } else { name(text) };
        self.coverage.note("actions", &what);
        if let Action::Now(outer) | Action::Later(_, outer) = action {
            let text = if let Outer::Change(change) = outer { format!("{change:?}") } else { format!("{outer:?}") };
            self.coverage.note("others", &name(&text));
        }
    }

    /// Everything that is under way goes its way: what was written is sent, what was sent is read.
    fn settle(&mut self) -> Check {
        self.is_ending = true;
        for place in 0..self.program.kinds.len() {
            if !matches!(self.program.kinds[place], Kind::Tcp | Kind::Pipe | Kind::Tty | Kind::Udp | Kind::Async) {
                self.act(Action::Close(place))?;
            }
        }
        for _ in 0..5000 {
            if self.is_settled() || !self.core.alive() {
                break;
            }
            self.outside.borrow_mut().drain(&self.sim);
            self.act(Action::Work(100_000))?;
            self.run(Mode::NoWait)?;
        }
        ensure!(self.is_settled() || !self.core.alive(), "bytes, connections or sends are left lying");
        Ok(())
    }

    fn is_settled(&self) -> bool {
        let outside = self.outside.borrow();
        self.model.jobs.count() == 0
            && self.model.handles.iter().enumerate().filter(|(_, handle)| handle.life == Life::Open).all(
                |(place, handle)| {
                    let stream = &handle.stream;
                    let has_read = stream.connection.is_none_or(|connection| {
                        let connection = &outside.connections[connection];
                        !stream.is_reading
                            || connection.is_loose
                            || connection.read == connection.sent && !connection.has_ended
                    });
                    let partner =
                        stream.connection.and_then(|number| outside.connections[number].peer.partner(&self.sim));
                    // Two ends of ours may wait for each other for ever.
                    let has_received = !stream.is_reading || !outside.has_mail(place);
                    let is_done =
                        stream.requests() == 0 && has_read && has_received && outside.is_sent[place].is_none();
                    partner.is_some() || is_done
                },
            )
    }

    /// Everything is closed, and nothing is left.
    fn end(&mut self) -> Check {
        for place in 0..self.program.kinds.len() {
            self.act(Action::Close(place))?;
        }
        // The first runs may be over at once because of a stop, or of the guard.
        for nth in 0..50 {
            self.run(Mode::Default)?;
            if nth > 0 && !self.core.alive() {
                break;
            }
        }
        self.end_children()?;
        ensure!(!self.core.alive() && self.core.check_closable().is_ok(), "the loop cannot be closed");
        let open = self.sim.open_descriptors();
        ensure!(open.len() == self.sim.own_descriptors(), "descriptors {open:?} are left open");
        let may_lose = self.program.faults.refuse > 0;
        self.outside.borrow_mut().check_letters(&self.sim, may_lose)?;
        self.outside.borrow_mut().check_arrivals(&self.sim)
    }
}

/// What the simulated kernel says of a wait that would never end.
pub(crate) const EDEADLK: Errno = Errno::from_raw(35);

/// What it says of a socket that is connected, or listens.
pub(crate) const EISCONN: Errno = Errno::from_raw(106);
