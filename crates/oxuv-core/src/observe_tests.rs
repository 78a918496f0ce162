//! What an observer hears, on the simulated kernel.

use std::cell::RefCell;
use std::rc::Rc;

use crate::observe::{CallbackKind, Job, Observer, Wait};
use crate::sim::{Faults, Sim};
use crate::why_alive::{Alive, Why};
use crate::{Config, Core, Event, Key, Metrics, Mode, One, Phase};

/// Writes down all it hears, without the times.
#[derive(Debug, Default, Clone)]
struct Notes(Rc<RefCell<Vec<String>>>);

impl Notes {
    fn note(&self, what: String) {
        self.0.borrow_mut().push(what);
    }

    fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

impl Observer<u32> for Notes {
    fn turn_begun(&mut self, number: u64, _: u64) {
        self.note(format!("turn {number}"));
    }

    fn phase_begun(&mut self, phase: Phase, _: u64) {
        self.note(phase.name().to_owned());
    }

    fn wait_begun(&mut self, _: Option<u64>, _: u64) {}

    fn waited(&mut self, wait: &Wait) {
        let length = wait.ended - wait.begun;
        assert_eq!(wait.idle, if wait.timeout == Some(0) { 0 } else { length });
        self.note(format!("waited {length} of {}", wait.timeout.map_or(-1, |timeout| timeout as i64)));
    }

    fn callback_begun(&mut self, event: &Event<u32>, depth: u32, _: u64) {
        self.note(format!("{} at {depth}", event.callback_kind().name()));
    }

    fn callback_ended(&mut self, depth: u32, _: CallbackKind, _: u64, _: u64) {
        self.note(format!("end of {depth}"));
    }

    fn job_done(&mut self, _: Job) {}

    fn run_ended(&mut self, metrics: &Metrics, _: u64) {
        self.note(format!("over after {}", metrics.turns));
    }

    fn handle_made(&mut self, key: Key, _: u64) {
        self.note(format!("made {}", key.index()));
    }

    fn keeper(&mut self, why: Why, keeper: Option<&Alive<u32>>, _: u64) {
        self.note(keeper.map_or("that is all".to_owned(), |keeper| format!("{why:?}: {keeper}")));
    }
}

fn observed() -> (Core<Sim, u32, One<Vec<u8>>>, Notes) {
    let mut core = Core::new(Sim::new(1, Faults::none()), Config::default()).unwrap();
    let notes = Notes::default();
    core.observe(Some(Box::new(notes.clone())));
    (core, notes)
}

#[test]
fn turns_phases_waits_and_callbacks_are_told_in_their_order() {
    let (mut core, notes) = observed();
    let timer = core.timer_init(0).unwrap();
    let prepare = core.prepare_init(0).unwrap();
    core.timer_start(timer, 1000, 0).unwrap();
    core.watcher_start(prepare).unwrap();
    core.unreference(prepare).unwrap();
    assert_eq!(notes.take(), [format!("made {}", timer.index()), format!("made {}", prepare.index())]);
    core.begin(Mode::Default);
    // No watcher is told of apart from the others.
    while let Some(event) = core.next_other() {
        assert_eq!(core.next_watcher(), None);
        if event.callback_kind() == CallbackKind::Timer {
            core.close(timer).unwrap();
        }
    }
    core.end().unwrap();
    let expected = [
        "turn 1",
        "prepare",
        "prepare at 1",
        "end of 1",
        "poll",
        "waited 1000 of 1000",
        "timers",
        "timer at 1",
        "end of 1",
        "turn 2",
        "prepare",
        "prepare at 1",
        "end of 1",
        "poll",
        "waited 0 of 0",
        "closing",
        "close at 1",
        "end of 1",
        "over after 2",
    ];
    assert_eq!(notes.take(), expected);
    // Not what it looked for only: the times that the observer heard are the loop's own.
    assert_eq!((core.idle_time(), core.metrics().turns), (1000, 2));
}

#[test]
fn what_keeps_a_loop_from_being_closed_is_more_than_what_keeps_it_alive() {
    let (mut core, notes) = observed();
    let timer = core.timer_init(0).unwrap();
    core.tell_keepers(Why::Alive);
    core.tell_keepers(Why::Open);
    let number = timer.index();
    assert_eq!(
        notes.take()[1..],
        ["that is all".to_owned(), format!("Open: timer {number}: open"), "that is all".to_owned()]
    );
}

#[test]
fn a_run_inside_a_callback_is_told_one_deeper() {
    let (mut core, notes) = observed();
    let (outer, inner) = (core.timer_init(1).unwrap(), core.timer_init(2).unwrap());
    core.timer_start(outer, 0, 0).unwrap();
    core.begin(Mode::Default);
    assert!(matches!(core.next(), Some(Event::Timer { user: 1, .. })));
    let suspended = core.suspend();
    core.timer_start(inner, 0, 0).unwrap();
    core.begin(Mode::Default);
    assert!(matches!(core.next(), Some(Event::Timer { user: 2, .. })));
    assert_eq!(core.next(), None);
    core.end().unwrap();
    core.resume(suspended);
    assert_eq!(core.next(), None);
    core.end().unwrap();
    let mut told = notes.take();
    told.retain(|line| line.contains(" at ") || line.starts_with("end"));
    assert_eq!(told, ["timer at 1", "timer at 2", "end of 2", "end of 1"]);
}

#[test]
fn an_observer_may_come_in_a_callback_and_go() {
    let (mut core, first) = observed();
    let (one, two) = (core.timer_init(1).unwrap(), core.timer_init(2).unwrap());
    core.timer_start(one, 0, 0).unwrap();
    core.timer_start(two, 0, 0).unwrap();
    core.begin(Mode::Default);
    assert!(matches!(core.next(), Some(Event::Timer { user: 1, .. })));
    let second = Notes::default();
    assert!(core.observe(Some(Box::new(second.clone()))).is_some());
    assert!(matches!(core.next(), Some(Event::Timer { user: 2, .. })));
    assert!(core.observe(None).is_some());
    assert_eq!(core.next(), None);
    core.end().unwrap();
    assert_eq!(first.take()[2..], ["timers", "timer at 1"]);
    assert_eq!(second.take(), ["timers", "timer at 1"]);
}

#[test]
fn names_are_in_the_order_of_their_numbers() {
    for (number, kind) in CallbackKind::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, number);
        assert_eq!(kind.name().replace('_', ""), format!("{kind:?}").to_lowercase());
    }
    assert!(Phase::ALL.into_iter().enumerate().all(|(number, phase)| phase as usize == number));
}

