//! Closing handles: when, in which order, and what of them is still heard.

mod common;

use std::cell::RefCell;
use std::io::Read;
use std::rc::Rc;
use std::time::Duration;

use common::{HOUR, Trace, fill, guard, in_child, local_pair, new_loop, open_descriptors, pair, run, turn};
use oxuv::{Async, Check, Errno, Handle, Idle, Loop, Prepare, Tcp, Timer};

fn closes(handle: &Handle, trace: &Trace, name: &'static str) {
    let line = trace.clone();
    handle.close_then(move |_| line.add(name)).unwrap();
}

fn mark_turns(lp: &Loop, trace: &Trace) {
    let check = Check::new(lp).unwrap();
    check.start(trace.adds("check")).unwrap();
    check.unref().unwrap();
}

#[test]
fn the_one_closed_last_is_told_first() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (timer, idle, wake_up) = (Timer::new(&lp).unwrap(), Idle::new(&lp).unwrap(), Async::new(&lp, |_| {}).unwrap());
    closes(&idle, &trace, "idle");
    closes(&wake_up, &trace, "async");
    closes(&timer, &trace, "timer");
    run(&lp);
    assert_eq!(trace.take(), ["timer", "async", "idle"]);
}

#[test]
fn the_callback_is_never_called_inside_the_call_but_after_check() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    Prepare::new(&lp).unwrap().start(trace.adds("prepare")).unwrap();
    closes(&Timer::new(&lp).unwrap(), &trace, "closed");
    trace.add("returned");
    turn(&lp);
    assert_eq!(trace.take(), ["returned", "prepare", "check", "closed"]);
}

#[test]
fn the_loop_does_not_wait_while_something_is_to_be_closed() {
    let (lp, trace) = (new_loop(), Trace::new());
    Timer::new(&lp).unwrap().start(HOUR, |_| {}).unwrap();
    closes(&Timer::new(&lp).unwrap(), &trace, "closed");
    assert_eq!(lp.run(oxuv::Mode::Once), Ok(true));
    assert_eq!(trace.take(), ["closed"]);
}

#[test]
fn closed_in_a_close_callback_it_is_told_in_the_next_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let (a, b, c) = (Timer::new(&lp).unwrap(), Timer::new(&lp).unwrap(), Timer::new(&lp).unwrap());
    closes(&b, &trace, "b");
    let line = trace.clone();
    a.close_then(move |_| {
        line.add("a");
        closes(&c, &line, "c");
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["check", "a", "b", "check", "c"]);
}

#[test]
fn a_handle_is_closed_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    closes(&timer, &trace, "closed");
    assert_eq!(timer.close(), Err(Errno::EINVAL));
    assert_eq!(timer.close_then(|_| panic!("it was refused")), Err(Errno::EINVAL));
    run(&lp);
    assert_eq!(timer.close(), Err(Errno::EINVAL));
    assert_eq!(trace.take(), ["closed"]);
}

#[test]
fn in_its_close_callback_a_handle_is_closed_already() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let (line, itself) = (trace.clone(), timer.clone());
    timer
        .close_then(move |handle| {
            assert!(*handle == *itself);
            let closable = handle.owner().handles().len();
            line.add(format!("closing {} active {} left {closable}", handle.is_closing(), handle.is_active()));
            line.add(format!("{:?} {:?}", handle.close(), itself.start(Duration::ZERO, |_| {})));
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["closing true active false left 1", "Err(EINVAL) Err(EINVAL)"]);
}

#[test]
fn in_a_close_callback_a_new_handle_may_take_the_place() {
    let (lp, trace) = (new_loop(), Trace::new());
    let old = Timer::new(&lp).unwrap();
    old.start(Duration::ZERO, trace.adds("old")).unwrap();
    let line = trace.clone();
    old.close_then(move |handle| {
        let new = Timer::new(handle.owner()).unwrap();
        new.start(Duration::ZERO, line.adds("new")).unwrap();
        closes(&Timer::new(handle.owner()).unwrap(), &line, "third");
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["new", "third"]);
    assert!(old.is_closing());
}

#[test]
fn the_requests_are_told_before_the_close_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    tcp.write("sent", trace.tells("one")).unwrap();
    tcp.write("sent", trace.tells("two")).unwrap();
    fill(&tcp);
    tcp.write("queued", trace.tells("three")).unwrap();
    tcp.write("queued", trace.tells("four")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    closes(&tcp, &trace, "closed");
    // Nothing of it inside the call.
    assert_eq!(trace.take(), [""; 0]);
    run(&lp);
    let expected = ["one ok", "two ok", "three ECANCELED", "four ECANCELED", "shutdown ECANCELED", "closed"];
    assert_eq!(trace.take(), expected);
}

#[test]
fn the_requests_of_two_connections_are_told_one_connection_after_the_other() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (one, _one_peer) = local_pair(&lp);
    let (two, _two_peer) = local_pair(&lp);
    for (tcp, write, closed) in [(&one, "write one", "one closed"), (&two, "write two", "two closed")] {
        fill(tcp);
        tcp.write("x", trace.tells(write)).unwrap();
        tcp.write("x", trace.tells(write)).unwrap();
        closes(tcp, &trace, closed);
    }
    run(&lp);
    let expected = [
        "write two ECANCELED",
        "write two ECANCELED",
        "two closed",
        "write one ECANCELED",
        "write one ECANCELED",
        "one closed",
    ];
    assert_eq!(trace.take(), expected);
}

