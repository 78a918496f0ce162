//! Connects that come to nothing.

mod common;

use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;

use common::{Trace, bound, new_loop, outcome, panic_of, run, turn};
use oxuv::{Errno, Loop, LoopRef, Mode, Prepare, Tcp};

/// A listener outside.
fn outside() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An address at which nobody listens, as long as the handle has it.
fn refusing(lp: &LoopRef) -> (Tcp, SocketAddr) {
    bound(lp)
}

/// Closes a handle, and adds a line when it is closed.
fn closes(tcp: &Tcp, trace: &Trace) {
    let line = trace.clone();
    tcp.close_then(move |_| line.add("closed")).unwrap();
}

/// The name of the error that a call is refused with.
fn name(refused: Result<(), Errno>) -> &'static str {
    refused.unwrap_err().name().unwrap()
}

#[test]
fn refused_it_is_told_so_then_the_writes_then_the_shutdown_and_the_handle_can_be_closed() {
    let (lp, trace) = (Loop::new().unwrap(), Trace::new());
    let (holder, address) = refusing(&lp);
    let tcp = Tcp::new(&lp).unwrap();
    let owned = Rc::new(vec![7_u8; 100]);
    tcp.connect(address, trace.tells("connect")).unwrap();
    tcp.write(SharedBytes(Rc::clone(&owned)), trace.tells("one")).unwrap();
    tcp.write(SharedBytes(Rc::clone(&owned)), trace.tells("two")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    trace.add("returned");
    run(&lp);
    let lines = ["returned", "connect ECONNREFUSED", "one ECANCELED", "two ECANCELED", "shutdown ENOTCONN"];
    assert_eq!(trace.take(), lines);
    assert_eq!((tcp.write_queue_size(), Rc::strong_count(&owned)), (0, 1));
    assert!(!tcp.is_closing() && !lp.is_alive());
    closes(&tcp, &trace);
    holder.close().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["closed"]);
    assert_eq!(lp.check_closable(), Ok(()));
}

struct SharedBytes(Rc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[test]
fn refused_without_writes_the_shutdown_follows_too() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_holder, address) = refusing(&lp);
    let tcp = Tcp::new(&lp).unwrap();
    tcp.connect(address, trace.tells("connect")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ECONNREFUSED", "shutdown ENOTCONN"]);
}

#[test]
fn closed_in_the_callback_of_a_refusal_the_rest_is_canceled_in_closing() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_holder, address) = refusing(&lp);
    let (tcp, line) = (Tcp::new(&lp).unwrap(), trace.clone());
    tcp.connect(address, move |tcp, connected| {
        line.add(outcome("connect", connected));
        closes(tcp, &line);
    })
    .unwrap();
    tcp.write("x", trace.tells("write")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ECONNREFUSED", "write ECANCELED", "shutdown ECANCELED", "closed"]);
}

#[test]
fn after_a_refusal_the_next_connect_is_refused_too_and_the_one_after_it_is_made() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_holder, nowhere) = refusing(&lp);
    let (listener, address) = outside();
    let (tcp, line) = (Tcp::new(&lp).unwrap(), trace.clone());
    tcp.connect(nowhere, move |tcp, connected| {
        line.add(outcome("first", connected));
        // Linux first tells that the socket's connect was aborted.
        assert_eq!(tcp.connect(address, |_, _| panic!("it was refused")), Err(Errno::ECONNABORTED));
        tcp.connect(address, line.tells("third")).unwrap();
        tcp.write("hello", line.tells("write")).unwrap();
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["first ECONNREFUSED", "third ok", "write ok"]);
    assert_eq!((tcp.peer_addr(), listener.accept().is_ok()), (Ok(address), true));
}

#[test]
fn a_read_that_waits_for_a_connection_ends_when_that_is_refused() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_holder, address) = refusing(&lp);
    let (tcp, line) = (Tcp::new(&lp).unwrap(), trace.clone());
    tcp.connect(address, trace.tells("connect")).unwrap();
    tcp.read_start(move |_, read| line.add(format!("read {}", read.is_ok()))).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ECONNREFUSED", "read false"]);
}

