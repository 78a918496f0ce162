//! Signals on the simulated kernel.

use crate::sim::{Faults, Sim};
use crate::{Config, Core, Errno, Event, Key, Mode, One};

const INT: i32 = 2;
const TERM: i32 = 15;

type TestCore = Core<Sim, u32, One<Vec<u8>>>;

fn core() -> (Sim, TestCore) {
    let sim = Sim::new(1, Faults::none());
    (sim.clone(), Core::new(sim, Config::default()).unwrap())
}

fn started(core: &mut TestCore, user: u32, number: i32, once: bool) -> Key {
    let key = core.signal_init(user).unwrap();
    core.signal_start(key, number, once).unwrap();
    key
}

/// The handles that hear of something in a turn, by their users, with the number of the signal; 0 for a close.
fn turn(core: &mut TestCore) -> Vec<(u32, i32)> {
    core.begin(Mode::NoWait);
    let mut heard = Vec::new();
    while let Some(event) = core.next() {
        heard.push(match event {
            Event::Signal { user, number, .. } => (user, number),
            Event::Closed { user, .. } => (user, 0),
            event => panic!("{event:?}"),
        });
    }
    heard
}

#[test]
fn each_signal_is_told_to_all_who_wait_for_it_in_their_order() {
    let (sim, mut core) = core();
    started(&mut core, 1, INT, true);
    started(&mut core, 2, INT, false);
    started(&mut core, 3, TERM, false);
    started(&mut core, 4, INT, false);
    [INT, TERM, INT].into_iter().for_each(|number| assert!(sim.raise(number)));
    // The one-shot handle comes after the others, and once.
    assert_eq!(turn(&mut core), [(2, INT), (4, INT), (1, INT), (3, TERM), (2, INT), (4, INT)]);
    assert_eq!(turn(&mut core), []);
    assert_eq!(core.backend_timeout(), None);
}

#[test]
fn what_was_caught_before_a_start_is_not_for_that_handle() {
    let (sim, mut core) = core();
    let first = started(&mut core, 1, INT, false);
    sim.raise(INT);
    let second = started(&mut core, 2, INT, false);
    core.signal_stop(first).unwrap();
    assert!(sim.raise(INT));
    core.signal_stop(second).unwrap();
    assert!(!sim.raise(INT), "nobody watches it");
    assert_eq!(core.backend_timeout(), Some(0));
    // Started anew for the same signal, each hears of what it has caught.
    core.signal_start(second, INT, false).unwrap();
    core.signal_start(first, INT, false).unwrap();
    assert_eq!(turn(&mut core), [(1, INT), (2, INT)]);
    sim.raise(INT);
    core.signal_start(first, TERM, false).unwrap();
    assert_eq!(turn(&mut core), [(2, INT)], "the first waits for another one by now");
}

#[test]
fn a_handle_is_closed_when_it_has_been_told_or_passed_over() {
    let (sim, mut core) = core();
    let first = started(&mut core, 1, INT, false);
    started(&mut core, 2, INT, false);
    core.begin(Mode::NoWait);
    sim.raise(INT);
    core.close(first).unwrap();
    assert!(!core.is_active(first));
    let closed = std::iter::from_fn(|| core.next()).count();
    // The close waits for the signal, which came before this turn's poll.
    assert_eq!(closed, 2);
    sim.raise(INT);
    let (mut heard, last) = (Vec::new(), started(&mut core, 3, TERM, true));
    core.begin(Mode::Once);
    while let Some(event) = core.next() {
        match event {
            Event::Signal { user, number: INT, .. } => {
                heard.push(user);
                sim.raise(TERM);
                core.close(last).unwrap();
            }
            event => panic!("{event:?}"),
        }
    }
    assert_eq!(heard, [2]);
    assert_eq!(turn(&mut core), [(3, 0)], "it came with the next batch, and the close after it");
    assert_eq!(core.kind(last), None);
}

