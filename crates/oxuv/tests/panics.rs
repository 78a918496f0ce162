//! A panic in a callback leaves the run. The next one calls what was due and not called yet, once.

mod common;

use std::time::Duration;

use common::{HOUR, Trace, failing_turn, guard, new_loop, panics_once, run, turn};
use oxuv::{Async, Check, Errno, Handle, Idle, Loop, Mode, Prepare, Timer};

/// Closes a handle, which adds a line when it is closed.
fn closes(handle: &Handle, trace: &Trace, line: &'static str) {
    let trace = trace.clone();
    handle.close_then(move |_| trace.add(line)).unwrap();
}

#[test]
fn the_loop_can_be_run_again() {
    let (lp, trace) = (new_loop(), Trace::new());
    let idle = Idle::new(&lp).unwrap();
    idle.start(panics_once(&trace, "idle")).unwrap();
    failing_turn(&lp);
    // It is not taken for running.
    assert_eq!(lp.run(Mode::NoWait), Ok(true));
    assert_eq!(trace.take(), ["idle", "idle"]);
}

#[test]
fn the_other_timers_of_the_pass_are_called_by_the_next_run() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timers = [(); 4].map(|()| Timer::new(&lp).unwrap());
    timers[0].start(Duration::ZERO, trace.adds("a")).unwrap();
    timers[1].start(Duration::ZERO, panics_once(&trace, "b")).unwrap();
    timers[2].start(Duration::ZERO, trace.adds("c")).unwrap();
    timers[3].start_repeating(Duration::ZERO, HOUR, trace.adds("d")).unwrap();
    failing_turn(&lp);
    assert_eq!(trace.take(), ["a", "b"]);
    turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["c", "d"]);
}

#[test]
fn timers_of_a_pass_that_was_left_come_before_those_started_since() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timers = [(); 3].map(|()| Timer::new(&lp).unwrap());
    timers[0].start(Duration::ZERO, panics_once(&trace, "a")).unwrap();
    timers[1].start(Duration::ZERO, trace.adds("b")).unwrap();
    failing_turn(&lp);
    timers[2].start(Duration::ZERO, trace.adds("c")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["a", "b", "c"]);
}

#[test]
fn a_repeating_timer_that_panics_goes_on_repeating() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start_repeating(Duration::ZERO, Duration::from_nanos(1), panics_once(&trace, "timer")).unwrap();
    failing_turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["timer", "timer"]);
}

#[test]
fn a_timer_of_a_pass_that_was_left_can_be_stopped_and_started_before_the_next_run() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timers = [(); 4].map(|()| Timer::new(&lp).unwrap());
    timers[0].start(Duration::ZERO, panics_once(&trace, "a")).unwrap();
    for (timer, name) in timers[1..].iter().zip(["b", "c", "d"]) {
        timer.start(Duration::ZERO, trace.adds(name)).unwrap();
    }
    failing_turn(&lp);
    timers[1].stop().unwrap();
    timers[2].start(Duration::ZERO, trace.adds("c anew")).unwrap();
    timers[3].close().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["a", "c anew"]);
}

#[test]
fn after_a_panic_in_a_watcher_all_of_them_run_in_the_next_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let prepares = [(); 3].map(|()| Prepare::new(&lp).unwrap());
    prepares[0].start(trace.adds("a")).unwrap();
    prepares[1].start(panics_once(&trace, "b")).unwrap();
    prepares[2].start(trace.adds("c")).unwrap();
    Check::new(&lp).unwrap().start(panics_once(&trace, "check")).unwrap();
    failing_turn(&lp);
    assert_eq!(trace.take(), ["c", "b"]);
    failing_turn(&lp);
    assert_eq!(trace.take(), ["c", "b", "a", "check"]);
    turn(&lp);
    assert_eq!(trace.take(), ["c", "b", "a", "check"]);
}

