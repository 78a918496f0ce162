//! Closing with a reset.

mod common;

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::rc::Rc;

use common::{Trace, fill, new_loop, outcome, pair, run, run_until};
use oxuv::{Errno, Handle, Loop, Tcp};

#[test]
fn the_peer_gets_econnreset_and_the_handle_its_close_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    tcp.read_start(|_, _| panic!("it is closed")).unwrap();
    tcp.close_reset().unwrap();
    // It goes out with the call.
    assert_eq!(peer.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(tcp.is_closing() && !tcp.is_active());
    run(&lp);
    assert_eq!((tcp.close_reset(), trace.take()), (Err(Errno::EINVAL), vec![]));
    assert_eq!(lp.handles().len(), 1);
}

#[test]
fn its_close_callback_is_the_last_that_is_heard() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    let line = trace.clone();
    tcp.close_reset_then(move |tcp| line.add(format!("closed {}", tcp.is_closing()))).unwrap();
    trace.add("returned");
    assert_eq!(peer.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    run(&lp);
    assert_eq!(trace.take(), ["returned", "closed true"]);
    assert_eq!(tcp.close_reset_then(|_| panic!("it is closed")), Err(Errno::EINVAL));
}

#[test]
fn the_number_of_its_descriptor_is_known_while_it_has_one() {
    let lp = new_loop();
    assert_eq!(Tcp::new(&lp).unwrap().raw_fd(), Err(Errno::EBADF));
    let (tcp, _peer) = pair(&lp);
    assert!(tcp.raw_fd().unwrap() > 2);
    tcp.close().unwrap();
    assert_eq!(tcp.raw_fd(), Err(Errno::EBADF));
}

#[test]
fn a_plain_close_is_no_reset() {
    let lp = new_loop();
    let (tcp, mut peer) = pair(&lp);
    tcp.close().unwrap();
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_peer_that_reads_in_a_loop_is_told_econnreset_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (ours, theirs) = pair(&lp);
    let (peer, line) = (Tcp::new(&lp).unwrap(), trace.clone());
    peer.open(theirs).unwrap();
    peer.read_start(move |peer, read| line.add(format!("{read:?} {}", peer.is_readable()))).unwrap();
    ours.close_reset().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["Err(ECONNRESET) false"]);
}

#[test]
fn unsent_writes_are_canceled_and_what_the_kernel_had_is_dropped() {
    let (lp, trace) = (Loop::new().unwrap(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    fill(&tcp);
    tcp.write(vec![0; 1 << 20], trace.tells("one")).unwrap();
    tcp.write("x", trace.tells("two")).unwrap();
    tcp.close_reset().unwrap();
    trace.add("returned");
    run(&lp);
    assert_eq!(trace.take(), ["returned", "one ECANCELED", "two ECANCELED"]);
    assert_eq!(lp.check_closable(), Ok(()));
    let error = peer.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn while_shutting_down_it_is_einval_and_the_handle_stays_open() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    tcp.write("all of it", trace.tells("write")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    assert_eq!(tcp.close_reset(), Err(Errno::EINVAL));
    assert!(!tcp.is_closing());
    // It does what it would have done, and closing it is no reset.
    let line = trace.clone();
    tcp.read_start(move |tcp, read| {
        line.add(format!("{read:?}"));
        tcp.close().unwrap();
    })
    .unwrap();
    run_until(&lp, || trace.len() == 2);
    peer.write_all(b"!").unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["write ok", "shutdown ok", "Ok([33])"]);
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "all of it");
}

#[test]
fn after_the_shutdown_it_is_allowed() {
    let lp = new_loop();
    let (tcp, mut peer) = pair(&lp);
    tcp.shutdown(|tcp, ended| {
        ended.unwrap();
        tcp.close_reset().unwrap();
    })
    .unwrap();
    run(&lp);
    assert_eq!(lp.handles().len(), 1);
    // The end of the stream had come first; what the peer sends now meets nobody.
    assert!(matches!(peer.read(&mut [0]), Ok(0) | Err(_)));
    assert!(peer.write(b"x").is_err() || peer.write(b"x").is_err());
}

#[test]
fn without_a_socket_it_is_ebadf_and_the_handle_stays_open() {
    let lp = new_loop();
    let tcp = Tcp::new(&lp).unwrap();
    assert_eq!(tcp.close_reset(), Err(Errno::EBADF));
    assert!(!tcp.is_closing());
    tcp.close().unwrap();
    assert_eq!(tcp.close_reset(), Err(Errno::EINVAL));
    run(&lp);
}

#[test]
fn while_connecting_the_connect_is_canceled() {
    let (lp, trace) = (new_loop(), Trace::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.connect(listener.local_addr().unwrap(), trace.tells("connect")).unwrap();
    tcp.write("x", trace.tells("write")).unwrap();
    tcp.close_reset().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ECANCELED", "write ECANCELED"]);
    let error = listener.accept().unwrap().0.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn it_may_be_called_in_the_connection_s_own_callbacks() {
    let (lp, trace, closed) = (new_loop(), Trace::new(), Rc::new(Cell::new(0)));
    let (reader, mut first) = pair(&lp);
    let (writer, mut second) = pair(&lp);
    let line = trace.clone();
    reader
        .read_start(move |tcp, read| {
            line.add(format!("{:?}", read.map(<[u8]>::len)));
            tcp.close_reset().unwrap();
            // It is closing: there is no second way to be told of it.
            let count = Rc::clone(&closed);
            assert_eq!(tcp.close_then(move |_: &Handle| count.set(1)), Err(Errno::EINVAL));
        })
        .unwrap();
    let line = trace.clone();
    writer
        .write("x", move |tcp, written| {
            line.add(outcome("write", written));
            tcp.close_reset().unwrap();
        })
        .unwrap();
    first.write_all(&[0; 100]).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["write ok", "Ok(100)"]);
    assert_eq!(first.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(second.read_to_end(&mut Vec::new()).unwrap_err().kind(), ErrorKind::ConnectionReset);
}
