//! Reading from a connection.

mod common;

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::rc::Rc;

use common::{Trace, local_pair, ms, new_loop, pair, pattern, reset, run, run_until, turn};
use oxuv::{Check, Errno, LoopRef, Mode, Tcp, Timer};

/// What one read gives, as a line.
fn line(read: Result<&[u8], Errno>) -> String {
    match read {
        Ok(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Err(error) => format!("{error:?}"),
    }
}

fn reads_into(trace: &Trace) -> impl FnMut(&Tcp, Result<&[u8], Errno>) + use<> {
    let trace = trace.clone();
    move |_, read| trace.add(line(read))
}

fn mark_turns(lp: &LoopRef, trace: &Trace) {
    let check = Check::new(lp).unwrap();
    check.start(trace.adds("check")).unwrap();
    check.unref().unwrap();
}

#[test]
fn what_the_peer_writes_is_read_and_then_the_end() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    tcp.read_start(reads_into(&trace)).unwrap();
    peer.write_all(b"one").unwrap();
    run_until(&lp, || trace.len() == 1);
    peer.write_all(b"two").unwrap();
    run_until(&lp, || trace.len() == 2);
    drop(peer);
    // After the end nothing is active any more.
    run(&lp);
    assert_eq!(trace.take(), ["one", "two", "EOF"]);
}

#[test]
fn at_the_end_reading_is_stopped_before_the_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    let line = trace.clone();
    tcp.read_start(move |tcp, read| line.add(format!("{read:?} active {}", tcp.is_active()))).unwrap();
    drop(peer);
    run(&lp);
    assert_eq!(trace.take(), ["Err(EOF) active false"]);
}

#[test]
fn started_again_after_the_end_the_end_is_told_again() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    drop(peer);
    for _ in 0..2 {
        tcp.read_start(reads_into(&trace)).unwrap();
        run(&lp);
    }
    assert_eq!(trace.take(), ["EOF", "EOF"]);
}

#[test]
fn after_the_end_the_connection_can_still_be_written_to() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    peer.shutdown(Shutdown::Write).unwrap();
    let line = trace.clone();
    tcp.read_start(move |tcp, read| {
        line.add(format!("{read:?}"));
        tcp.write("answer", line.tells("write")).unwrap();
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["Err(EOF)", "write ok"]);
    let mut answer = [0; 6];
    peer.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"answer");
}

#[test]
fn a_reset_is_told_once_and_the_connection_is_neither_readable_nor_writable_by_then() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    let line = trace.clone();
    tcp.read_start(move |tcp, read| {
        line.add(format!("{read:?} readable {} writable {}", tcp.is_readable(), tcp.is_writable()));
    })
    .unwrap();
    reset(&tcp, peer);
    run(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["Err(ECONNRESET) readable false writable false"]);
    assert_eq!(tcp.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    assert_eq!(tcp.write("x", |_, _| {}), Err(Errno::EPIPE));
    assert_eq!(tcp.shutdown(|_, _| {}), Err(Errno::ENOTCONN));
}

#[test]
fn what_came_before_the_end_is_read_before_it() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    peer.write_all(b"last words").unwrap();
    drop(peer);
    tcp.read_start(reads_into(&trace)).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["last words", "EOF"]);
}

#[test]
fn started_twice_is_ealready_and_keeps_the_first_closure() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    tcp.read_start(reads_into(&trace)).unwrap();
    assert_eq!(tcp.read_start(|_, _| panic!("this one was refused")), Err(Errno::EALREADY));
    peer.write_all(b"x").unwrap();
    run_until(&lp, || trace.len() == 1);
    assert_eq!(trace.take(), ["x"]);
}

#[test]
fn only_a_connection_can_be_read() {
    let lp = new_loop();
    let fresh = Tcp::new(&lp).unwrap();
    assert_eq!(fresh.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    let (bound, _) = common::bound(&lp);
    assert_eq!(bound.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    bound.listen(1, |_, _| {}).unwrap();
    assert_eq!(bound.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    let (tcp, _peer) = pair(&lp);
    tcp.close().unwrap();
    assert_eq!(tcp.read_start(|_, _| {}), Err(Errno::EINVAL));
    assert!(!tcp.is_active());
}

#[test]
fn stopped_in_its_callback_the_rest_stays_with_the_kernel() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    let bytes = pattern(100_000);
    peer.write_all(&bytes).unwrap();
    let got = Rc::new(Cell::new(Vec::new()));
    let (line, part) = (trace.clone(), Rc::clone(&got));
    let take = move |tcp: &Tcp, read: Result<&[u8], Errno>| {
        let bytes = read.unwrap();
        line.add(bytes.len().to_string());
        part.set([part.take(), bytes.to_vec()].concat());
        tcp.read_stop().unwrap();
        tcp.read_stop().unwrap();
    };
    tcp.read_start(take.clone()).unwrap();
    turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["65536"]);
    assert!(!tcp.is_active());
    tcp.read_start(take).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["34464"]);
    assert!(got.take() == bytes);
}

#[test]
fn while_stopped_what_arrives_does_not_wake_the_loop() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    tcp.read_start(reads_into(&trace)).unwrap();
    turn(&lp);
    tcp.read_stop().unwrap();
    peer.write_all(b"x").unwrap();
    let turns = lp.turns();
    Timer::new(&lp).unwrap().start(ms(30), |timer| timer.owner().stop()).unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!((trace.take(), lp.turns() - turns), (vec![], 1));
}