#[test]
fn the_other_asyncs_that_were_sent_to_are_called_by_the_next_run() {
    let (lp, trace) = (new_loop(), Trace::new());
    let a = Async::new(&lp, trace.adds("a")).unwrap();
    let b = Async::new(&lp, panics_once(&trace, "b")).unwrap();
    let c = Async::new(&lp, trace.adds("c")).unwrap();
    let _d = Async::new(&lp, trace.adds("d")).unwrap();
    for wake_up in [&a, &b, &c] {
        wake_up.send().unwrap();
    }
    failing_turn(&lp);
    assert_eq!(trace.take(), ["a", "b"]);
    // It does not wait, since something is due.
    assert_eq!(lp.run(Mode::Once), Ok(true));
    assert_eq!(trace.take(), ["c"]);
    b.send().unwrap();
    assert_eq!(lp.run(Mode::Once), Ok(true));
    assert_eq!(trace.take(), ["b"]);
}

#[test]
fn the_other_handles_to_be_closed_are_told_by_the_next_run() {
    let (lp, trace) = (new_loop(), Trace::new());
    let handles = [(); 3].map(|()| Timer::new(&lp).unwrap());
    closes(&handles[0], &trace, "a");
    handles[1].close_then(|_| panic!("in a callback")).unwrap();
    closes(&handles[2], &trace, "c");
    failing_turn(&lp);
    assert_eq!(trace.take(), ["c"]);
    run(&lp);
    assert_eq!(trace.take(), ["a"]);
    assert_eq!(lp.handles().len(), 1);
}

#[test]
fn between_the_panic_and_the_next_run_the_loop_knows_what_is_still_due() {
    let lp = Loop::new().unwrap();
    guard(&lp);
    let timers = [(); 2].map(|()| Timer::new(&lp).unwrap());
    timers[0].start(Duration::ZERO, |_| panic!("in a callback")).unwrap();
    timers[1].start(Duration::ZERO, |_| {}).unwrap();
    failing_turn(&lp);
    assert!(timers[1].is_active());
    assert!(lp.is_alive(), "a timer is due");
    run(&lp);

    for timer in &timers {
        timer.close_then(|_| panic!("in a callback")).unwrap();
    }
    failing_turn(&lp);
    assert!(lp.is_alive(), "a handle is to be closed");
    failing_turn(&lp);
    assert!(!lp.is_alive());
}

#[test]
fn a_stop_between_the_panic_and_the_next_run_ends_that_run_at_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    Idle::new(&lp).unwrap().start(panics_once(&trace, "idle")).unwrap();
    failing_turn(&lp);
    lp.stop();
    assert_eq!(lp.run(Mode::NoWait), Ok(true));
    assert_eq!(trace.take(), ["idle"]);
    turn(&lp);
    assert_eq!(trace.take(), ["idle"]);
}

#[test]
fn a_loop_can_be_dropped_after_a_panic() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timers = [(); 2].map(|()| Timer::new(&lp).unwrap());
    timers[0].start(Duration::ZERO, |_| panic!("in a callback")).unwrap();
    timers[1].start(Duration::ZERO, trace.adds("b")).unwrap();
    failing_turn(&lp);
    drop(lp);
    assert_eq!(timers[1].stop(), Err(Errno::EINVAL));
    assert_eq!(trace.len(), 0);
}

#[test]
fn panic_after_panic_everything_is_called_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    for nth in 0..20 {
        let line = trace.clone();
        let timer = Timer::new(&lp).unwrap();
        timer
            .start(Duration::ZERO, move |timer| {
                line.add(nth.to_string());
                let line = line.clone();
                timer
                    .close_then(move |_| {
                        line.add(format!("closed {nth}"));
                        panic!("in a callback");
                    })
                    .unwrap();
                panic!("in a callback");
            })
            .unwrap();
    }
    while lp.handles().len() > 1 {
        failing_turn(&lp);
    }
    run(&lp);
    let mut expected: Vec<_> = (0..20).flat_map(|nth| [nth.to_string(), format!("closed {nth}")]).collect();
    let mut lines = trace.take();
    expected.sort();
    lines.sort();
    assert_eq!(lines, expected);
}
