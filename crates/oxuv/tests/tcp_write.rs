//! Writing to a connection: order, results and limits. What becomes of the memory is in `tcp_write_buffers`.

mod common;

use std::cell::Cell;
use std::io::Read;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use common::{Trace, fill, local_pair, new_loop, outcome, pair, pattern, reset, run, run_until, turn};
use oxuv::{Check, Errno, LoopRef, Prepare, Tcp};

/// Reads this many bytes in a thread, and returns them.
fn reader(mut peer: TcpStream, len: usize) -> JoinHandle<(Vec<u8>, TcpStream)> {
    thread::spawn(move || {
        let mut bytes = vec![0; len];
        peer.read_exact(&mut bytes).unwrap();
        (bytes, peer)
    })
}

fn mark_turns(lp: &LoopRef, trace: &Trace) {
    let (prepare, check) = (Prepare::new(lp).unwrap(), Check::new(lp).unwrap());
    prepare.start(trace.adds("prepare")).unwrap();
    check.start(trace.adds("check")).unwrap();
    prepare.unref().unwrap();
    check.unref().unwrap();
}

/// How often the same line came in a row, as "line*count".
fn counted(lines: Vec<String>) -> Vec<String> {
    lines.chunk_by(|a, b| a == b).map(|same| format!("{}*{}", same[0], same.len())).collect()
}

#[test]
fn a_write_that_completes_at_once_is_reported_in_pending_and_not_inside_the_call() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let (tcp, mut peer) = local_pair(&lp);
    tcp.write("hello", trace.tells("write")).unwrap();
    trace.add("returned");
    // The bytes are with the peer already.
    let mut bytes = [0; 5];
    peer.read_exact(&mut bytes).unwrap();
    assert_eq!((&bytes, tcp.write_queue_size()), (b"hello", 0));
    turn(&lp);
    assert_eq!(trace.take(), ["returned", "write ok", "prepare", "check"]);
}

#[test]
fn writes_are_sent_and_reported_in_their_order() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    for word in ["one", "two", "three"] {
        tcp.write(word, trace.tells(word)).unwrap();
    }
    run(&lp);
    assert_eq!(trace.take(), ["one ok", "two ok", "three ok"]);
    tcp.close().unwrap();
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "onetwothree");
}

#[test]
fn many_bytes_are_sent_piece_by_piece_and_the_queue_size_tells_what_is_left() {
    const MANY: usize = 32 << 20;
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    let bytes: Arc<[u8]> = pattern(MANY).into();
    let line = trace.clone();
    tcp.write(bytes.clone(), move |tcp, result| {
        line.add(format!("{} with {} queued", outcome("first", result), tcp.write_queue_size()));
    })
    .unwrap();
    let sent = MANY - tcp.write_queue_size();
    assert!(sent > 0 && sent < MANY);
    tcp.write("end", trace.tells("second")).unwrap();
    assert_eq!(tcp.write_queue_size(), MANY - sent + 3);
    turn(&lp);
    assert_eq!(trace.take(), [""; 0]);

    let reader = reader(peer, MANY + 3);
    let mut last = tcp.write_queue_size();
    run_until(&lp, || {
        let left = tcp.write_queue_size();
        assert!(left <= last);
        last = left;
        trace.len() == 2
    });
    let (got, _peer) = reader.join().unwrap();
    assert!(got[..MANY] == *bytes && &got[MANY..] == b"end");
    // The bytes of the second write are queued while the first is reported, or the kernel took both.
    let lines = trace.take();
    assert!(lines[0] == "first ok with 3 queued" || lines[0] == "first ok with 0 queued", "{lines:?}");
    assert_eq!((lines[1].as_str(), tcp.write_queue_size()), ("second ok", 0));
}

#[test]
fn more_buffers_than_one_system_call_takes_are_sent_in_their_order() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    let bytes = pattern(2000 * 50);
    let parts: Vec<Vec<u8>> = bytes.chunks(50).map(<[u8]>::to_vec).collect();
    assert_eq!(parts.len(), 2000);
    let reader = reader(peer, bytes.len());
    tcp.write_vectored(parts, trace.tells("write")).unwrap();
    assert!(tcp.write_queue_size() > 0);
    run(&lp);
    assert_eq!(trace.take(), ["write ok"]);
    assert!(reader.join().unwrap().0 == bytes);
}

#[test]
fn many_large_buffers_are_sent_across_their_borders() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    let bytes = pattern(24 << 20);
    // Empty ones between them, and sizes that no border of the kernel's fits.
    let mut parts = Vec::new();
    for part in bytes.chunks(77_777) {
        parts.push(part.to_vec());
        parts.push(Vec::new());
    }
    tcp.write_vectored(parts, trace.tells("write")).unwrap();
    let reader = reader(peer, bytes.len());
    run(&lp);
    assert_eq!(trace.take(), ["write ok"]);
    assert!(reader.join().unwrap().0 == bytes);
}