#[test]
fn stopped_and_started_before_a_turn_reading_goes_on() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    tcp.read_start(reads_into(&trace)).unwrap();
    turn(&lp);
    tcp.read_stop().unwrap();
    tcp.read_start(reads_into(&trace)).unwrap();
    peer.write_all(b"x").unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["x"]);
}

#[test]
fn stopped_and_started_in_its_callback_the_new_closure_gets_the_next_round() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let (tcp, mut peer) = local_pair(&lp);
    peer.write_all(&[7; 70_000]).unwrap();
    let line = trace.clone();
    tcp.read_start(move |tcp, read| {
        tcp.read_stop().unwrap();
        let next = line.clone();
        tcp.read_start(move |_, read| next.add(format!("second {}", read.unwrap().len()))).unwrap();
        line.add(format!("first {}", read.unwrap().len()));
    })
    .unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["first 65536", "second 4464", "check"]);
}

#[test]
fn closed_in_its_callback_nothing_more_is_read() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    peer.write_all(&[7; 100_000]).unwrap();
    let line = trace.clone();
    tcp.read_start(move |tcp, read| {
        line.add(format!("read {}", read.unwrap().len()));
        let line = line.clone();
        tcp.close_then(move |_| line.add("closed")).unwrap();
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["read 65536", "closed"]);
}

#[test]
fn one_readiness_gives_up_to_32_rounds() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let (tcp, mut peer) = local_pair(&lp);
    let chunk = [7; 65536];
    peer.write_all(&chunk).unwrap();
    let line = trace.clone();
    tcp.read_start(move |_, read| {
        assert_eq!(read.unwrap().len(), chunk.len());
        line.add("read");
        // There is always more.
        peer.write_all(&chunk).unwrap();
    })
    .unwrap();
    for _ in 0..2 {
        turn(&lp);
        assert_eq!(trace.take(), [&["read"; 32][..], &["check"]].concat());
    }
}

#[test]
fn a_short_read_ends_the_rounds() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let (tcp, mut peer) = local_pair(&lp);
    peer.write_all(b"1").unwrap();
    let line = trace.clone();
    tcp.read_start(move |_, read| {
        line.add(self::line(read));
        peer.write_all(b"2").unwrap();
    })
    .unwrap();
    turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["1", "check", "2", "check"]);
}

#[test]
fn connections_are_read_independently() {
    let (lp, trace) = (new_loop(), Trace::new());
    let mut peers = Vec::new();
    for name in ["a", "b", "c"] {
        let (tcp, mut peer) = pair(&lp);
        let line = trace.clone();
        tcp.read_start(move |_, read| line.add(format!("{name} {}", self::line(read)))).unwrap();
        peer.write_all(name.as_bytes()).unwrap();
        peers.push(peer);
    }
    run_until(&lp, || trace.len() == 3);
    drop(peers.remove(1));
    run_until(&lp, || trace.len() == 4);
    let mut lines = trace.take();
    assert_eq!(lines.pop().unwrap(), "b EOF");
    lines.sort();
    assert_eq!(lines, ["a a", "b b", "c c"]);
}

#[test]
fn a_connection_closed_by_another_in_the_same_batch_is_not_read() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (one, mut one_peer) = local_pair(&lp);
    let (two, mut two_peer) = local_pair(&lp);
    for (tcp, other) in [(one.clone(), two.clone()), (two, one)] {
        let line = trace.clone();
        tcp.read_start(move |tcp, _| {
            line.add("read");
            tcp.close().unwrap();
            other.close().unwrap();
        })
        .unwrap();
    }
    one_peer.write_all(b"x").unwrap();
    two_peer.write_all(b"x").unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["read"]);
}

#[test]
fn an_idle_connection_does_not_wake_the_loop() {
    let lp = new_loop();
    let (tcp, mut peer) = pair(&lp);
    tcp.read_start(|_, read| assert!(read.is_ok())).unwrap();
    // More than the kernel takes at once, so that writing was waited for.
    const MANY: usize = 24 << 20;
    let reader = std::thread::spawn(move || {
        let mut left = MANY;
        let mut buffer = vec![0; 1 << 20];
        while left > 0 {
            left -= peer.read(&mut buffer).unwrap();
        }
        peer
    });
    let written = Rc::new(Cell::new(false));
    let done = Rc::clone(&written);
    tcp.write(vec![0; MANY], move |_, result| done.set(result.is_ok())).unwrap();
    assert!(tcp.write_queue_size() > 0);
    run_until(&lp, || written.get());
    let _peer = reader.join().unwrap();
    let turns = lp.turns();
    Timer::new(&lp).unwrap().start(ms(100), |timer| timer.owner().stop()).unwrap();
    lp.run(Mode::Default).unwrap();
    assert!(lp.turns() - turns <= 2, "{} turns", lp.turns() - turns);
}

#[test]
fn many_bytes_arrive_whole_and_in_their_order() {
    let lp = new_loop();
    let (tcp, mut peer) = pair(&lp);
    let bytes = pattern(16 << 20);
    let expected = bytes.clone();
    let writer = std::thread::spawn(move || peer.write_all(&bytes).unwrap());
    let mut at = 0;
    tcp.read_start(move |_, read| match read {
        Ok(bytes) => {
            assert!(bytes == &expected[at..at + bytes.len()], "wrong after {at}");
            at += bytes.len();
        }
        Err(error) => assert_eq!((error, at), (Errno::EOF, expected.len())),
    })
    .unwrap();
    run(&lp);
    writer.join().unwrap();
}
