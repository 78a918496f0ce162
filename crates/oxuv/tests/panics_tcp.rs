//! A panic in a callback of a connection leaves the run, and loses nothing of what was due besides.

mod common;

use std::io::{Read, Write};

use common::{Trace, bound, connect, failing_turn, fill, local_pair, new_loop, panic_of, run, run_until};
use common::{pair, reset, turn};
use oxuv::Async;

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
    let (tcp, peer) = pair(&lp);
    let line = trace.clone();
    tcp.read_start(move |_, read| {
        line.add(format!("{read:?}"));
        panic!("in a callback");
    })
    .unwrap();
    reset(&tcp, peer);
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
fn a_panic_in_a_canceled_write_leaves_the_rest_of_its_handle_to_the_next_run() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    fill(&tcp);
    tcp.write("one", |_, _| panic!("in a callback")).unwrap();
    tcp.write("two", trace.tells("two")).unwrap();
    tcp.shutdown(|_, _| panic!("in a callback")).unwrap();
    let line = trace.clone();
    tcp.close_then(move |_| line.add("closed")).unwrap();
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
    tcp.read_start(move |tcp, _| {
        let line = line.clone();
        tcp.close_then(move |_| line.add("closed")).unwrap();
        panic!("in a callback");
    })
    .unwrap();
    peer.write_all(b"x").unwrap();
    failing_turn(&lp);
    assert_eq!(peer.read(&mut [0]).unwrap_or(0), 0);
    run(&lp);
    assert_eq!(trace.take(), ["closed"]);
}
