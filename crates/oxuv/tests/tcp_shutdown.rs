//! Ending the writing side of a connection.

mod common;

use std::io::{Read, Write};
use std::thread;

use common::{Trace, fill, local_pair, new_loop, outcome, pair, reset, run, run_until, turn};
use oxuv::{Check, Errno, Prepare, Tcp};

#[test]
fn the_peer_reads_the_end_and_can_still_write() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    let line = trace.clone();
    tcp.read_start(move |_, read| line.add(format!("{read:?}"))).unwrap();
    run_until(&lp, || trace.len() == 1);
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    peer.write_all(b"!").unwrap();
    drop(peer);
    run(&lp);
    assert_eq!(trace.take(), ["shutdown ok", "Ok([33])", "Err(EOF)"]);
}

#[test]
fn a_shutdown_is_never_reported_inside_the_call_but_in_pending() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (prepare, (tcp, mut peer)) = (Prepare::new(&lp).unwrap(), local_pair(&lp));
    prepare.start(trace.adds("prepare")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    trace.add("returned");
    // The system call, too, is made in pending.
    peer.set_nonblocking(true).unwrap();
    assert!(peer.read(&mut [0]).is_err());
    turn(&lp);
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    assert_eq!(trace.take(), ["returned", "shutdown ok", "prepare"]);
}

#[test]
fn it_comes_right_behind_the_last_write() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    let (prepare, check) = (Prepare::new(&lp).unwrap(), Check::new(&lp).unwrap());
    prepare.start(trace.adds("prepare")).unwrap();
    check.start(trace.adds("check")).unwrap();
    tcp.write("one ", trace.tells("one")).unwrap();
    tcp.write("two", trace.tells("two")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["one ok", "two ok", "shutdown ok", "prepare", "check"]);
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one two");
}

#[test]
fn it_waits_for_everything_to_be_sent() {
    const MANY: usize = 24 << 20;
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    tcp.write(vec![1; MANY], trace.tells("write")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), [""; 0]);
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        peer.read_to_end(&mut bytes).unwrap();
        bytes.len()
    });
    run(&lp);
    assert_eq!(trace.take(), ["write ok", "shutdown ok"]);
    assert_eq!(reader.join().unwrap(), MANY);
}

#[test]
fn from_the_call_on_nothing_can_be_written() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = pair(&lp);
    assert!(tcp.is_writable());
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    assert!(!tcp.is_writable() && tcp.is_readable());
    assert_eq!(tcp.write("x", |_, _| {}), Err(Errno::EPIPE));
    assert_eq!(tcp.try_write(b"x"), Err(Errno::EPIPE));
    assert_eq!(tcp.shutdown(trace.tells("second")), Err(Errno::ENOTCONN));
    run(&lp);
    assert_eq!(tcp.shutdown(trace.tells("third")), Err(Errno::ENOTCONN));
    run(&lp);
    assert_eq!(trace.take(), ["shutdown ok"]);
}

#[test]
fn only_a_connection_can_be_shut_down() {
    let lp = new_loop();
    let fresh = Tcp::new(&lp).unwrap();
    assert_eq!(fresh.shutdown(|_, _| {}), Err(Errno::ENOTCONN));
    let (tcp, _peer) = pair(&lp);
    tcp.close().unwrap();
    assert_eq!(tcp.shutdown(|_, _| {}), Err(Errno::ENOTCONN));
    run(&lp);
    assert_eq!(tcp.shutdown(|_, _| {}), Err(Errno::EINVAL));
}

#[test]
fn closed_before_it_was_done_it_is_canceled() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = pair(&lp);
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    let line = trace.clone();
    tcp.close_then(move |_| line.add("closed")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["shutdown ECANCELED", "closed"]);
}

#[test]
fn closed_in_the_last_write_s_callback_it_is_canceled() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = pair(&lp);
    let line = trace.clone();
    tcp.write("x", move |tcp, result| {
        line.add(outcome("write", result));
        let line = line.clone();
        tcp.close_then(move |_| line.add("closed")).unwrap();
    })
    .unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["write ok", "shutdown ECANCELED", "closed"]);
}

#[test]
fn the_handle_can_be_closed_in_its_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    let line = trace.clone();
    tcp.write("bye", trace.tells("write")).unwrap();
    tcp.shutdown(move |tcp, result| {
        line.add(outcome("shutdown", result));
        let line = line.clone();
        tcp.close_then(move |_| line.add("closed")).unwrap();
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["write ok", "shutdown ok", "closed"]);
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "bye");
}

#[test]
fn it_can_be_asked_for_in_a_write_s_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    let line = trace.clone();
    tcp.write("x", move |tcp, _| {
        line.add("write");
        tcp.shutdown(line.tells("shutdown")).unwrap();
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["write", "shutdown ok"]);
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "x");
}

#[test]
fn both_sides_may_shut_down_at_once_and_the_run_ends_by_itself() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (one, peer) = pair(&lp);
    let two = Tcp::new(&lp).unwrap();
    two.open(peer).unwrap();
    for (tcp, name) in [(&one, "one"), (&two, "two")] {
        let line = trace.clone();
        tcp.read_start(move |_, read| line.add(format!("{name} {:?}", read.unwrap_err()))).unwrap();
        tcp.write("", |_, _| {}).unwrap();
        tcp.shutdown(trace.tells(name)).unwrap();
    }
    run(&lp);
    let mut lines = trace.take();
    lines.sort();
    assert_eq!(lines, ["one EOF", "one ok", "two EOF", "two ok"]);
}

#[test]
fn after_a_reset_the_waiting_writes_fail_first_and_then_it_comes() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    fill(&tcp);
    tcp.write(vec![0; 24 << 20], trace.tells("write")).unwrap();
    let line = trace.clone();
    tcp.shutdown(move |_, _| line.add("shutdown")).unwrap();
    turn(&lp);
    drop(peer);
    run(&lp);
    let lines = trace.take();
    assert!(lines[0].starts_with("write E"), "{lines:?}");
    assert_eq!(lines[1..], ["shutdown"]);
}

#[test]
fn a_reset_connection_that_is_not_read_can_be_shut_down_without_harm() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    reset(&tcp, peer);
    let line = trace.clone();
    tcp.shutdown(move |_, _| line.add("shutdown")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["shutdown"]);
}

#[test]
fn asked_for_in_the_last_write_s_callback_it_comes_before_what_other_streams_have_to_tell() {
    let (lp, trace) = (new_loop(), Trace::new());
    let ((one, mut peer), (other, _other_peer)) = (pair(&lp), pair(&lp));
    let line = trace.clone();
    one.write("one", move |one, _| {
        line.add("one");
        one.shutdown(line.tells("shutdown")).unwrap();
    })
    .unwrap();
    other.write("other", trace.tells("other")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["one", "shutdown ok", "other ok"]);
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one");
}

#[test]
fn asked_for_in_another_stream_s_callback_it_waits_for_its_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let ((one, _one_peer), (other, _other_peer), (third, _third_peer)) = (pair(&lp), pair(&lp), pair(&lp));
    one.write("one", trace.tells("one")).unwrap();
    let line = trace.clone();
    other
        .write("other", move |_, _| {
            line.add("other");
            one.shutdown(line.tells("shutdown")).unwrap();
        })
        .unwrap();
    third.write("third", trace.tells("third")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["one ok", "other", "third ok", "shutdown ok"]);
}
