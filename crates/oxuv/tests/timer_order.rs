//! Several timers: which comes first, and what they may do to each other.

mod common;

use std::time::Duration;

use common::{HOUR, Trace, ms, new_loop, run, spend, turn};
use oxuv::{Loop, LoopRef, Prepare, Timer};

const ZERO: Duration = Duration::ZERO;

fn timers<const N: usize>(lp: &LoopRef) -> [Timer; N] {
    std::array::from_fn(|_| Timer::new(lp).unwrap())
}

/// A line for each turn.
fn mark_turns(lp: &LoopRef, trace: &Trace) {
    let prepare = Prepare::new(lp).unwrap();
    prepare.start(trace.adds("turn")).unwrap();
    prepare.unref().unwrap();
}

#[test]
fn the_one_due_first_comes_first() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b, c] = timers(&lp);
    a.start(Duration::from_micros(3), trace.adds("a")).unwrap();
    b.start(Duration::from_micros(1), trace.adds("b")).unwrap();
    c.start(Duration::from_micros(2), trace.adds("c")).unwrap();
    spend(ms(1));
    run(&lp);
    assert_eq!(trace.take(), ["b", "c", "a"]);
}

#[test]
fn of_those_due_at_the_same_time_the_one_started_first_comes_first() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b, c, d] = timers(&lp);
    for (timer, name) in [(&c, "c"), (&a, "a"), (&d, "d"), (&b, "b")] {
        timer.start(ms(1), trace.adds(name)).unwrap();
    }
    run(&lp);
    assert_eq!(trace.take(), ["c", "a", "d", "b"]);
}

#[test]
fn started_again_a_timer_comes_after_those_due_at_the_same_time() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b, c] = timers(&lp);
    a.start(ms(1), trace.adds("a")).unwrap();
    b.start(ms(1), trace.adds("b")).unwrap();
    c.start(ms(1), trace.adds("c")).unwrap();
    a.start(ms(1), trace.adds("a")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["b", "c", "a"]);
}

#[test]
fn thousands_of_timers_come_in_their_order() {
    let (lp, trace) = (new_loop(), Trace::new());
    let mut expected = Vec::new();
    let mut state = 7_u32;
    for nth in 0..3000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let due = state >> 26;
        let timer = Timer::new(&lp).unwrap();
        timer.start(Duration::from_nanos(due.into()), trace.adds(&format!("{due} {nth}"))).unwrap();
        if nth % 3 == 1 {
            timer.stop().unwrap();
        } else {
            expected.push((due, nth));
        }
    }
    expected.sort();
    run(&lp);
    assert_eq!(trace.take(), expected.iter().map(|(due, nth)| format!("{due} {nth}")).collect::<Vec<_>>());
}

#[test]
fn a_timer_started_in_a_callback_waits_for_the_next_turn_even_if_it_is_due() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let [a, b, c] = timers(&lp);
    let line = trace.clone();
    a.start(ZERO, move |_| {
        line.add("a");
        c.start(ZERO, line.adds("c")).unwrap();
    })
    .unwrap();
    b.start(ZERO, trace.adds("b")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["a", "b", "turn", "c"]);
}

#[test]
fn a_timer_of_the_pass_can_be_stopped_before_its_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b, c] = timers(&lp);
    let (line, other) = (trace.clone(), b.clone());
    a.start(ZERO, move |_| {
        line.add("a");
        other.stop().unwrap();
    })
    .unwrap();
    b.start(ZERO, trace.adds("b")).unwrap();
    c.start(ZERO, trace.adds("c")).unwrap();
    run(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["a", "c"]);
}

#[test]
fn a_repeating_timer_of_the_pass_can_be_stopped_before_its_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b] = timers(&lp);
    let other = b.clone();
    a.start(ZERO, move |_| other.stop().unwrap()).unwrap();
    b.start_repeating(ZERO, ms(1), trace.adds("b")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), [""; 0]);
    assert!(!b.is_active());
}

#[test]
fn a_timer_of_the_pass_can_be_closed_before_its_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b, c] = timers(&lp);
    let (line, other) = (trace.clone(), b.clone());
    a.start(ZERO, move |_| {
        let line = line.clone();
        other.close_then(move |_| line.add("b closed")).unwrap();
    })
    .unwrap();
    b.start(ZERO, trace.adds("b")).unwrap();
    c.start(ZERO, trace.adds("c")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["c", "b closed"]);
}

