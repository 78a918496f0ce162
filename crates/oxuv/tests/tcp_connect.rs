//! Connecting.

mod common;

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;

use common::{Trace, bound, connect, ms, new_loop, outcome, panic_of, run, run_until, turn};
use oxuv::{Check, Errno, Loop, LoopRef, Mode, Prepare, Tcp, Timer};

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
fn it_is_told_in_poll_and_never_inside_the_call() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (listener, address) = outside();
    for (watcher, line) in [(Prepare::new(&lp).unwrap(), "prepare")] {
        watcher.start(trace.adds(line)).unwrap();
        watcher.unref().unwrap();
    }
    let check = Check::new(&lp).unwrap();
    check.start(trace.adds("check")).unwrap();
    check.unref().unwrap();

    let tcp = Tcp::new(&lp).unwrap();
    tcp.connect(address, trace.tells("connect")).unwrap();
    trace.add("returned");
    // The request keeps the loop running, not the handle.
    assert!(lp.is_alive() && !tcp.is_active());
    run(&lp);
    assert_eq!(trace.take(), ["returned", "prepare", "connect ok", "check"]);
    assert_eq!(tcp.peer_addr(), Ok(address));
    assert_eq!(tcp.local_addr(), Ok(listener.accept().unwrap().1));
    assert!(tcp.is_readable() && tcp.is_writable() && !lp.is_alive());
}

#[test]
fn a_connection_carries_bytes_both_ways() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else {
            println!("skipped: there is no {address}");
            continue;
        };
        let (lp, trace) = (new_loop(), Trace::new());
        let (tcp, line) = (Tcp::new(&lp).unwrap(), trace.clone());
        tcp.connect(listener.local_addr().unwrap(), move |tcp, connected| {
            connected.unwrap();
            tcp.write("hello", |_, written| written.unwrap()).unwrap();
            tcp.read_start(move |_, read| line.add(format!("{:?}", read.map(<[u8]>::len)))).unwrap();
        })
        .unwrap();
        turn(&lp);
        let (mut peer, mut hello) = (listener.accept().unwrap().0, [0; 5]);
        peer.read_exact(&mut hello).unwrap();
        assert_eq!(&hello, b"hello");
        peer.write_all(b"good bye").unwrap();
        run_until(&lp, || trace.len() == 1);
        drop(peer);
        run(&lp);
        assert_eq!(trace.take(), ["Ok(8)", "Err(EOF)"]);
    }
}

#[test]
fn a_handle_that_is_bound_connects_from_there() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (listener, address) = outside();
    let (tcp, ours) = bound(&lp);
    tcp.connect(address, trace.tells("connect")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ok"]);
    assert_eq!(listener.accept().unwrap().1, ours);
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
fn after_a_refusal_another_address_may_be_tried_in_the_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_holder, nowhere) = refusing(&lp);
    let (listener, address) = outside();
    let (tcp, line) = (Tcp::new(&lp).unwrap(), trace.clone());
    tcp.connect(nowhere, move |tcp, connected| {
        line.add(outcome("first", connected));
        tcp.connect(address, line.tells("second")).unwrap();
        tcp.write("hello", line.tells("write")).unwrap();
    })
    .unwrap();
    run_until(&lp, || trace.len() == 3);
    let lines = trace.take();
    assert_eq!(lines[..2], ["first ECONNREFUSED", "second ok"], "{lines:?}");
    assert_eq!(tcp.peer_addr(), Ok(address));
    drop(listener);
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
fn a_second_connect_is_ealready_while_connecting_and_eisconn_when_connected() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_listener, address) = outside();
    let (tcp, owned) = (Tcp::new(&lp).unwrap(), Rc::new(()));
    tcp.connect(address, trace.tells("first")).unwrap();
    let own = Rc::clone(&owned);
    assert_eq!(tcp.connect(address, move |_, _| drop(own)), Err(Errno::EALREADY));
    run(&lp);
    let own = Rc::clone(&owned);
    assert_eq!(name(tcp.connect(address, move |_, _| drop(own))), "EISCONN");
    // The refused closures are dropped, the connection is whole, and nothing is left to wait for.
    assert_eq!(Rc::strong_count(&owned), 1);
    assert_eq!((tcp.peer_addr(), lp.is_alive()), (Ok(address), false));
    assert_eq!(trace.take(), ["first ok"]);
}

#[test]
fn a_closing_handle_cannot_connect() {
    let lp = new_loop();
    let (_listener, address) = outside();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.close().unwrap();
    assert_eq!(tcp.connect(address, |_, _| {}), Err(Errno::EINVAL));
    run(&lp);
    assert_eq!(tcp.connect(address, |_, _| {}), Err(Errno::EINVAL));
}