#[test]
fn a_one_shot_handle_is_active_in_its_callback_and_may_start_anew() {
    let (sim, mut core) = core();
    let once = started(&mut core, 1, INT, true);
    sim.raise(INT);
    assert!(!sim.raise(INT), "its action is the default one");
    core.begin(Mode::Default);
    assert_eq!(core.next(), Some(Event::Signal { key: once, user: 1, number: INT }));
    assert!(core.is_active(once));
    assert_eq!(core.signal_number(once), Ok(INT));
    assert_eq!(core.next(), None);
    assert_eq!((core.end(), core.is_active(once), core.signal_number(once)), (Ok(false), false, Ok(0)));
    core.signal_start(once, INT, true).unwrap();
    sim.raise(INT);
    core.begin(Mode::NoWait);
    core.next().unwrap();
    core.signal_start(once, INT, true).unwrap();
    assert_eq!(core.next(), None);
    assert!(core.is_active(once));
    assert!(sim.raise(INT));
    // A start for good is one for good.
    core.signal_start(once, INT, false).unwrap();
    assert_eq!(turn(&mut core), [(1, INT)]);
    assert!(core.is_active(once));
}

#[test]
fn a_one_shot_handle_is_stopped_after_a_fork_or_a_start_that_fails_in_its_callback() {
    let (sim, mut core) = core();
    let once = started(&mut core, 1, INT, true);
    for number in [INT, 0] {
        core.signal_start(once, INT, true).unwrap();
        sim.raise(INT);
        core.begin(Mode::Default);
        assert!(matches!(core.next(), Some(Event::Signal { user: 1, .. })));
        if number == INT {
            core.after_fork().unwrap();
        } else {
            core.signal_start(once, number, true).unwrap_err();
        }
        assert_eq!((core.next(), core.end()), (None, Ok(false)));
    }
}

#[test]
fn a_signal_costs_no_other_turn() {
    let (sim, mut core) = core();
    started(&mut core, 1, INT, false);
    sim.raise(INT);
    assert_eq!(turn(&mut core), [(1, INT)]);
    assert_eq!(core.backend_timeout(), None);
}

#[test]
fn a_start_that_fails_changes_nothing() {
    let (sim, mut core) = core();
    let key = started(&mut core, 1, INT, false);
    for number in [0, -1, 65, 9, 19] {
        assert_eq!(core.signal_start(key, number, false), Err(Errno::EINVAL));
    }
    sim.raise(INT);
    assert_eq!(turn(&mut core), [(1, INT)]);
    core.close(key).unwrap();
    assert_eq!(core.signal_start(key, INT, false), Err(Errno::EINVAL));
}

#[test]
fn a_run_that_is_left_does_not_lose_signals() {
    let (sim, mut core) = core();
    started(&mut core, 1, INT, false);
    started(&mut core, 2, INT, true);
    started(&mut core, 3, TERM, false);
    (0..3).for_each(|_| assert!(sim.raise(INT)));
    sim.raise(TERM);
    core.begin(Mode::Default);
    assert!(matches!(core.next(), Some(Event::Signal { user: 1, .. })));
    assert!(matches!(core.next(), Some(Event::Signal { user: 2, .. })));
    core.abandon();
    assert_eq!(turn(&mut core), [(1, INT), (1, INT), (3, TERM)]);
}

#[test]
fn the_core_hears_for_itself() {
    let (sim, mut core) = core();
    core.hear_signal(INT).unwrap();
    core.hear_signal(INT).unwrap();
    assert!(sim.raise(INT));
    assert_eq!(turn(&mut core), []);
    core.unhear_signal(INT);
    assert!(!sim.raise(INT));
}

#[test]
fn a_child_hears_of_what_comes_to_itself() {
    let (sim, mut core) = core();
    started(&mut core, 1, INT, false);
    let wake_up = core.async_init(7).unwrap();
    core.async_sender(wake_up).unwrap().send().unwrap();
    sim.raise(INT);
    core.after_fork().unwrap();
    assert_eq!(turn(&mut core), []);
    sim.raise(INT);
    assert_eq!(turn(&mut core), [(1, INT)]);
}
