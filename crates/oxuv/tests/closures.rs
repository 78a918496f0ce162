//! Closures that are given while others run: each handle calls the one that it was given last, and no other is lost.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use common::{HOUR, Trace, failing_turn, new_loop, run, turn};
use oxuv::{Idle, Timer, Udp};

/// Adds a line when it is dropped.
struct Owned(Trace, &'static str);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.add(self.1);
    }
}

#[test]
fn a_closure_that_gives_its_handle_others_ends_first_and_the_last_of_them_stays() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let (owned, its) = (Owned(trace.clone(), "first is dropped"), trace.clone());
    timer
        .start(Duration::ZERO, move |timer| {
            let second = Owned(its.clone(), "second is dropped");
            timer.start(Duration::ZERO, move |_| second.0.add("second")).unwrap();
            timer.start(Duration::ZERO, its.adds("third")).unwrap();
            // What this closure owns is there to its end.
            owned.0.add("first");
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["first", "first is dropped", "second is dropped", "third"]);
}

#[test]
fn handles_made_in_a_callback_have_their_closures_however_many_they_are() {
    const COUNT: u32 = 1000;
    let (lp, calls) = (new_loop(), Rc::new(Cell::new(0)));
    let count = Rc::clone(&calls);
    Idle::new(&lp)
        .unwrap()
        .start(move |idle| {
            for _ in 0..COUNT {
                let calls = Rc::clone(&count);
                let timer = Timer::new(idle.owner()).unwrap();
                timer.start(HOUR, |_| panic!("it has another closure by now")).unwrap();
                let call = move |timer: &Timer| {
                    calls.set(calls.get() + 1);
                    timer.close().unwrap();
                };
                timer.start(Duration::ZERO, call).unwrap();
            }
            idle.close().unwrap();
        })
        .unwrap();
    run(&lp);
    assert_eq!(calls.get(), COUNT);
}

#[test]
fn what_a_closure_has_given_handles_before_it_panics_is_theirs() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let its = trace.clone();
    timer
        .start(Duration::ZERO, move |timer| {
            timer.start(Duration::ZERO, its.adds("second")).unwrap();
            for _ in 0..100 {
                Timer::new(timer.owner()).unwrap().start(Duration::ZERO, its.adds("new")).unwrap();
            }
            panic!("in a callback");
        })
        .unwrap();
    failing_turn(&lp);
    turn(&lp);
    let told = trace.take();
    assert_eq!(told.len(), 101);
    assert_eq!(told[0], "second");
}

#[test]
fn the_next_datagram_of_those_received_at_a_time_is_for_the_closure_given_last() {
    let (lp, trace) = (new_loop(), Trace::new());
    let udp = Udp::receiving_several(&lp).unwrap();
    udp.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let (address, its) = (udp.local_addr().unwrap(), trace.clone());
    udp.receive_start(move |udp, _| {
        its.add("first");
        let its = its.clone();
        udp.receive_stop().unwrap();
        udp.receive_start(move |_, _| its.add("second")).unwrap();
    })
    .unwrap();
    for _ in 0..3 {
        udp.try_send(b"x", address).unwrap();
    }
    turn(&lp);
    assert_eq!(trace.take(), ["first", "second", "second"]);
}

#[test]
fn what_a_closure_owns_may_give_handles_closures_when_it_is_dropped() {
    struct Starts(Timer, Trace);
    impl Drop for Starts {
        fn drop(&mut self) {
            self.0.start(Duration::ZERO, self.1.adds("started by a drop")).unwrap();
        }
    }
    let (lp, trace) = (new_loop(), Trace::new());
    let (timer, other) = (Timer::new(&lp).unwrap(), Timer::new(&lp).unwrap());
    let owned = Starts(other, trace.clone());
    timer
        .start(Duration::ZERO, move |timer| {
            let _keeps = &owned;
            timer.start(Duration::ZERO, |timer| timer.close().unwrap()).unwrap();
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["started by a drop"]);
}
