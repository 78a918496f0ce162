//! The life of a loop: dropping it, what is left of its handles, and several loops.

mod common;

use std::io::Read;
use std::rc::Rc;
use std::time::Duration;

use common::{HOUR, Trace, bound, connect, fill, in_child, local_pair, new_loop, open_descriptors, outcome, pair};
use common::{guard, run, run_until, turn};
use oxuv::{Async, Check, Errno, Handle, Idle, Kind, Loop, LoopRef, Mode, Prepare, Result, Tcp, Timer};

/// Counts, and may act, when it is dropped.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> OnDrop<F> {
    /// Makes a closure own it.
    fn touch(&self) {}
}

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Gives every kind of closure a copy of this value to own, none of which may be called.
fn fill_with_closures<T: Clone + 'static>(lp: &Loop, owned: &T) -> Vec<Box<dyn std::any::Any>> {
    fn owns<H, T: Clone + 'static>(owned: &T) -> impl FnMut(&H) + use<H, T> {
        let owned = owned.clone();
        move |_| {
            let _ = &owned;
            panic!("nobody is called")
        }
    }
    fn done<T: Clone + 'static>(owned: &T) -> impl FnOnce(&Tcp, Result<()>) + use<T> {
        let owned = owned.clone();
        move |_, _| {
            drop(owned);
            panic!("nobody is called")
        }
    }
    Timer::new(lp).unwrap().start(HOUR, owns(owned)).unwrap();
    Idle::new(lp).unwrap().start(owns(owned)).unwrap();
    Prepare::new(lp).unwrap().start(owns(owned)).unwrap();
    Check::new(lp).unwrap().start(owns(owned)).unwrap();
    Async::new(lp, owns(owned)).unwrap().send().unwrap();
    let mut call = owns::<Handle, T>(owned);
    Timer::new(lp).unwrap().close_then(move |handle| call(handle)).unwrap();

    let (server, address) = bound(lp);
    let mut call = owns::<Handle, T>(owned);
    server.listen(8, move |server, _| call(server)).unwrap();
    let (tcp, peer) = local_pair(lp);
    let mut call = owns::<Handle, T>(owned);
    tcp.read_start(move |tcp, _| call(tcp)).unwrap();
    tcp.write("sent", done(owned)).unwrap();
    fill(&tcp);
    tcp.write("queued", done(owned)).unwrap();
    tcp.shutdown(done(owned)).unwrap();
    vec![Box::new(connect(address)), Box::new(peer)]
}

/// The closures that `fill_with_closures` makes.
const CLOSURES: usize = 11;

#[test]
fn dropping_a_loop_calls_nobody_and_drops_all_closures() {
    let lp = Loop::new().unwrap();
    let owned = Rc::new(());
    let _peers = fill_with_closures(&lp, &owned);
    assert_eq!(Rc::strong_count(&owned), 1 + CLOSURES);
    drop(lp);
    assert_eq!(Rc::strong_count(&owned), 1);
}

#[test]
fn closures_that_own_handles_and_references_to_the_loop_are_dropped_with_it() {
    let lp = Loop::new().unwrap();
    let owned = Rc::new(());
    let (tcp, _peer) = pair(&lp);
    // A cycle: each closure owns handles, and these refer to the loop that owns the closures.
    let value = (Rc::clone(&owned), (*lp).clone(), tcp.clone(), Timer::new(&lp).unwrap());
    let _peers = fill_with_closures(&lp, &value);
    drop((value, tcp));
    drop(lp);
    assert_eq!(Rc::strong_count(&owned), 1);
}

#[test]
fn closures_may_call_the_loop_when_they_are_dropped_with_it() {
    let (lp, trace) = (Loop::new().unwrap(), Trace::new());
    let (owner, timer, line) = ((*lp).clone(), Timer::new(&lp).unwrap(), trace.clone());
    let (tcp, _peer) = pair(&lp);
    let value = Rc::new(OnDrop(move || {
        line.add(outcome("start", timer.start(Duration::ZERO, |_| {})));
        line.add(outcome("close", timer.close()));
        line.add(outcome("new", Timer::new(&owner).map(drop)));
        line.add(outcome("write", tcp.write("x", |_, _| {})));
        line.add(outcome("shutdown", tcp.shutdown(|_, _| {})));
        line.add(format!("{:?}", owner.handles().len()));
        owner.stop();
    }));
    let _peers = fill_with_closures(&lp, &value);
    drop(value);
    drop(lp);
    assert_eq!(trace.take(), ["start EINVAL", "close EINVAL", "new EINVAL", "write EINVAL", "shutdown EINVAL", "0"]);
}