#[test]
fn an_observer_that_comes_within_a_callback_is_told_of_the_rest_of_its_phase() {
    let notes = Notes::default();
    let mut core: Core<Sim, u32, One<Vec<u8>>> = Core::new(Sim::new(1, Faults::none()), Config::default()).unwrap();
    for user in 0..3 {
        let check = core.check_init(user).unwrap();
        core.watcher_start(check).unwrap();
    }
    core.begin(Mode::NoWait);
    assert!(matches!(core.next(), Some(Event::Check { user: 2, .. })));
    core.observe(Some(Box::new(notes.clone())));
    assert!(matches!(core.next(), Some(Event::Check { user: 1, .. })));
    assert!(matches!(core.next(), Some(Event::Check { user: 0, .. })));
    assert_eq!((core.next(), core.end()), (None, Ok(true)));
    assert_eq!(notes.take(), ["turn 1", "check", "check at 1", "end of 1", "check at 1", "end of 1", "over after 1"]);
}

#[test]
fn an_observer_that_comes_while_a_run_is_suspended_is_told_of_the_rest_of_it() {
    let notes = Notes::default();
    let mut core: Core<Sim, u32, One<Vec<u8>>> = Core::new(Sim::new(1, Faults::none()), Config::default()).unwrap();
    let (timer, idle) = (core.timer_init(1).unwrap(), core.idle_init(2).unwrap());
    core.timer_start(timer, 0, 0).unwrap();
    core.watcher_start(idle).unwrap();
    core.begin(Mode::Default);
    assert!(matches!(core.next(), Some(Event::Timer { user: 1, .. })));
    let suspended = core.suspend();
    core.observe(Some(Box::new(notes.clone())));
    core.resume(suspended);
    assert!(matches!(core.next(), Some(Event::Idle { user: 2, .. })));
    core.watcher_stop(idle).unwrap();
    assert_eq!(core.next(), None);
    core.end().unwrap();
    let mut told = notes.take();
    told.retain(|line| line.contains(" at ") || line.starts_with("end"));
    assert_eq!(told, ["idle at 1", "end of 1"]);
}