#[test]
fn a_listener_cannot_connect_and_goes_on_listening() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_listener, elsewhere) = outside();
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server.listen(8, move |_, connection| line.add(outcome("connection", connection))).unwrap();
    assert_eq!(name(server.connect(elsewhere, |_, _| {})), "EISCONN");
    let _peer = connect(address);
    run_until(&lp, || trace.len() == 1);
    assert_eq!(trace.take(), ["connection ok"]);
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
fn what_is_written_while_connecting_arrives_in_order_and_the_end_after_it() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (listener, address) = outside();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.connect(address, trace.tells("connect")).unwrap();
    assert_eq!(tcp.try_write(b"0"), Err(Errno::EAGAIN));
    tcp.write("one ", trace.tells("one")).unwrap();
    tcp.write("", trace.tells("nothing")).unwrap();
    tcp.write_vectored(vec!["two", " "], trace.tells("two")).unwrap();
    assert_eq!((tcp.write_queue_size(), tcp.try_write(b"0")), (8, Err(Errno::EAGAIN)));
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    assert_eq!(tcp.write("late", |_, _| {}), Err(Errno::EPIPE));
    run(&lp);
    assert_eq!(trace.take(), ["connect ok", "one ok", "nothing ok", "two ok", "shutdown ok"]);
    let mut text = String::new();
    listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), tcp.write_queue_size()), ("one two ", 0));
}

#[test]
fn a_shutdown_while_connecting_comes_after_the_connect() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (listener, address) = outside();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.connect(address, trace.tells("connect")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    assert_eq!(tcp.shutdown(trace.tells("second")), Err(Errno::ENOTCONN));
    run(&lp);
    assert_eq!(trace.take(), ["connect ok", "shutdown ok"]);
    assert_eq!(listener.accept().unwrap().0.read(&mut [0]).unwrap(), 0);
}

#[test]
fn reading_may_begin_while_connecting() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (listener, address) = outside();
    let (tcp, line) = (Tcp::new(&lp).unwrap(), trace.clone());
    tcp.connect(address, trace.tells("connect")).unwrap();
    tcp.read_start(move |_, read| line.add(format!("{read:?}"))).unwrap();
    assert_eq!(tcp.read_start(|_, _| {}), Err(Errno::EALREADY));
    // The bytes are there before the loop hears of the connection.
    let mut peer = listener.accept().unwrap().0;
    peer.write_all(b"!").unwrap();
    drop(peer);
    run(&lp);
    assert_eq!(trace.take(), ["connect ok", "Ok([33])", "Err(EOF)"]);
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
    tcp.write("x", trace.tells("write")).unwrap();
    trace.add("returned");
    turn(&lp);
    assert_eq!(trace.take(), ["returned", "connect EADDRINUSE", "write ECANCELED", "prepare"]);
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
    assert!(!tcp.is_writable());
    // It is none the worse for it.
    tcp.connect(address, trace.tells("connect")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ok"]);
    drop(listener);
}

#[test]
fn while_nobody_answers_the_loop_sleeps() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    server.listen(0, |_, _| {}).unwrap();
    // With the listener's queue full the kernel leaves further ones without an answer. (It takes one more than told.)
    let mut waiting: Vec<TcpStream> = vec![connect(address)];
    run_until(&lp, || server.accept().is_ok());
    server.unref().unwrap();
    waiting.push(connect(address));

    let late = Tcp::new(&lp).unwrap();
    let stopped = Tcp::new(&lp).unwrap();
    drop(stopped);
    late.connect(address, trace.tells("connect")).unwrap();
    late.write("x", trace.tells("write")).unwrap();
    let timer = Timer::new(&lp).unwrap();
    timer.start(ms(100), |timer| timer.owner().stop()).unwrap();
    let turns = lp.turns();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    println!("{} turns", lp.turns() - turns);
    println!("{:?} {:?}", trace.take(), late.peer_addr());
}

#[test]
fn many_may_connect_at_once() {
    const MANY: usize = 300;
    let (lp, told) = (new_loop(), Rc::new(Cell::new(0)));
    let (server, address) = bound(&lp);
    let mut left = MANY;
    server
        .listen(MANY as i32, move |server, connection| {
            connection.unwrap();
            server
                .accept()
                .unwrap()
                .read_start(|client, read| match read {
                    Ok(bytes) => client.write(bytes.to_vec(), |_, written| written.unwrap()).unwrap(),
                    Err(_) => client.close().unwrap(),
                })
                .unwrap();
            left -= 1;
            if left == 0 {
                server.close().unwrap();
            }
        })
        .unwrap();
    for nth in 0..MANY {
        let (tcp, told) = (Tcp::new(&lp).unwrap(), Rc::clone(&told));
        tcp.connect(address, |_, connected| connected.unwrap()).unwrap();
        tcp.write(nth.to_string(), |_, written| written.unwrap()).unwrap();
        tcp.read_start(move |tcp, read| {
            assert_eq!(read, Ok(nth.to_string().as_bytes()));
            told.set(told.get() + 1);
            tcp.close().unwrap();
        })
        .unwrap();
    }
    run(&lp);
    assert_eq!((told.get(), lp.handles().len()), (MANY, 1));
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
