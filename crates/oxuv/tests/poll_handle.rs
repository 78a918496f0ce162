//! Poll handles: readiness of descriptors that the program owns.

mod common;

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::thread;

use common::{Trace, connect, failing_turn, ms, new_loop, run, run_until, turn};
use oxuv::{Check, Errno, LoopRef, Mode, Poll, Readiness, Result, Timer};
use rustix::net::SendFlags;

const READ: Readiness = Readiness::READ;
const WRITE: Readiness = Readiness::WRITE;
const PRIORITY: Readiness = Readiness::PRIORITY;
const READ_HANG_UP: Readiness = Readiness::READ_HANG_UP;

/// A poll handle, its descriptor, and the other end.
fn polled(lp: &LoopRef) -> (Poll, UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    (Poll::new(lp, &ours).unwrap(), ours, theirs)
}

/// As `polled`, over TCP.
fn polled_tcp(lp: &LoopRef) -> (Poll, TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = connect(listener.local_addr().unwrap());
    let ours = listener.accept().unwrap().0;
    (Poll::new(lp, &ours).unwrap(), ours, theirs)
}

/// A callback that adds what it is told.
fn tells(trace: &Trace) -> impl FnMut(&Poll, Result<Readiness>) + use<> {
    let trace = trace.clone();
    move |_, ready| trace.add(line(ready))
}

fn line(ready: Result<Readiness>) -> String {
    match ready {
        Ok(ready) => ready.iter_names().map(|(name, _)| name).collect::<Vec<_>>().join(" "),
        Err(error) => format!("{error:?}"),
    }
}

/// What comes in one turn.
fn in_one_turn(lp: &oxuv::Loop, trace: &Trace) -> Vec<String> {
    turn(lp);
    trace.take()
}

#[test]
fn it_is_told_in_each_turn_in_which_there_is_something_to_read() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (poll, mut ours, mut theirs) = polled(&lp);
    poll.start(READ, tells(&trace)).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), [""; 0]);
    theirs.write_all(b"ab").unwrap();
    for _ in 0..3 {
        assert_eq!(in_one_turn(&lp, &trace), ["READ"]);
    }
    ours.read_exact(&mut [0]).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["READ"]);
    ours.read_exact(&mut [0]).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), [""; 0]);
    assert!(poll.is_active());
}

#[test]
fn it_is_told_whether_it_can_write_too() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (poll, mut ours, mut theirs) = polled(&lp);
    poll.start(WRITE, tells(&trace)).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["WRITE"]);
    poll.start(READ | WRITE, tells(&trace)).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["WRITE"]);
    theirs.write_all(b"x").unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["READ WRITE"]);
    // The descriptor is non-blocking, so this ends.
    while ours.write(&[0; 4096]).is_ok() {}
    assert_eq!(in_one_turn(&lp, &trace), ["READ"]);
    theirs.set_nonblocking(true).unwrap();
    while theirs.read(&mut [0; 4096]).is_ok() {}
    assert_eq!(in_one_turn(&lp, &trace), ["READ WRITE"]);
}

#[test]
fn it_is_told_that_the_peer_has_ended_its_side() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (poll, _ours, theirs) = polled_tcp(&lp);
    poll.start(READ_HANG_UP | WRITE, tells(&trace)).unwrap();
    run_until(&lp, || trace.len() > 0);
    assert_eq!(trace.take(), ["WRITE"]);
    poll.set_interest(READ_HANG_UP).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), [""; 0]);
    theirs.shutdown(Shutdown::Write).unwrap();
    run_until(&lp, || trace.len() > 0);
    assert_eq!(trace.take(), ["READ_HANG_UP"]);
    poll.set_interest(READ | READ_HANG_UP).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["READ READ_HANG_UP"]);
}