#[test]
fn a_write_of_no_bytes_is_reported_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    tcp.write("", trace.tells("empty")).unwrap();
    tcp.write_vectored(vec![""; 3], trace.tells("three empty")).unwrap();
    tcp.write_vectored(vec![""; 2000], trace.tells("many empty")).unwrap();
    tcp.write("x", trace.tells("x")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["empty ok", "three empty ok", "many empty ok", "x ok"]);
    tcp.close().unwrap();
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "x");
}

#[test]
fn a_write_of_no_bytes_waits_behind_one_that_is_queued() {
    const MANY: usize = 24 << 20;
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    tcp.write(vec![0; MANY], trace.tells("many")).unwrap();
    tcp.write("", trace.tells("empty")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), [""; 0]);
    let reader = reader(peer, MANY);
    run(&lp);
    assert_eq!(trace.take(), ["many ok", "empty ok"]);
    reader.join().unwrap();
}

#[test]
fn queued_writes_are_sent_33_a_batch_and_each_batch_feeds_the_next_pending_round() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let mut peers = Vec::new();
    for name in ["a", "b"] {
        let (tcp, peer) = local_pair(&lp);
        let filled = fill(&tcp);
        for _ in 0..100 {
            let line = trace.clone();
            tcp.write("x", move |_, result| line.add(if result.is_ok() { name } else { "error" })).unwrap();
        }
        assert_eq!(tcp.write_queue_size(), 100);
        peers.push((peer, filled));
    }
    turn(&lp);
    assert_eq!(counted(trace.take()), ["prepare*1", "check*1"]);
    for (peer, filled) in &mut peers {
        peer.read_exact(&mut vec![0; *filled]).unwrap();
    }
    turn(&lp);
    let expected = "prepare*1 a*33 b*33 a*33 b*33 a*33 b*33 a*1 b*1 check*1";
    assert_eq!(counted(trace.take()).join(" "), expected);
}

#[test]
fn one_turn_sends_nine_batches_and_the_next_goes_on_in_pending() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let (tcp, mut peer) = local_pair(&lp);
    let filled = fill(&tcp);
    tcp.write("x", trace.tells("write")).unwrap();
    for _ in 1..300 {
        tcp.write("", trace.tells("write")).unwrap();
    }
    peer.read_exact(&mut vec![0; filled]).unwrap();
    turn(&lp);
    assert_eq!(counted(trace.take()).join(" "), "prepare*1 write ok*297 check*1");
    turn(&lp);
    assert_eq!(counted(trace.take()).join(" "), "write ok*3 prepare*1 check*1");
}

#[test]
fn a_write_made_in_a_write_s_callback_is_reported_in_the_next_round() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    let line = trace.clone();
    tcp.write("one", move |tcp, _| {
        tcp.write("three", line.tells("three")).unwrap();
        line.add("one");
    })
    .unwrap();
    tcp.write("two", trace.tells("two")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["one", "two ok", "three ok"]);
}

#[test]
fn try_write_sends_what_the_kernel_takes_and_is_refused_while_bytes_are_queued() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    assert_eq!(tcp.try_write(b"ab"), Ok(2));
    assert_eq!(tcp.try_write_vectored(&["c", "", "d"]), Ok(2));
    assert_eq!(tcp.try_write(b""), Ok(0));
    // A write that is sent and not reported is not in the way.
    tcp.write("e", trace.tells("e")).unwrap();
    assert_eq!(tcp.try_write(b"f"), Ok(1));
    run(&lp);
    let mut bytes = [0; 6];
    peer.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"abcdef");

    let filled = fill(&tcp);
    tcp.write("g", trace.tells("g")).unwrap();
    peer.read_exact(&mut vec![0; filled]).unwrap();
    // There would be room now, but order is kept.
    assert_eq!(tcp.try_write(b"h"), Err(Errno::EAGAIN));
    run(&lp);
    assert_eq!(tcp.try_write(b"h"), Ok(1));
    peer.read_exact(&mut bytes[..2]).unwrap();
    assert_eq!((&bytes[..2], trace.take()), (&b"gh"[..], ["e ok", "g ok"].map(String::from).to_vec()));
}

