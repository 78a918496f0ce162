//! Timers one by one; `timer_order` has several.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use common::{HOUR, Trace, ms, new_loop, run, run_until, spend, turn};
use oxuv::{Check, Errno, Loop, Mode, Timer};

/// Counts down, and closes the timer at zero.
fn count_down(trace: &Trace, from: u32) -> impl FnMut(&Timer) + use<> {
    let (trace, mut left) = (trace.clone(), from);
    move |timer| {
        trace.add(left.to_string());
        left -= 1;
        if left == 0 {
            timer.close().unwrap();
        }
    }
}

#[test]
fn a_timer_fires_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start(ms(1), trace.adds("timer")).unwrap();
    assert!(timer.is_active());
    run(&lp);
    assert_eq!(trace.take(), ["timer"]);
    assert!(!timer.is_active());
    assert_eq!(timer.repeat(), Ok(Duration::ZERO));
}

#[test]
fn a_timer_can_be_started_anew_after_it_has_fired() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    for round in ["one", "two"] {
        timer.start(ms(1), trace.adds(round)).unwrap();
        run(&lp);
    }
    assert_eq!(trace.take(), ["one", "two"]);
}

#[test]
fn a_repeating_timer_fires_until_it_is_stopped() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start_repeating(ms(1), ms(1), count_down(&trace, 4)).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["4", "3", "2", "1"]);
}

#[test]
fn a_repeating_timer_stopped_in_its_callback_does_not_fire_again() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let line = trace.clone();
    timer
        .start_repeating(Duration::ZERO, ms(1), move |timer| {
            line.add("timer");
            timer.stop().unwrap();
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["timer"]);
    assert_eq!(timer.repeat(), Ok(ms(1)));
}

#[test]
fn a_timer_never_comes_early() {
    let lp = new_loop();
    let timer = Timer::new(&lp).unwrap();
    for round in 0..50 {
        let delay = Duration::from_micros(200 + 37 * round);
        let (start, began) = (Instant::now(), lp.now());
        lp.update_time();
        timer
            .start(delay, move |timer| {
                assert!(start.elapsed() >= delay);
                assert!(timer.owner().now() >= began + delay);
            })
            .unwrap();
        run(&lp);
        assert!(!timer.is_active());
    }
}

#[test]
fn the_time_counts_from_that_of_the_loop_and_not_from_the_call() {
    let lp = new_loop();
    let timer = Timer::new(&lp).unwrap();
    spend(ms(2));
    timer.start(ms(5), |_| {}).unwrap();
    assert_eq!(timer.due_in(), Ok(ms(5)));
    lp.update_time();
    assert!(timer.due_in().unwrap() <= ms(3));
}

#[test]
fn a_timer_due_long_ago_has_zero_left() {
    let lp = Loop::new().unwrap();
    let timer = Timer::new(&lp).unwrap();
    timer.start(ms(1), |_| {}).unwrap();
    spend(ms(2));
    lp.update_time();
    assert_eq!(timer.due_in(), Ok(Duration::ZERO));
}

#[test]
fn started_again_a_timer_has_the_new_time_and_the_new_closure() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start_repeating(HOUR, HOUR, trace.adds("old")).unwrap();
    timer.start(ms(1), trace.adds("new")).unwrap();
    assert_eq!(timer.repeat(), Ok(Duration::ZERO));
    run(&lp);
    assert_eq!(trace.take(), ["new"]);
}

#[test]
fn a_closure_that_starts_its_timer_with_another_closure_ends_undisturbed() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let line = trace.clone();
    timer
        .start(Duration::ZERO, move |timer| {
            timer.start(Duration::ZERO, line.adds("second")).unwrap();
            line.add("first");
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["first", "second"]);
}

#[test]
fn a_stopped_timer_does_not_fire() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start(Duration::ZERO, trace.adds("timer")).unwrap();
    timer.stop().unwrap();
    timer.stop().unwrap();
    run(&lp);
    turn(&lp);
    assert_eq!(trace.take(), [""; 0]);
}

#[test]
fn again_needs_a_timer_that_was_started() {
    let lp = Loop::new().unwrap();
    let timer = Timer::new(&lp).unwrap();
    assert_eq!(timer.again(), Err(Errno::EINVAL));
    timer.set_repeat(ms(1)).unwrap();
    assert_eq!(timer.again(), Err(Errno::EINVAL));
    assert!(!timer.is_active());
}

#[test]
fn again_does_nothing_to_a_timer_that_does_not_repeat() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start(HOUR, trace.adds("timer")).unwrap();
    timer.again().unwrap();
    assert_eq!(timer.due_in(), Ok(HOUR));
    timer.stop().unwrap();
    timer.again().unwrap();
    assert!(!timer.is_active());
}

#[test]
fn again_starts_a_repeating_timer_with_its_repeat_and_its_closure() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start_repeating(HOUR, ms(1), count_down(&trace, 2)).unwrap();
    timer.again().unwrap();
    assert_eq!(timer.due_in(), Ok(ms(1)));
    timer.stop().unwrap();
    timer.again().unwrap();
    assert!(timer.is_active());
    run(&lp);
    assert_eq!(trace.take(), ["2", "1"]);
}

#[test]
fn to_set_the_repeat_does_not_start_a_timer() {
    let lp = Loop::new().unwrap();
    let timer = Timer::new(&lp).unwrap();
    timer.set_repeat(ms(7)).unwrap();
    assert_eq!(timer.repeat(), Ok(ms(7)));
    assert!(!timer.is_active() && !lp.is_alive());
}