#[test]
fn it_is_told_of_urgent_data() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (poll, ours, mut theirs) = polled_tcp(&lp);
    poll.start(READ | PRIORITY, tells(&trace)).unwrap();
    theirs.write_all(b"plain").unwrap();
    run_until(&lp, || trace.len() > 0);
    assert_eq!(trace.take(), ["READ"]);
    rustix::net::send(&theirs, b"!", SendFlags::OOB).unwrap();
    run_until(&lp, || trace.take().contains(&"READ PRIORITY".to_string()));
    poll.set_interest(PRIORITY).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["PRIORITY"]);
    let mut urgent = [0; 1];
    rustix::net::recv(&ours, &mut urgent[..], rustix::net::RecvFlags::OOB).unwrap();
    assert_eq!((&urgent, in_one_turn(&lp, &trace)), (b"!", vec![]));
}

#[test]
fn a_hang_up_wakes_whoever_waits_for_whatever() {
    for interest in [READ, WRITE, PRIORITY, READ_HANG_UP, READ | PRIORITY] {
        let (lp, trace) = (new_loop(), Trace::new());
        let (poll, _ours, theirs) = polled(&lp);
        poll.start(interest, tells(&trace)).unwrap();
        drop(theirs);
        // All that it waits for, each turn.
        for _ in 0..2 {
            assert_eq!(in_one_turn(&lp, &trace), [line(Ok(interest))]);
        }
        assert!(poll.is_active());
    }
}

#[test]
fn it_keeps_the_loop_running_until_it_is_stopped_and_sleeps_meanwhile() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (poll, _ours, mut theirs) = polled(&lp);
    assert!(!poll.is_active() && !lp.is_alive());
    let line = trace.clone();
    poll.start(READ, move |poll, _| {
        line.add("ready");
        poll.stop().unwrap();
    })
    .unwrap();
    assert!(poll.is_active() && lp.is_alive());
    let thread = thread::spawn(move || {
        thread::sleep(ms(50));
        theirs.write_all(b"x").unwrap();
        theirs
    });
    run(&lp);
    assert_eq!((trace.take(), lp.turns()), (vec!["ready".to_string()], 1));
    assert!(!poll.is_active());
    thread.join().unwrap();
}

#[test]
fn started_again_interest_and_closure_are_the_new_ones() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (poll, _ours, mut theirs) = polled(&lp);
    let owned = Rc::new(());
    let (own, line) = (Rc::clone(&owned), trace.clone());
    poll.start(READ, move |_, _| {
        let _ = &own;
        line.add("old");
    })
    .unwrap();
    theirs.write_all(b"x").unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["old"]);
    poll.start(WRITE, tells(&trace)).unwrap();
    assert_eq!(Rc::strong_count(&owned), 1);
    assert_eq!(in_one_turn(&lp, &trace), ["WRITE"]);
    // Also when it is started in its callback: the rest of that call is undisturbed.
    let (line, kept) = (trace.clone(), trace.clone());
    poll.start(READ, move |poll, _| {
        poll.start(WRITE, tells(&line)).unwrap();
        kept.add("still there");
    })
    .unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["still there"]);
    assert_eq!(in_one_turn(&lp, &trace), ["WRITE"]);
}

#[test]
fn another_interest_keeps_the_closure_and_none_stops() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (poll, _ours, mut theirs) = polled(&lp);
    theirs.write_all(b"x").unwrap();
    poll.start(WRITE, tells(&trace)).unwrap();
    poll.set_interest(READ).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["READ"]);
    poll.set_interest(Readiness::empty()).unwrap();
    assert!(!poll.is_active() && !lp.is_alive());
    Timer::new(&lp).unwrap().start(ms(0), |_| {}).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), [""; 0]);
    poll.start(READ | WRITE, tells(&trace)).unwrap();
    poll.start(Readiness::empty(), tells(&trace)).unwrap();
    assert!(!poll.is_active());
    poll.set_interest(READ | WRITE).unwrap();
    assert_eq!(in_one_turn(&lp, &trace), ["READ WRITE"]);
}