#[test]
fn no_buffer_and_too_many_buffers_are_einval_without_effect() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = pair(&lp);
    assert_eq!(tcp.write_vectored(Vec::<&str>::new(), trace.tells("none")), Err(Errno::EINVAL));
    assert_eq!(tcp.write_vectored(vec![""; (1 << 20) + 1], trace.tells("too many")), Err(Errno::EINVAL));
    assert_eq!(tcp.try_write_vectored::<&str>(&[]), Err(Errno::EINVAL));
    assert_eq!(tcp.try_write_vectored(&vec![""; (1 << 20) + 1]), Err(Errno::EINVAL));
    // 2^31 bytes.
    let part: Arc<[u8]> = vec![0; 1 << 20].into();
    assert_eq!(tcp.write_vectored(vec![part; 2048], trace.tells("too much")), Err(Errno::EINVAL));
    assert!(!lp.is_alive());
    assert_eq!((trace.len(), tcp.write_queue_size()), (0, 0));
    tcp.write_vectored(vec![""; 1 << 20], trace.tells("just enough")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["just enough ok"]);
}

#[test]
fn only_a_connection_can_be_written_to() {
    let lp = new_loop();
    let no_callback = |_: &Tcp, _: Result<(), Errno>| panic!("it was refused");
    let fresh = Tcp::new(&lp).unwrap();
    assert_eq!(fresh.write("x", no_callback), Err(Errno::EBADF));
    assert_eq!(fresh.try_write(b"x"), Err(Errno::EBADF));
    let (bound, _) = common::bound(&lp);
    assert_eq!(bound.write("x", no_callback), Err(Errno::EPIPE));
    assert_eq!(bound.try_write(b"x"), Err(Errno::EPIPE));
    let (tcp, _peer) = pair(&lp);
    tcp.close().unwrap();
    assert_eq!(tcp.write("x", no_callback), Err(Errno::EBADF));
    run(&lp);
    assert_eq!(tcp.write("x", no_callback), Err(Errno::EINVAL));
    assert_eq!(tcp.try_write(b"x"), Err(Errno::EINVAL));
    assert_eq!(tcp.write_queue_size(), 0);
}

#[test]
fn on_a_reset_connection_each_write_is_told_its_failure_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    fill(&tcp);
    for _ in 0..50 {
        let line = trace.clone();
        tcp.write(vec![0; 1 << 20], move |_, result| line.add(if result.is_err() { "failed" } else { "ok" })).unwrap();
    }
    turn(&lp);
    assert_eq!(trace.len(), 0);
    drop(peer);
    run(&lp);
    assert_eq!(counted(trace.take()), ["failed*50"]);
    assert_eq!(tcp.write_queue_size(), 0);
}

#[test]
fn the_bytes_of_a_failed_write_count_as_queued_until_its_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    reset(&tcp, peer);
    // The first call takes the kernel's error.
    let line = trace.clone();
    tcp.write("four", move |tcp, result| {
        line.add(format!("failed {} queued {}", result.is_err(), tcp.write_queue_size()));
    })
    .unwrap();
    assert_eq!(tcp.write_queue_size(), 4);
    assert_eq!(tcp.try_write(b"x"), Err(Errno::EAGAIN));
    run(&lp);
    assert_eq!(trace.take(), ["failed true queued 0"]);
}

#[test]
fn a_writer_may_close_in_its_callback_and_the_others_are_canceled() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    let filled = fill(&tcp);
    let line = trace.clone();
    tcp.write("one", move |tcp, result| {
        line.add(outcome("one", result));
        let line = line.clone();
        tcp.close_then(move |_| line.add("closed")).unwrap();
    })
    .unwrap();
    tcp.write(vec![0; 8 << 20], trace.tells("two")).unwrap();
    tcp.write("three", trace.tells("three")).unwrap();
    peer.read_exact(&mut vec![0; filled]).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["one ok", "two ECANCELED", "three ECANCELED", "closed"]);
}

#[test]
fn writes_and_reads_do_not_hinder_each_other() {
    const MANY: usize = 8 << 20;
    let (lp, finished) = (new_loop(), Rc::new(Cell::new(0)));
    let (tcp, peer) = pair(&lp);
    let bytes = pattern(MANY);
    let (mut writing, sent) = (peer.try_clone().unwrap(), bytes.clone());
    let writer = thread::spawn(move || std::io::Write::write_all(&mut writing, &sent).unwrap());
    let reader = reader(peer, MANY);
    let (done, expected, mut at) = (Rc::clone(&finished), bytes.clone(), 0);
    tcp.read_start(move |_, read| {
        let read = read.unwrap();
        assert!(read == &expected[at..at + read.len()]);
        at += read.len();
        done.set(done.get() + usize::from(at == MANY));
    })
    .unwrap();
    let done = Rc::clone(&finished);
    tcp.write(bytes.clone(), move |_, result| done.set(done.get() + usize::from(result.is_ok()))).unwrap();
    run_until(&lp, || finished.get() == 2);
    writer.join().unwrap();
    assert!(reader.join().unwrap().0 == bytes);
}
