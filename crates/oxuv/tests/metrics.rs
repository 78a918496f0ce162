//! What a loop counts of itself.

mod common;

use std::cell::RefCell;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use common::{ms, new_loop};
use oxuv::{Idle, Loop, Metrics, Mode, Poll, Readiness, Timer};

/// A loop with a poll handle on one end of a pair that reads what comes, and the other end.
fn reader(lp: &Loop) -> UnixStream {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let poll = Poll::new(lp, &ours).unwrap();
    let read = move |_: &Poll, _| assert!(ours.read(&mut [0; 64]).unwrap() > 0);
    poll.start(Readiness::READ, read).unwrap();
    theirs
}

#[test]
fn a_new_loop_has_counted_nothing() {
    let lp = new_loop();
    assert_eq!(lp.metrics(), Metrics::default());
    assert_eq!(lp.idle_time(), Duration::ZERO);
}

#[test]
fn turns_are_counted_in_every_mode_and_only_when_something_is_alive() {
    let lp = new_loop();
    lp.run(Mode::NoWait).unwrap();
    assert_eq!(lp.metrics().turns, 0);
    let mut left = 5;
    let idle = Idle::new(&lp).unwrap();
    idle.start(move |idle| {
        left -= 1;
        if left == 0 {
            idle.close().unwrap();
        }
    })
    .unwrap();
    lp.run(Mode::NoWait).unwrap();
    lp.run(Mode::Once).unwrap();
    assert_eq!(lp.metrics().turns, 2);
    lp.run(Mode::Default).unwrap();
    assert_eq!((lp.metrics().turns, lp.turns()), (5, 5));
}

#[test]
fn each_event_of_the_kernel_is_counted_and_a_timer_is_none() {
    let lp = new_loop();
    let mut peers = [reader(&lp), reader(&lp)];
    Timer::new(&lp).unwrap().start(ms(1), |_| {}).unwrap();
    lp.run(Mode::Once).unwrap();
    assert_eq!(lp.metrics().events, 0);
    for peer in &mut peers {
        peer.write_all(b"!").unwrap();
    }
    lp.run(Mode::Once).unwrap();
    peers[0].write_all(b"!").unwrap();
    lp.run(Mode::Once).unwrap();
    assert_eq!(lp.metrics(), Metrics { turns: 3, events: 3, events_waiting: 0 });
}

#[test]
fn events_that_wait_are_told_from_those_that_are_waited_for() {
    let lp = new_loop();
    lp.measure_idle_time();
    let mut peer = reader(&lp);
    peer.write_all(b"!").unwrap();
    lp.run(Mode::Once).unwrap();
    assert_eq!((lp.metrics().events, lp.metrics().events_waiting), (1, 1));
    let sender = thread::spawn(move || {
        thread::sleep(ms(20));
        peer.write_all(b"!").unwrap();
        peer
    });
    lp.run(Mode::Once).unwrap();
    assert_eq!((lp.metrics().events, lp.metrics().events_waiting), (2, 1));
    drop(sender.join().unwrap());
}

#[test]
fn who_asks_for_the_idle_clock_alone_has_no_look_before_each_wait() {
    let lp = new_loop();
    let clock = lp.idle_clock().unwrap();
    let mut peer = reader(&lp);
    for _ in 0..3 {
        peer.write_all(b"!").unwrap();
        lp.run(Mode::Once).unwrap();
    }
    assert_eq!(lp.metrics(), Metrics { turns: 3, events: 3, events_waiting: 0 });
    assert!(clock.idle_time() > Duration::ZERO);
}

#[test]
fn the_idle_time_is_the_time_waited_and_not_the_time_worked() {
    let lp = new_loop();
    lp.measure_idle_time();
    let worked = Rc::new(RefCell::new(Duration::ZERO));
    let total = Rc::clone(&worked);
    let timer = Timer::new(&lp).unwrap();
    timer
        .start(ms(40), move |_| {
            let start = Instant::now();
            thread::sleep(ms(30));
            *total.borrow_mut() += start.elapsed();
        })
        .unwrap();
    let start = Instant::now();
    lp.run(Mode::Default).unwrap();
    let all = start.elapsed();
    assert!(lp.idle_time() >= ms(39), "{:?}", lp.idle_time());
    assert!(lp.idle_time() <= all - *worked.borrow(), "{:?} of {all:?}", lp.idle_time());
}

#[test]
fn without_being_asked_the_loop_does_not_measure() {
    let lp = new_loop();
    Timer::new(&lp).unwrap().start(ms(5), |_| {}).unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!(lp.idle_time(), Duration::ZERO);
}