#[test]
fn a_timer_of_the_pass_started_anew_before_its_turn_waits_for_the_next() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let [a, b, c] = timers(&lp);
    let (line, other) = (trace.clone(), b.clone());
    a.start(ZERO, move |_| other.start(ZERO, line.adds("b anew")).unwrap()).unwrap();
    b.start(ZERO, trace.adds("b")).unwrap();
    c.start(ZERO, trace.adds("c")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["c", "turn", "b anew"]);
}

#[test]
fn again_on_a_timer_of_the_pass_moves_it_to_its_repeat() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b] = timers(&lp);
    let (line, other) = (trace.clone(), b.clone());
    a.start(ZERO, move |_| {
        other.again().unwrap();
        line.add(format!("due in {:?}", other.due_in().unwrap()));
    })
    .unwrap();
    b.start_repeating(ZERO, HOUR, trace.adds("b")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), [format!("due in {HOUR:?}")]);
    assert!(b.is_active());
}

#[test]
fn again_does_nothing_to_a_one_shot_timer_of_the_pass() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b] = timers(&lp);
    let other = b.clone();
    a.start(ZERO, move |_| other.again().unwrap()).unwrap();
    b.start(ZERO, trace.adds("b")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["b"]);
}

#[test]
fn a_repeating_timer_is_started_anew_before_its_callback_and_so_comes_before_what_that_starts() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b] = timers(&lp);
    let line = trace.clone();
    let mut calls = 0;
    a.start_repeating(ZERO, ms(1), move |timer| {
        calls += 1;
        line.add(format!("a{calls}"));
        if calls == 1 {
            b.start(ms(1), line.adds("b")).unwrap();
        } else {
            timer.stop().unwrap();
        }
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["a1", "a2", "b"]);
}

#[test]
fn a_repeating_timer_comes_after_those_that_were_started_before_its_expiry() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b, c] = timers(&lp);
    let line = trace.clone();
    a.start(ZERO, move |_| c.start(ms(1), line.adds("c")).unwrap()).unwrap();
    let line = trace.clone();
    let mut calls = 0;
    b.start_repeating(ZERO, ms(1), move |timer| {
        calls += 1;
        line.add(format!("b{calls}"));
        if calls == 2 {
            timer.stop().unwrap();
        }
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["b1", "c", "b2"]);
}

/// Starts `a`, and later, but within the same tenth of a second, `b` with less time; returns their order.
fn later_but_shorter(lp: &Loop) -> Vec<String> {
    loop {
        let trace = Trace::new();
        let [a, b] = timers(lp);
        let grain = |lp: &Loop| lp.now().as_millis() / 100;
        let before = grain(lp);
        while grain(lp) == before {
            lp.update_time();
        }
        let began = grain(lp);
        a.start(ms(110), trace.adds("a")).unwrap();
        spend(ms(20));
        lp.update_time();
        b.start(ms(100), trace.adds("b")).unwrap();
        if grain(lp) == began {
            run(lp);
            return trace.take();
        }
        a.close().unwrap();
        b.close().unwrap();
    }
}

#[test]
fn an_exact_loop_counts_from_the_time_of_the_start() {
    assert_eq!(later_but_shorter(&new_loop()), ["a", "b"]);
}

#[test]
fn a_loop_with_a_grain_counts_from_the_time_rounded_down() {
    let lp = Loop::with_grain(ms(100)).unwrap();
    common::guard(&lp);
    assert_eq!(lp.now().as_nanos() % ms(100).as_nanos(), 0);
    assert_eq!(later_but_shorter(&lp), ["b", "a"]);
}

#[test]
fn two_timers_that_start_each_other_take_turns() {
    fn start(one: Timer, other: Timer, trace: Trace, left: u32) {
        let name = if left.is_multiple_of(2) { "even" } else { "odd" };
        one.start(ZERO, {
            let one = one.clone();
            move |_| {
                trace.add(name);
                if left > 0 {
                    start(other.clone(), one.clone(), trace.clone(), left - 1);
                }
            }
        })
        .unwrap();
    }
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let [a, b] = timers(&lp);
    start(a, b, trace.clone(), 3);
    run(&lp);
    assert_eq!(trace.take(), ["odd", "turn", "even", "turn", "odd", "turn", "even"]);
}