#[test]
fn what_is_told_is_what_is_wanted_at_that_moment() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (first, _a, mut one) = polled(&lp);
    let (second, _b, mut two) = polled(&lp);
    one.write_all(b"x").unwrap();
    two.write_all(b"x").unwrap();
    for (left, expected) in [(READ, &["READ WRITE", "READ"][..]), (PRIORITY, &["READ WRITE"])] {
        // Whichever comes first makes the other wait for less.
        for (poll, other) in [(first.clone(), second.clone()), (second.clone(), first.clone())] {
            let trace = trace.clone();
            poll.start(READ | WRITE, move |_, ready| {
                trace.add(line(ready));
                other.set_interest(left).unwrap();
            })
            .unwrap();
        }
        assert_eq!(in_one_turn(&lp, &trace), expected);
    }
}

#[test]
fn stopped_or_closed_in_its_callback_it_is_silent() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (stopped, _a, mut one) = polled(&lp);
    let (closed, _b, mut two) = polled(&lp);
    let line = trace.clone();
    stopped
        .start(READ, move |poll, _| {
            line.add("stopped");
            poll.stop().unwrap();
            poll.stop().unwrap();
        })
        .unwrap();
    let line = trace.clone();
    closed
        .start(READ, move |poll, _| {
            let line = line.clone();
            poll.close_then(move |_| line.add("closed")).unwrap();
            assert_eq!(poll.set_interest(READ), Err(Errno::EINVAL));
        })
        .unwrap();
    one.write_all(b"x").unwrap();
    two.write_all(b"x").unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["stopped", "closed"]);
    assert_eq!(closed.stop(), Err(Errno::EINVAL));
}

#[test]
fn one_of_the_same_batch_that_another_stops_or_closes_is_not_told() {
    for closes in [false, true] {
        let (lp, trace) = (new_loop(), Trace::new());
        let all: Rc<RefCell<Vec<Poll>>> = Rc::default();
        let mut ends = Vec::new();
        for _ in 0..5 {
            let (poll, ours, mut theirs) = polled(&lp);
            theirs.write_all(b"x").unwrap();
            let (line, others) = (trace.clone(), Rc::clone(&all));
            poll.start(READ, move |_, _| {
                line.add("first");
                for other in others.take() {
                    if closes { other.close().unwrap() } else { other.stop().unwrap() }
                }
            })
            .unwrap();
            all.borrow_mut().push(poll);
            ends.push((ours, theirs));
        }
        run(&lp);
        assert_eq!(trace.take(), ["first"]);
    }
}

#[test]
fn one_that_is_started_in_a_callback_is_told_in_a_later_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let check = Check::new(&lp).unwrap();
    check.start(trace.adds("check")).unwrap();
    check.unref().unwrap();
    let (poll, ours, mut theirs) = polled(&lp);
    theirs.write_all(b"x").unwrap();
    let (line, ours) = (trace.clone(), Rc::new(ours));
    let descriptor = Rc::clone(&ours);
    poll.start(READ, move |poll, _| {
        line.add("old");
        poll.close().unwrap();
        let new = Poll::new(poll.owner(), &descriptor).unwrap();
        new.start(READ, tells(&line)).unwrap();
    })
    .unwrap();
    assert_eq!(lp.run(Mode::NoWait), Ok(true));
    assert_eq!(trace.take(), ["old", "check"]);
    assert_eq!(in_one_turn(&lp, &trace), ["READ", "check"]);
}

#[test]
fn a_panic_in_the_callback_leaves_it_started() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (poll, mut ours, mut theirs) = polled(&lp);
    let (line, mut calls) = (trace.clone(), 0);
    poll.start(READ, move |_, ready| {
        line.add(self::line(ready));
        calls += 1;
        assert!(calls > 1, "in a callback");
    })
    .unwrap();
    theirs.write_all(b"x").unwrap();
    failing_turn(&lp);
    assert_eq!(trace.take(), ["READ"]);
    assert_eq!(in_one_turn(&lp, &trace), ["READ"]);
    ours.read_exact(&mut [0]).unwrap();
    assert_eq!((in_one_turn(&lp, &trace), poll.is_active()), (vec![], true));
}