#[test]
fn closures_may_call_the_loop_when_they_are_replaced_or_closed() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let (other, line) = (Timer::new(&lp).unwrap(), trace.clone());
    let starts_other = OnDrop(move || other.start(Duration::ZERO, line.adds("other")).unwrap());
    timer.start(HOUR, move |_| starts_other.touch()).unwrap();
    timer.start(HOUR, |_| {}).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["other"]);

    let (owner, line) = ((*lp).clone(), trace.clone());
    let makes_another = OnDrop(move || {
        let new = Timer::new(&owner).unwrap();
        new.start(Duration::ZERO, line.adds("another")).unwrap();
    });
    timer.start(HOUR, move |_| makes_another.touch()).unwrap();
    let line = trace.clone();
    timer.close_then(move |_| line.add("closed")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["closed", "another"]);
}

#[test]
fn dropping_a_loop_closes_its_descriptors() {
    in_child("dropping_a_loop_closes_its_descriptors", 256, || {
        let before = open_descriptors("self");
        for _ in 0..3 {
            let lp = Loop::new().unwrap();
            let peers = fill_with_closures(&lp, &());
            assert!(open_descriptors("self") > before + peers.len());
            drop(lp);
            drop(peers);

            // A connection that was taken from the kernel, and not by the user.
            let lp = new_loop();
            let (server, address) = bound(&lp);
            server.listen(8, |server, _| server.owner().stop()).unwrap();
            let peer = connect(address);
            assert_eq!(lp.run(Mode::Default), Ok(true));
            drop(lp);
            drop(peer);
        }
        assert_eq!(open_descriptors("self"), before);
    });
}

#[test]
fn the_peers_of_a_dropped_loop_read_the_end() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_tcp, mut peer) = pair(&lp);
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server.listen(8, move |_, _| line.add("connection")).unwrap();
    let mut waiting = connect(address);
    run_until(&lp, || trace.len() == 1);
    drop(lp);
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    assert_eq!(waiting.read(&mut [0]).unwrap(), 0);
}

#[test]
fn handles_of_a_loop_that_is_gone_say_einval() {
    let lp = Loop::new().unwrap();
    let (timer, idle, wake_up) = (Timer::new(&lp).unwrap(), Idle::new(&lp).unwrap(), Async::new(&lp, |_| {}).unwrap());
    let (tcp, _peer) = pair(&lp);
    timer.start_repeating(HOUR, HOUR, |_| {}).unwrap();
    drop(lp);
    for handle in [&*timer, &*idle, &*wake_up, &*tcp] {
        assert!((handle.kind(), handle.is_active(), handle.is_closing()) == (Kind::None, false, true));
        assert!(!handle.has_ref());
    }
    let results = [
        timer.start(HOUR, |_| {}),
        timer.stop(),
        timer.again(),
        timer.repeat().map(drop),
        timer.set_repeat(HOUR),
        timer.due_in().map(drop),
        timer.close(),
        timer.close_then(|_| {}),
        timer.r#ref(),
        timer.unref(),
        idle.start(|_| {}),
        idle.stop(),
        wake_up.send(),
        wake_up.sender().map(drop),
        tcp.bind(([127, 0, 0, 1], 0).into()),
        tcp.listen(1, |_, _| {}),
        tcp.accept().map(drop),
        tcp.read_start(|_, _| {}),
        tcp.read_stop(),
        tcp.write("x", |_, _| {}),
        tcp.try_write(b"x").map(drop),
        tcp.shutdown(|_, _| {}),
        tcp.local_addr().map(drop),
        tcp.peer_addr().map(drop),
    ];
    assert_eq!(results, [Err(Errno::EINVAL); 24]);
    assert_eq!(tcp.write_queue_size(), 0);
    assert!(!tcp.is_readable() && !tcp.is_writable());
}

