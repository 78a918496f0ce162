//! What a run does in each of its modes, and how long it waits.

mod common;

use std::time::{Duration, Instant};

use common::{HOUR, Trace, guard, local_pair, ms, new_loop, run, spend, turn};
use oxuv::{Async, Check, Idle, Loop, LoopRef, Mode, Prepare, Timer};

const MODES: [Mode; 3] = [Mode::Default, Mode::Once, Mode::NoWait];

/// Prepare and check handles that show where a turn is. They do not keep the loop alive.
fn turn_marks(lp: &LoopRef, trace: &Trace) {
    let (prepare, check) = (Prepare::new(lp).unwrap(), Check::new(lp).unwrap());
    prepare.start(trace.adds("prepare")).unwrap();
    check.start(trace.adds("check")).unwrap();
    prepare.unref().unwrap();
    check.unref().unwrap();
}

#[test]
fn with_nothing_alive_no_phase_runs_in_any_mode() {
    for mode in MODES {
        let (lp, trace) = (Loop::new().unwrap(), Trace::new());
        turn_marks(&lp, &trace);
        let (idle, timer) = (Idle::new(&lp).unwrap(), Timer::new(&lp).unwrap());
        idle.start(trace.adds("idle")).unwrap();
        timer.start(Duration::ZERO, trace.adds("timer")).unwrap();
        idle.unref().unwrap();
        timer.unref().unwrap();
        assert_eq!(lp.run(mode), Ok(false), "{mode:?}");
        assert_eq!((trace.take(), lp.turns()), (vec![], 0), "{mode:?}");
    }
}

#[test]
fn with_nothing_alive_a_run_refreshes_the_time() {
    for mode in MODES {
        let lp = Loop::new().unwrap();
        let before = lp.now();
        spend(ms(1));
        assert_eq!(lp.now(), before);
        assert_eq!(lp.run(mode), Ok(false));
        assert!(lp.now() >= before + ms(1), "{mode:?}");
    }
}

#[test]
fn default_calls_due_timers_before_its_first_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    turn_marks(&lp, &trace);
    let timer = Timer::new(&lp).unwrap();
    timer.start(Duration::ZERO, trace.adds("timer")).unwrap();
    run(&lp);
    // One turn follows, although the timer has left nothing alive.
    assert_eq!(trace.take(), ["timer", "prepare", "check"]);
}

#[test]
fn default_refreshes_the_time_before_its_first_timers() {
    let (lp, trace) = (new_loop(), Trace::new());
    turn_marks(&lp, &trace);
    let timer = Timer::new(&lp).unwrap();
    timer.start(ms(2), trace.adds("timer")).unwrap();
    spend(ms(2));
    run(&lp);
    assert_eq!(trace.take(), ["timer", "prepare", "check"]);
}

#[test]
fn once_and_no_wait_call_due_timers_only_at_the_end_of_their_turn() {
    for mode in [Mode::Once, Mode::NoWait] {
        let (lp, trace) = (new_loop(), Trace::new());
        turn_marks(&lp, &trace);
        let timer = Timer::new(&lp).unwrap();
        timer.start(Duration::ZERO, trace.adds("timer")).unwrap();
        assert_eq!(lp.run(mode), Ok(false));
        assert_eq!(trace.take(), ["prepare", "check", "timer"], "{mode:?}");
    }
}

#[test]
fn once_reckons_its_wait_from_the_time_cached_before() {
    let lp = new_loop();
    let timer = Timer::new(&lp).unwrap();
    timer.start(ms(20), |_| {}).unwrap();
    // The loop does not know that this time is gone.
    spend(ms(20));
    let start = Instant::now();
    assert_eq!(lp.run(Mode::Once), Ok(false));
    assert!(start.elapsed() >= ms(20));
}

#[test]
fn once_waits_for_one_event_and_does_one_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    turn_marks(&lp, &trace);
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    let sender = wake_up.sender().unwrap();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(ms(10));
        sender.send().unwrap();
    });
    assert_eq!(lp.run(Mode::Once), Ok(true));
    thread.join().unwrap();
    assert_eq!((trace.take(), lp.turns()), (["prepare", "async", "check"].map(String::from).to_vec(), 1));
}

#[test]
fn once_waits_for_a_timer_and_calls_it_in_the_same_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start(ms(10), trace.adds("timer")).unwrap();
    let start = Instant::now();
    assert_eq!(lp.run(Mode::Once), Ok(false));
    assert!(start.elapsed() >= ms(10));
    assert_eq!((trace.take(), lp.turns()), (vec!["timer".to_string()], 1));
}

#[test]
fn no_wait_never_waits() {
    let (lp, trace) = (new_loop(), Trace::new());
    turn_marks(&lp, &trace);
    Timer::new(&lp).unwrap().start(HOUR, trace.adds("timer")).unwrap();
    assert_eq!(lp.run(Mode::NoWait), Ok(true));
    assert_eq!(lp.run(Mode::NoWait), Ok(true));
    assert_eq!((trace.take().join(" "), lp.turns()), ("prepare check prepare check".into(), 2));
}

#[test]
fn once_does_not_wait_if_an_idle_was_active_as_the_turn_began() {
    let lp = new_loop();
    Timer::new(&lp).unwrap().start(HOUR, |_| {}).unwrap();
    let idle = Idle::new(&lp).unwrap();
    idle.start(|idle| idle.stop().unwrap()).unwrap();
    assert_eq!(lp.run(Mode::Once), Ok(true));
    assert_eq!(lp.turns(), 1);
}