#[test]
fn a_repeat_set_in_the_callback_acts_from_the_next_expiry_on() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let line = trace.clone();
    let mut calls = 0;
    timer
        .start_repeating(Duration::ZERO, ms(3), move |timer| {
            calls += 1;
            line.add(format!("due in {:?}", timer.due_in().unwrap()));
            timer.set_repeat(ms(5)).unwrap();
            line.add(format!("due in {:?}", timer.due_in().unwrap()));
            if calls == 2 {
                timer.close().unwrap();
            }
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["due in 3ms", "due in 3ms", "due in 5ms", "due in 5ms"]);
}

#[test]
fn a_repeat_set_on_a_timer_that_fires_once_makes_it_repeat() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start(ms(1), count_down(&trace, 3)).unwrap();
    timer.set_repeat(ms(1)).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["3", "2", "1"]);
}

#[test]
fn time_lost_in_a_callback_is_not_caught_up_with() {
    for mode in [Mode::Once, Mode::NoWait] {
        let (lp, trace) = (new_loop(), Trace::new());
        let timer = Timer::new(&lp).unwrap();
        let line = trace.clone();
        timer
            .start_repeating(ms(1), ms(1), move |_| {
                line.add("timer");
                spend(ms(5));
            })
            .unwrap();
        spend(ms(5));
        lp.update_time();
        lp.run(mode).unwrap();
        assert_eq!(trace.take(), ["timer"], "{mode:?}");
        lp.run(mode).unwrap();
        assert_eq!(trace.take(), ["timer"], "{mode:?}");
    }
}

#[test]
fn a_timer_started_with_zero_in_its_own_callback_does_not_keep_a_turn_from_ending() {
    fn start(timer: &Timer, count: Rc<Cell<u32>>) {
        let next = count.clone();
        timer
            .start(Duration::ZERO, move |timer| {
                next.set(next.get() + 1);
                start(timer, next.clone());
            })
            .unwrap();
    }
    let (lp, count) = (new_loop(), Rc::new(Cell::new(0)));
    start(&Timer::new(&lp).unwrap(), count.clone());
    let mut checks = 0;
    let check = Check::new(&lp).unwrap();
    check
        .start(move |check| {
            checks += 1;
            if checks == 3 {
                check.owner().stop();
            }
        })
        .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    // Once before the first turn, and once at the end of each of three.
    assert_eq!(count.get(), 4);
}

#[test]
fn a_timer_that_never_comes_is_not_in_the_way_of_others() {
    let (lp, trace) = (new_loop(), Trace::new());
    let never = Timer::new(&lp).unwrap();
    never.start_repeating(Duration::MAX, Duration::MAX, trace.adds("never")).unwrap();
    let soon = Timer::new(&lp).unwrap();
    soon.start_repeating(ms(1), ms(1), count_down(&trace, 3)).unwrap();
    run_until(&lp, || soon.is_closing());
    assert_eq!(trace.take(), ["3", "2", "1"]);
    assert!(never.is_active());
}

#[test]
fn a_timer_with_a_huge_repeat_fires_once_and_waits() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start_repeating(Duration::ZERO, Duration::MAX, trace.adds("timer")).unwrap();
    turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["timer"]);
    assert!(timer.is_active());
}

#[test]
fn a_closing_timer_cannot_be_started() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let line = trace.clone();
    timer.close_then(move |_| line.add("closed")).unwrap();
    assert_eq!(timer.start_repeating(ms(100), ms(100), trace.adds("timer")), Err(Errno::EINVAL));
    assert_eq!(timer.again(), Err(Errno::EINVAL));
    assert!(!timer.is_active());
    run(&lp);
    assert_eq!(trace.take(), ["closed"]);
}

#[test]
fn a_timer_between_two_grains_of_a_coarse_loop_is_waited_for_asleep() {
    let lp = Loop::with_grain(ms(100)).unwrap();
    Timer::new(&lp).unwrap().start(ms(150), |_| {}).unwrap();
    run(&lp);
    assert!(lp.turns() <= 4, "{} turns", lp.turns());
}

#[test]
fn restarted_it_fires_again_with_its_closure_and_its_repeat() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    assert_eq!(timer.restart(ms(1)), Err(Errno::EINVAL), "there is no closure yet");
    timer.start(HOUR, trace.adds("once")).unwrap();
    for state in ["running", "has come", "stopped"] {
        if state == "stopped" {
            timer.stop().unwrap();
        }
        timer.restart(ms(1)).unwrap();
        run(&lp);
        assert_eq!((trace.take(), timer.is_active()), (vec!["once".to_owned()], false), "{state}");
    }
    timer.start_repeating(HOUR, ms(1), count_down(&trace, 2)).unwrap();
    timer.restart(ms(2)).unwrap();
    assert_eq!(timer.repeat(), Ok(ms(1)));
    run(&lp);
    assert_eq!(trace.take(), ["2", "1"]);
    assert_eq!(timer.restart(ms(1)), Err(Errno::EINVAL), "it is closed");
}

#[test]
fn a_timer_can_restart_itself_in_its_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let (line, mut left) = (trace.clone(), 3);
    timer
        .start(ms(1), move |timer| {
            line.add(left.to_string());
            left -= 1;
            if left > 0 {
                timer.restart(ms(1)).unwrap();
            }
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["3", "2", "1"]);
}