#[test]
fn a_reference_to_a_loop_that_is_gone_says_einval() {
    let lp = Loop::new().unwrap();
    let owner: LoopRef = (*lp).clone();
    let timer = Timer::new(&owner).unwrap();
    drop(lp);
    let held = Rc::new(());
    let owned = Rc::clone(&held);
    assert!(Async::new(&owner, move |_| drop(Rc::clone(&owned))).is_err());
    assert_eq!(Rc::strong_count(&held), 1);
    assert_eq!(Tcp::new(&owner).unwrap_err(), Errno::EINVAL);
    assert_eq!(owner.backend_fd(), Err(Errno::EINVAL));
    assert_eq!((owner.is_alive(), owner.turns(), owner.handles().len()), (false, 0, 0));
    assert_eq!((owner.now(), owner.backend_timeout()), (Duration::ZERO, Some(Duration::ZERO)));
    owner.stop();
    owner.update_time();
    assert!(format!("{timer:?} {owner:?}").contains("None("));
}

#[test]
fn two_loops_on_one_thread_do_not_know_of_each_other() {
    let (one, two, trace) = (new_loop(), new_loop(), Trace::new());
    Timer::new(&one).unwrap().start(Duration::ZERO, trace.adds("one")).unwrap();
    Timer::new(&two).unwrap().start(Duration::ZERO, trace.adds("two")).unwrap();
    one.stop();
    run(&two);
    assert_eq!(trace.take(), ["two"]);
    assert_eq!(one.run(Mode::Default), Ok(true));
    run(&one);
    assert_eq!(trace.take(), ["one"]);
}

#[test]
fn a_loop_can_be_run_in_a_callback_of_another_but_not_the_other_way_round_meanwhile() {
    let (outer, inner, trace) = (Rc::new(new_loop()), new_loop(), Trace::new());
    let (line, again) = (trace.clone(), Rc::downgrade(&outer));
    Timer::new(&inner)
        .unwrap()
        .start(Duration::ZERO, move |_| {
            line.add(outcome("outer in inner", again.upgrade().unwrap().run(Mode::NoWait).map(drop)));
        })
        .unwrap();
    let line = trace.clone();
    Timer::new(&outer)
        .unwrap()
        .start(Duration::ZERO, move |_| {
            line.add("outer begins");
            assert_eq!(inner.run(Mode::Default), Ok(false));
            line.add("outer ends");
        })
        .unwrap();
    run(&outer);
    assert_eq!(trace.take(), ["outer begins", "outer in inner EBUSY", "outer ends"]);
}

#[test]
fn a_loop_dropped_in_a_callback_of_another_takes_its_connections_along() {
    let (lp, trace) = (new_loop(), Trace::new());
    let other = Loop::new().unwrap();
    guard(&other);
    let (theirs, peer) = pair(&other);
    let ours = Tcp::new(&lp).unwrap();
    ours.open(peer).unwrap();
    let line = trace.clone();
    ours.read_start(move |_, read| line.add(format!("{read:?}"))).unwrap();
    let mut other = Some(other);
    Timer::new(&lp).unwrap().start(Duration::ZERO, move |_| drop(other.take())).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["Err(EOF)"]);
    assert!(theirs.is_closing());
}

#[test]
fn handles_of_one_loop_do_nothing_to_those_of_another_at_the_same_place() {
    let (one, two) = (Loop::new().unwrap(), Loop::new().unwrap());
    let (first, second) = (Timer::new(&one).unwrap(), Timer::new(&two).unwrap());
    first.start(HOUR, |_| {}).unwrap();
    assert!(one.is_alive() && !two.is_alive());
    first.close().unwrap();
    assert!(!second.is_closing());
}

#[test]
fn dropping_handles_changes_nothing() {
    let (lp, trace) = (new_loop(), Trace::new());
    drop(Timer::new(&lp).unwrap());
    let timer = Timer::new(&lp).unwrap();
    timer.start(Duration::ZERO, trace.adds("timer")).unwrap();
    drop(timer.clone());
    drop(timer);
    assert_eq!(lp.handles().len(), 3);
    run(&lp);
    assert_eq!(trace.take(), ["timer"]);
}