#[test]
fn once_does_not_wait_if_prepare_starts_an_idle() {
    let lp = new_loop();
    Timer::new(&lp).unwrap().start(HOUR, |_| {}).unwrap();
    let (prepare, idle) = (Prepare::new(&lp).unwrap(), Idle::new(&lp).unwrap());
    prepare.start(move |_| idle.start(|_| {}).unwrap()).unwrap();
    assert_eq!(lp.run(Mode::Once), Ok(true));
}

#[test]
fn default_judges_after_prepare_whether_to_wait() {
    let (lp, trace) = (new_loop(), Trace::new());
    turn_marks(&lp, &trace);
    Timer::new(&lp).unwrap().start(ms(20), trace.adds("timer")).unwrap();
    let idle = Idle::new(&lp).unwrap();
    idle.start(|idle| idle.stop().unwrap()).unwrap();
    run(&lp);
    // With the idle stopped, the first turn waits for the timer.
    assert_eq!(trace.take(), ["prepare", "check", "timer"]);
}

#[test]
fn a_turn_goes_through_its_phases_in_their_order() {
    let (lp, trace) = (new_loop(), Trace::new());
    turn_marks(&lp, &trace);
    Idle::new(&lp).unwrap().start(trace.adds("idle")).unwrap();
    Timer::new(&lp).unwrap().start(Duration::ZERO, trace.adds("timer")).unwrap();
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    wake_up.send().unwrap();
    let closed = Timer::new(&lp).unwrap();
    let line = trace.clone();
    closed.close_then(move |_| line.add("closed")).unwrap();
    let (tcp, _peer) = local_pair(&lp);
    tcp.write("bytes", trace.tells("write")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["write ok", "idle", "prepare", "async", "check", "closed", "timer"]);
}

#[test]
fn a_write_made_in_poll_is_reported_before_check() {
    let (lp, trace) = (new_loop(), Trace::new());
    turn_marks(&lp, &trace);
    let (tcp, _peer) = local_pair(&lp);
    let line = trace.clone();
    let wake_up = Async::new(&lp, move |_| {
        line.add("async");
        tcp.write("bytes", line.tells("write")).unwrap();
    });
    wake_up.unwrap().send().unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["prepare", "async", "write ok", "check"]);
}

#[test]
fn pending_has_one_round_before_idle_and_eight_after_poll() {
    fn write_again(tcp: &oxuv::Tcp, trace: Trace) {
        let next = trace.clone();
        tcp.write("x", move |tcp, _| {
            next.add("write");
            write_again(tcp, next.clone());
        })
        .unwrap();
    }
    let (lp, trace) = (new_loop(), Trace::new());
    turn_marks(&lp, &trace);
    let (tcp, _peer) = local_pair(&lp);
    write_again(&tcp, trace.clone());
    turn(&lp);
    let expected = [&["write", "prepare"][..], &["write"; 8], &["check"]].concat();
    assert_eq!(trace.take(), expected);
    turn(&lp);
    assert_eq!(trace.take(), expected);
}

#[test]
fn unreferenced_idles_and_timers_shorten_the_wait_of_what_is_referenced() {
    let lp = Loop::new().unwrap();
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO));
    let wake_up = Async::new(&lp, |_| {}).unwrap();
    assert_eq!(lp.backend_timeout(), None);

    let timer = Timer::new(&lp).unwrap();
    timer.start(HOUR, |_| {}).unwrap();
    timer.unref().unwrap();
    assert_eq!(lp.backend_timeout(), Some(HOUR));

    let idle = Idle::new(&lp).unwrap();
    idle.start(|_| {}).unwrap();
    idle.unref().unwrap();
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO));

    idle.stop().unwrap();
    assert_eq!(lp.backend_timeout(), Some(HOUR));
    wake_up.unref().unwrap();
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO));
}

#[test]
fn the_backend_timeout_is_zero_when_stopping_closing_pending_or_while_interest_is_not_synced() {
    let lp = Loop::new().unwrap();
    let _wake_up = Async::new(&lp, |_| {}).unwrap();
    let closed = Timer::new(&lp).unwrap();
    let (tcp, _peer) = local_pair(&lp);
    assert_eq!(lp.backend_timeout(), None);

    lp.stop();
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO));
    turn(&lp);
    assert_eq!(lp.backend_timeout(), None);

    closed.close().unwrap();
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO));
    turn(&lp);
    assert_eq!(lp.backend_timeout(), None);

    tcp.write("x", |_, _| {}).unwrap();
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO));
    turn(&lp);
    assert_eq!(lp.backend_timeout(), None);

    tcp.read_start(|_, _| {}).unwrap();
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO));
    turn(&lp);
    assert_eq!(lp.backend_timeout(), None);
}

#[test]
fn the_longest_wait_is_that_of_31_bits_of_milliseconds() {
    let lp = Loop::new().unwrap();
    Timer::new(&lp).unwrap().start(Duration::MAX, |_| {}).unwrap();
    assert_eq!(lp.backend_timeout(), Some(ms(i32::MAX as u64)));
}

#[test]
fn the_time_is_refreshed_after_waiting() {
    let lp = Loop::new().unwrap();
    guard(&lp);
    let wake_up = Async::new(&lp, |_| {}).unwrap();
    wake_up.send().unwrap();
    let before = lp.now();
    spend(ms(1));
    Check::new(&lp).unwrap().start(move |check| assert!(check.owner().now() >= before + ms(1))).unwrap();
    turn(&lp);
    assert_eq!(lp.turns(), 1);
}

#[test]
fn a_loop_with_nothing_but_a_far_timer_sleeps() {
    let lp = new_loop();
    let timer = Timer::new(&lp).unwrap();
    timer.start_repeating(ms(100), ms(100), |timer| timer.close().unwrap()).unwrap();
    run(&lp);
    // The timer's turn, and the one in which it is closed.
    assert_eq!(lp.turns(), 2);
}
