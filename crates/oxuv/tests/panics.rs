//! A panic in a callback leaves the run. The next one calls what was due and not called yet, once.

mod common;

use std::io::{Read, Write};
use std::time::Duration;

use common::{HOUR, Trace, bound, connect, fill, guard, local_pair, new_loop, panic_of, run, run_until, turn};
use oxuv::{Async, Check, Errno, Handle, Idle, Loop, Mode, Prepare, Tcp, Timer};

/// Runs one turn in which a callback must panic.
fn failing_turn(lp: &Loop) {
    assert_eq!(panic_of(|| lp.run(Mode::NoWait)), "in a callback");
}

/// A callback that adds a line, and panics the first time.
fn panics_once<H>(trace: &Trace, line: &'static str) -> impl FnMut(&H) + use<H> {
    let (trace, mut calls) = (trace.clone(), 0);
    move |_| {
        trace.add(line);
        calls += 1;
        assert!(calls > 1, "in a callback");
    }
}

fn closes(handle: &Handle, trace: &Trace, line: &'static str) {
    handle.close_then(trace_once(trace, line)).unwrap();
}

fn trace_once(trace: &Trace, line: &'static str) -> impl FnOnce(&Handle) + use<> {
    let trace = trace.clone();
    move |_| trace.add(line)
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
fn a_wake_up_of_the_same_batch_is_not_lost_with_a_read_that_panics() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    let mut reads = 0;
    tcp.read_start(move |_, _| {
        reads += 1;
        assert!(reads > 1, "in a callback");
    })
    .unwrap();
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    turn(&lp);
    // The connection is ready first.
    peer.write_all(b"x").unwrap();
    wake_up.send().unwrap();
    failing_turn(&lp);
    for _ in 0..3 {
        turn(&lp);
    }
    assert_eq!(trace.take(), ["async"]);
    wake_up.send().unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["async"]);
}

#[test]
fn a_connection_announced_to_a_callback_that_panics_can_still_be_taken() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let (line, mut calls) = (trace.clone(), 0);
    server
        .listen(16, move |server, connection| {
            connection.unwrap();
            calls += 1;
            line.add(format!("connection {calls}"));
            assert!(calls > 1, "in a callback");
            server.accept().unwrap().close().unwrap();
        })
        .unwrap();
    let mut peers = [connect(address), connect(address)];
    assert_eq!(panic_of(|| run_until(&lp, || false)), "in a callback");
    turn(&lp);
    server.accept().unwrap().close().unwrap();
    run_until(&lp, || trace.len() == 2);
    assert_eq!(trace.take(), ["connection 1", "connection 2"]);
    for peer in &mut peers {
        assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn after_a_panic_in_a_read_reading_goes_on() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    let (line, mut reads) = (trace.clone(), 0);
    tcp.read_start(move |_, read| {
        reads += 1;
        line.add(format!("{:?}", read.map(<[u8]>::len)));
        assert!(reads > 1, "in a callback");
    })
    .unwrap();
    peer.write_all(&[7; 70_000]).unwrap();
    failing_turn(&lp);
    turn(&lp);
    peer.write_all(b"x").unwrap();
    drop(peer);
    run(&lp);
    assert_eq!(trace.take(), ["Ok(65536)", "Ok(4464)", "Ok(1)", "Err(EOF)"]);
}

#[test]
fn after_a_panic_at_a_failed_read_it_is_not_told_again_and_reading_is_stopped() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = common::pair(&lp);
    let line = trace.clone();
    tcp.read_start(move |_, read| {
        line.add(format!("{read:?}"));
        panic!("in a callback");
    })
    .unwrap();
    common::reset(&tcp, peer);
    failing_turn(&lp);
    run(&lp);
    assert_eq!(trace.take(), ["Err(ECONNRESET)"]);
    assert!(!tcp.is_active() && !tcp.is_readable());
}

#[test]
fn the_other_writes_and_the_shutdown_are_told_by_the_next_run() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    tcp.write("one", trace.tells("one")).unwrap();
    tcp.write("two", |_, _| panic!("in a callback")).unwrap();
    tcp.write("three", trace.tells("three")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    failing_turn(&lp);
    assert_eq!(trace.take(), ["one ok"]);
    run(&lp);
    assert_eq!(trace.take(), ["three ok", "shutdown ok"]);
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "onetwothree");
}

#[test]
fn writes_sent_in_poll_are_told_by_the_next_run_if_the_first_panics() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    let filled = fill(&tcp);
    tcp.write("one", |_, _| panic!("in a callback")).unwrap();
    for _ in 0..40 {
        tcp.write("x", trace.tells("write")).unwrap();
    }
    peer.read_exact(&mut vec![0; filled]).unwrap();
    failing_turn(&lp);
    assert_eq!(trace.len(), 0);
    run(&lp);
    assert_eq!(trace.take(), ["write ok"; 40]);
}

#[test]
fn a_shutdown_whose_callback_panics_is_done() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    let (other, _other_peer) = local_pair(&lp);
    tcp.shutdown(|_, _| panic!("in a callback")).unwrap();
    other.write("x", trace.tells("other")).unwrap();
    failing_turn(&lp);
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    run(&lp);
    // The other connection's turn in pending comes, too.
    assert_eq!(trace.take(), ["other ok"]);
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
fn a_panic_in_a_canceled_write_leaves_the_rest_of_its_handle_to_the_next_run() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    fill(&tcp);
    tcp.write("one", |_, _| panic!("in a callback")).unwrap();
    tcp.write("two", trace.tells("two")).unwrap();
    tcp.shutdown(|_, _| panic!("in a callback")).unwrap();
    closes(&tcp, &trace, "closed");
    failing_turn(&lp);
    assert_eq!(trace.take(), [""; 0]);
    failing_turn(&lp);
    assert_eq!(trace.take(), ["two ECANCELED"]);
    run(&lp);
    assert_eq!(trace.take(), ["closed"]);
}

#[test]
fn handles_closed_in_a_callback_that_panics_are_closed() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    let line = trace.clone();
    tcp.read_start(move |tcp: &Tcp, _| {
        closes(tcp, &line, "closed");
        panic!("in a callback");
    })
    .unwrap();
    peer.write_all(b"x").unwrap();
    failing_turn(&lp);
    assert_eq!(peer.read(&mut [0]).unwrap_or(0), 0);
    run(&lp);
    assert_eq!(trace.take(), ["closed"]);
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