#[test]
fn closed_while_connecting_connect_writes_and_shutdown_are_canceled_in_this_order() {
    let (lp, trace) = (Loop::new().unwrap(), Trace::new());
    let (listener, address) = outside();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.connect(address, trace.tells("connect")).unwrap();
    tcp.write("1", trace.tells("one")).unwrap();
    tcp.write("2", trace.tells("two")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    closes(&tcp, &trace);
    trace.add("returned");
    run(&lp);
    let lines = ["returned", "connect ECANCELED", "one ECANCELED", "two ECANCELED", "shutdown ECANCELED", "closed"];
    assert_eq!(trace.take(), lines);
    assert_eq!(lp.check_closable(), Ok(()));
    // The kernel had connected it meanwhile; nothing was sent.
    let mut text = String::new();
    listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
    assert_eq!(text, "");
}

#[test]
fn a_loop_that_is_dropped_while_connecting_calls_nobody() {
    let (_listener, address) = outside();
    let (lp, trace, owned) = (Loop::new().unwrap(), Trace::new(), Rc::new(()));
    let (tcp, own, line) = (Tcp::new(&lp).unwrap(), Rc::clone(&owned), trace.clone());
    tcp.connect(address, move |_, _| {
        line.add("connect");
        drop(own);
    })
    .unwrap();
    drop(lp);
    assert_eq!((trace.take(), Rc::strong_count(&owned)), (vec![], 1));
}

#[test]
fn an_address_in_use_that_bind_has_found_is_told_by_the_callback_in_pending_and_then_forgotten() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (listener, address) = outside();
    let (tcp, prepare) = (Tcp::new(&lp).unwrap(), Prepare::new(&lp).unwrap());
    prepare.start(trace.adds("prepare")).unwrap();
    tcp.bind(address).unwrap();
    assert_eq!(tcp.local_addr(), Err(Errno::EADDRINUSE));
    tcp.connect(address, trace.tells("connect")).unwrap();
    assert_eq!(tcp.connect(address, |_, _| {}), Err(Errno::EALREADY));
    assert_eq!(name(tcp.write("x", trace.tells("write"))), "EPIPE", "there is no connection under way");
    trace.add("returned");
    turn(&lp);
    assert_eq!(trace.take(), ["returned", "connect EADDRINUSE", "prepare"]);
    // Nobody has seen it.
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());

    tcp.connect(address, trace.tells("second")).unwrap();
    prepare.stop().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["second ok"]);
    assert_eq!((tcp.peer_addr(), listener.accept().is_ok()), (Ok(address), true));
}

#[test]
fn what_the_kernel_knows_at_once_is_returned_and_nobody_is_called() {
    let (lp, trace, owned) = (new_loop(), Trace::new(), Rc::new(()));
    let (listener, address) = outside();
    // No connection can be made to everybody.
    let tcp = Tcp::new(&lp).unwrap();
    let own = Rc::clone(&owned);
    let broadcast = SocketAddr::from(([255, 255, 255, 255], 9));
    assert_eq!(name(tcp.connect(broadcast, move |_, _| drop(own))), "ENETUNREACH");
    // The socket is one for IPv4 by now.
    let own = Rc::clone(&owned);
    let other: SocketAddr = "[::1]:9".parse().unwrap();
    assert_eq!(name(tcp.connect(other, move |_, _| drop(own))), "EAFNOSUPPORT");
    assert_eq!((Rc::strong_count(&owned), lp.is_alive()), (1, false));
    // As libuv has it, which has given it a socket.
    assert!(tcp.is_writable());
    // It is none the worse for it.
    tcp.connect(address, trace.tells("connect")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ok"]);
    drop(listener);
}

#[test]
fn a_panic_in_the_callback_leaves_the_writes_to_be_told_later() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_holder, nowhere) = refusing(&lp);
    let (_listener, address) = outside();
    for (address, is_ok) in [(nowhere, false), (address, true)] {
        let tcp = Tcp::new(&lp).unwrap();
        tcp.connect(address, |_, _| panic!("in a callback")).unwrap();
        for name in ["one", "two"] {
            let line = trace.clone();
            tcp.write("x", move |_, written| line.add(format!("{name} {}", written.is_ok()))).unwrap();
        }
        let line = trace.clone();
        tcp.shutdown(move |_, ended| line.add(format!("shutdown {}", ended.is_ok()))).unwrap();
        assert_eq!(panic_of(|| lp.run(Mode::Once)), "in a callback");
        assert_eq!(trace.take(), [""; 0]);
        run(&lp);
        assert_eq!(trace.take(), ["one", "two", "shutdown"].map(|name| format!("{name} {is_ok}")));
    }
}

#[test]
fn connecting_anew_in_the_callback_of_a_refusal_loses_nothing_of_before() {
    for (panics, ends) in [(false, false), (false, true), (true, false), (true, true)] {
        let (lp, trace) = (new_loop(), Trace::new());
        let (_holder, nowhere) = refusing(&lp);
        let (_listener, address) = outside();
        let (tcp, line) = (Tcp::new(&lp).unwrap(), trace.clone());
        tcp.connect(nowhere, move |tcp, _| {
            assert_eq!(tcp.connect(address, |_, _| {}), Err(Errno::ECONNABORTED));
            tcp.connect(address, line.tells("connect")).unwrap();
            if ends {
                // The one from before waits still.
                assert_eq!(tcp.shutdown(|_, _| {}), Err(Errno::ENOTCONN));
                tcp.write("new", line.tells("new")).unwrap();
            }
            assert!(!panics, "in a callback");
        })
        .unwrap();
        tcp.write("old", trace.tells("old")).unwrap();
        if ends {
            tcp.shutdown(trace.tells("shutdown")).unwrap();
        }
        if panics {
            assert_eq!(panic_of(|| lp.run(Mode::Once)), "in a callback");
        }
        run(&lp);
        let mut lines = trace.take();
        if ends {
            assert_eq!(lines.pop().unwrap(), "shutdown ok");
            assert_eq!(lines.iter().position(|line| line == "new ok"), Some(2));
            lines.pop();
        }
        lines.sort();
        assert_eq!(lines, ["connect ok", "old ECANCELED"], "{panics} {ends}");
    }
}
