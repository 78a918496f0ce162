//! Node's timers and its outer loop, without JavaScript.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use oxuv::node::{End, Outcome, Platform, Script, Timers};
use oxuv::{Loop, LoopRef, Mode, Timer};

type Act = Box<dyn FnOnce(&Words) -> Outcome>;

/// Runs closures, and writes down what happens.
#[derive(Default)]
struct Words {
    said: RefCell<Vec<String>>,
    throws_in_drain: Cell<bool>,
}

impl Words {
    fn say(&self, text: &str) {
        self.said.borrow_mut().push(text.to_owned());
    }

    fn take(&self) -> Vec<String> {
        self.said.take()
    }
}

impl Script for Words {
    type Task = Act;

    fn call(&self, act: Act) -> Outcome {
        act(self)
    }

    fn drain(&self) -> Outcome {
        self.say("drain");
        if self.throws_in_drain.take() { Outcome::Threw } else { Outcome::Done }
    }
}

fn says(text: &'static str, outcome: Outcome) -> Act {
    Box::new(move |words| {
        words.say(text);
        outcome
    })
}

fn setup() -> (Loop, Rc<Words>, Timers<Words>) {
    let lp = Loop::builder().grain(Duration::from_millis(1)).test_clock().build().unwrap();
    let words = Rc::new(Words::default());
    let timers = Timers::new(&lp, words.clone()).unwrap();
    (lp, words, timers)
}

/// Lets time go by without the loop.
fn spend(lp: &LoopRef, milliseconds: u64) {
    lp.advance(Duration::from_millis(milliseconds)).unwrap();
}

#[test]
fn queues_are_drained_between_callbacks_and_after_the_last() {
    let (lp, words, timers) = setup();
    timers.insert(says("a", Outcome::Done), 2, true).unwrap();
    timers.insert(says("b", Outcome::Done), 2, true).unwrap();
    timers.insert(says("c", Outcome::Done), 1, true).unwrap();
    spend(&lp, 5);
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(words.take(), ["c", "drain", "a", "drain", "b", "drain"]);
}

#[test]
fn after_a_throw_the_next_comes_before_the_queues() {
    let (lp, words, timers) = setup();
    timers.insert(says("throws", Outcome::Threw), 1, true).unwrap();
    timers.insert(says("next", Outcome::Done), 1, true).unwrap();
    timers.insert(says("last, throws", Outcome::Threw), 1, true).unwrap();
    spend(&lp, 3);
    lp.run(Mode::Default).unwrap();
    assert_eq!(words.take(), ["throws", "next", "drain", "last, throws", "drain"]);
}

#[test]
fn after_a_throw_in_a_drain_the_next_comes_at_once() {
    let (lp, words, timers) = setup();
    timers.insert(says("first", Outcome::Done), 1, true).unwrap();
    timers.insert(says("second", Outcome::Done), 1, true).unwrap();
    words.throws_in_drain.set(true);
    spend(&lp, 3);
    lp.run(Mode::Default).unwrap();
    assert_eq!(words.take(), ["first", "drain", "second", "drain"]);
}

#[test]
fn a_script_that_stops_is_called_no_more() {
    let (lp, words, timers) = setup();
    timers.insert(says("stops", Outcome::Stop), 1, true).unwrap();
    timers.insert(says("never", Outcome::Done), 1, true).unwrap();
    spend(&lp, 3);
    lp.run(Mode::NoWait).unwrap();
    assert_eq!(words.take(), ["stops"]);
}

#[test]
fn only_referenced_timers_keep_the_loop() {
    let (lp, words, timers) = setup();
    let key = timers.insert(says("a minute", Outcome::Done), 60_000, true).unwrap();
    timers.insert(says("unreferenced", Outcome::Done), 50_000, false).unwrap();
    assert!(lp.is_alive());
    timers.set_referenced(key, false).unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    timers.set_referenced(key, true).unwrap();
    assert!(lp.is_alive());
    assert!(timers.remove(key).unwrap().is_some());
    assert!(timers.remove(key).unwrap().is_none());
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert!(words.take().is_empty());
}

#[test]
fn a_timer_started_in_a_callback_counts_from_the_clock_of_then() {
    let (lp, words, timers) = setup();
    let (again, clock) = (timers.clone(), LoopRef::clone(&lp));
    let act: Act = Box::new(move |words| {
        words.say("slow");
        spend(&clock, 20);
        let before = again.now();
        let check = again.clone();
        let act: Act = Box::new(move |words| {
            assert_eq!(check.now(), before + 5);
            words.say("later");
            Outcome::Done
        });
        again.insert(act, 5, true).unwrap();
        Outcome::Done
    });
    timers.insert(act, 1, true).unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!(words.take(), ["slow", "drain", "later", "drain"]);
}

#[test]
fn timers_that_are_closed_do_not_come_and_let_the_loop_close() {
    let (lp, words, timers) = setup();
    timers.insert(says("never", Outcome::Done), 1, true).unwrap();
    timers.close().unwrap();
    lp.run(Mode::Default).unwrap();
    assert!(words.take().is_empty());
    assert_eq!(lp.check_closable(), Ok(()));
}

/// Starts a timer in before-exit, so many times.
struct Rearms {
    lp: LoopRef,
    left: u32,
    said: Vec<&'static str>,
    stops: bool,
}

impl Platform for Rearms {
    fn is_stopping(&self) -> bool {
        self.stops && self.left == 0
    }

    fn drain_tasks(&mut self) {
        self.said.push("tasks");
    }

    fn before_exit(&mut self) {
        self.said.push("before-exit");
        if self.left > 0 {
            self.left -= 1;
            let timer = Timer::new(&self.lp).unwrap();
            timer.start(Duration::from_millis(1), |timer| timer.close().unwrap()).unwrap();
        }
    }

    fn snapshot(&mut self) {
        self.said.push("snapshot");
    }
}

#[test]
fn the_outer_loop_goes_on_while_before_exit_starts_something() {
    let lp = Loop::new().unwrap();
    let mut platform = Rearms { lp: lp.clone(), left: 1, said: Vec::new(), stops: false };
    assert_eq!(lp.spin(&mut platform), Ok(End::Idle));
    assert_eq!(platform.said, ["tasks", "before-exit", "snapshot", "tasks", "before-exit", "snapshot"]);
}

#[test]
fn the_outer_loop_ends_when_the_platform_stops() {
    let lp = Loop::new().unwrap();
    let mut platform = Rearms { lp: lp.clone(), left: 1, said: Vec::new(), stops: true };
    assert_eq!(lp.spin(&mut platform), Ok(End::Stopped));
    assert_eq!(platform.said, ["tasks", "before-exit"]);
    platform.said.clear();
    assert_eq!(lp.spin(&mut platform), Ok(End::Stopped));
    assert!(platform.said.is_empty());
}
