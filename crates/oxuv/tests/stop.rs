//! Stopping a loop.

mod common;

use std::time::Duration;

use common::{HOUR, Trace, new_loop, run};
use oxuv::{Async, Check, Idle, LoopRef, Mode, Prepare, Timer};

/// Handles that show the phases of a turn, and a timer that would make a run wait for long.
fn everything(lp: &LoopRef, trace: &Trace) {
    Prepare::new(lp).unwrap().start(trace.adds("prepare")).unwrap();
    Check::new(lp).unwrap().start(trace.adds("check")).unwrap();
    Timer::new(lp).unwrap().start(HOUR, trace.adds("late")).unwrap();
}

#[test]
fn stopped_before_a_run_nothing_runs_and_the_flag_is_cleared() {
    for mode in [Mode::Default, Mode::Once, Mode::NoWait] {
        let (lp, trace) = (new_loop(), Trace::new());
        everything(&lp, &trace);
        Timer::new(&lp).unwrap().start(Duration::ZERO, trace.adds("timer")).unwrap();
        lp.stop();
        assert_eq!(lp.run(mode), Ok(true), "{mode:?}");
        assert_eq!((trace.take(), lp.turns()), (vec![], 0), "{mode:?}");

        assert_eq!(lp.run(Mode::NoWait), Ok(true));
        assert_eq!(trace.take(), ["prepare", "check", "timer"], "{mode:?}");
    }
}

#[test]
fn stopped_with_nothing_alive_the_flag_is_cleared_by_the_run() {
    let (lp, trace) = (new_loop(), Trace::new());
    lp.stop();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    Timer::new(&lp).unwrap().start(Duration::ZERO, trace.adds("timer")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["timer"]);
}

#[test]
fn stopping_twice_is_stopping_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    everything(&lp, &trace);
    lp.stop();
    lp.stop();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(trace.take(), [""; 0]);
    assert_eq!(lp.run(Mode::NoWait), Ok(true));
    assert_eq!(trace.take(), ["prepare", "check"]);
}

#[test]
fn stopped_in_idle_the_rest_of_the_turn_runs_without_waiting() {
    let (lp, trace) = (new_loop(), Trace::new());
    everything(&lp, &trace);
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    let idle = Idle::new(&lp).unwrap();
    let line = trace.clone();
    idle.start(move |idle| {
        line.add("idle");
        idle.owner().stop();
        wake_up.send().unwrap();
        Timer::new(idle.owner()).unwrap().start(Duration::ZERO, line.adds("timer")).unwrap();
        let line = line.clone();
        idle.close_then(move |_| line.add("closed")).unwrap();
    })
    .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(trace.take(), ["idle", "prepare", "async", "check", "closed", "timer"]);
}

#[test]
fn stopped_in_prepare_the_loop_does_not_wait() {
    let (lp, trace) = (new_loop(), Trace::new());
    everything(&lp, &trace);
    let prepare = Prepare::new(&lp).unwrap();
    prepare.start(|prepare| prepare.owner().stop()).unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(trace.take(), ["prepare", "check"]);
}

#[test]
fn stopped_in_any_phase_of_a_turn_the_next_turn_does_not_come() {
    let (lp, trace) = (new_loop(), Trace::new());
    everything(&lp, &trace);
    let wake_up = Async::new(&lp, |wake_up| wake_up.owner().stop()).unwrap();
    wake_up.send().unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(trace.take(), ["prepare", "check"]);

    let check = Check::new(&lp).unwrap();
    check.start(|check| check.owner().stop()).unwrap();
    wake_up.send().unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(trace.take(), ["prepare", "check"]);

    let owner = (*lp).clone();
    check.close_then(move |_| owner.stop()).unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(trace.take(), ["prepare", "check"]);
    assert_eq!(lp.turns(), 3);
}

#[test]
fn stopped_in_the_first_timers_the_turn_does_not_come_but_the_other_timers_do() {
    let (lp, trace) = (new_loop(), Trace::new());
    let prepare = Prepare::new(&lp).unwrap();
    prepare.start(trace.adds("prepare")).unwrap();
    prepare.unref().unwrap();
    let line = trace.clone();
    let stopper = Timer::new(&lp).unwrap();
    stopper
        .start(Duration::ZERO, move |timer| {
            line.add("stopper");
            timer.owner().stop();
        })
        .unwrap();
    Timer::new(&lp).unwrap().start(Duration::ZERO, trace.adds("second")).unwrap();
    // It says what was alive before those timers, although nothing is now.
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(trace.take(), ["stopper", "second"]);
    assert!(!lp.is_alive());
    assert_eq!(lp.turns(), 0);
}

#[test]
fn stopped_in_the_timers_of_a_turn_the_run_says_what_is_alive_after_them() {
    let lp = new_loop();
    let timer = Timer::new(&lp).unwrap();
    timer.start(Duration::ZERO, |timer| timer.owner().stop()).unwrap();
    assert_eq!(lp.run(Mode::NoWait), Ok(false));
}

#[test]
fn a_stopped_run_can_be_followed_by_another() {
    let (lp, trace) = (new_loop(), Trace::new());
    let idle = Idle::new(&lp).unwrap();
    let line = trace.clone();
    let mut left = 3;
    idle.start(move |idle| {
        line.add(format!("{left}"));
        left -= 1;
        if left == 0 {
            idle.close().unwrap();
        }
        idle.owner().stop();
    })
    .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(trace.take(), ["3", "2", "1"]);
}