#[test]
fn the_queue_size_stays_until_the_canceled_writes_are_told() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    fill(&tcp);
    for _ in 0..2 {
        let line = trace.clone();
        tcp.write("four", move |tcp, _| line.add(tcp.write_queue_size().to_string())).unwrap();
    }
    tcp.close().unwrap();
    assert_eq!(tcp.write_queue_size(), 8);
    run(&lp);
    assert_eq!(trace.take(), ["4", "0"]);
}

#[test]
fn without_a_callback_the_requests_are_told_just_the_same() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    fill(&tcp);
    tcp.write("x", trace.tells("write")).unwrap();
    tcp.close().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["write ECANCELED"]);
}

#[test]
fn a_descriptor_is_closed_with_the_call() {
    let lp = new_loop();
    let (tcp, mut peer) = pair(&lp);
    tcp.read_start(|_, _| {}).unwrap();
    turn(&lp);
    tcp.close().unwrap();
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    assert_eq!(tcp.local_addr(), Err(Errno::EBADF));
    run(&lp);
    assert_eq!(tcp.local_addr(), Err(Errno::EINVAL));
}

#[test]
fn the_number_of_descriptors_falls_with_the_call() {
    in_child("the_number_of_descriptors_falls_with_the_call", 256, || {
        let lp = Loop::new().unwrap();
        guard(&lp);
        let (tcp, _peer) = pair(&lp);
        let (server, _) = common::bound(&lp);
        server.listen(1, |_, _| {}).unwrap();
        turn(&lp);
        let before = open_descriptors("self");
        tcp.close().unwrap();
        assert_eq!(open_descriptors("self"), before - 1);
        server.close().unwrap();
        assert_eq!(open_descriptors("self"), before - 2);
        run(&lp);
        assert_eq!(open_descriptors("self"), before - 2);
    });
}

#[test]
fn after_the_close_nothing_is_heard_of_a_handle() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    timer.start_repeating(Duration::ZERO, Duration::from_nanos(1), trace.adds("timer")).unwrap();
    let idle = Idle::new(&lp).unwrap();
    idle.start(trace.adds("idle")).unwrap();
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    wake_up.send().unwrap();
    let (tcp, mut peer) = local_pair(&lp);
    let line = trace.clone();
    tcp.read_start(move |_, _| line.add("read")).unwrap();
    std::io::Write::write_all(&mut peer, b"x").unwrap();
    for handle in [&*timer, &*idle, &*wake_up, &*tcp] {
        handle.close().unwrap();
    }
    for _ in 0..3 {
        turn(&lp);
    }
    assert_eq!(trace.take(), [""; 0]);
}

#[test]
fn the_closures_of_a_handle_are_dropped_when_it_is_closed() {
    let lp = new_loop();
    let owned = Rc::new(());
    let timer = Timer::new(&lp).unwrap();
    let held = Rc::clone(&owned);
    timer.start(HOUR, move |_| drop(Rc::clone(&held))).unwrap();
    let (tcp, _peer) = local_pair(&lp);
    let held = Rc::clone(&owned);
    tcp.read_start(move |_, _| drop(Rc::clone(&held))).unwrap();
    assert_eq!(Rc::strong_count(&owned), 3);
    timer.close().unwrap();
    let held = Rc::clone(&owned);
    tcp.close_then(move |_| drop(held)).unwrap();
    assert_eq!(Rc::strong_count(&owned), 4);
    run(&lp);
    assert_eq!(Rc::strong_count(&owned), 1);
}

#[test]
fn a_closure_is_dropped_before_the_close_callback() {
    struct Tells(Trace);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.add("dropped");
        }
    }
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let tells = Tells(trace.clone());
    timer.start(HOUR, move |_| drop(tells.0.take())).unwrap();
    closes(&timer, &trace, "closed");
    run(&lp);
    assert_eq!(trace.take(), ["dropped", "closed"]);
}

#[test]
fn a_handle_may_be_closed_before_it_was_ever_used() {
    let (lp, trace) = (new_loop(), Trace::new());
    closes(&Tcp::new(&lp).unwrap(), &trace, "tcp");
    closes(&Timer::new(&lp).unwrap(), &trace, "timer");
    closes(&Idle::new(&lp).unwrap(), &trace, "idle");
    run(&lp);
    assert_eq!(trace.take(), ["idle", "timer", "tcp"]);
}

#[test]
fn thousands_of_handles_may_come_and_go() {
    let (lp, trace) = (new_loop(), Trace::new());
    let kept = Rc::new(RefCell::new(Vec::new()));
    for round in 0..20 {
        for nth in 0..500 {
            let timer = Timer::new(&lp).unwrap();
            timer.start(HOUR, |_| panic!("it was closed")).unwrap();
            if nth % 2 == 0 {
                closes(&timer, &trace, "closed");
            } else {
                kept.borrow_mut().push(timer);
            }
        }
        turn(&lp);
        assert_eq!(trace.take().len(), 250);
        if round % 2 == 1 {
            kept.take().iter().for_each(|timer| timer.close().unwrap());
        }
    }
    run(&lp);
    // The guard is left.
    assert_eq!(lp.handles().len(), 1);
}
