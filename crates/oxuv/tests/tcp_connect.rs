//! Connecting.

mod common;

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;

use common::{Trace, assert_idle, bound, connect, ms, new_loop, outcome, run, run_until, turn};
use oxuv::{Check, Errno, Prepare, Tcp};

/// A listener outside.
fn outside() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn it_is_told_in_poll_and_never_inside_the_call() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (listener, address) = outside();
    let (prepare, check) = (Prepare::new(&lp).unwrap(), Check::new(&lp).unwrap());
    prepare.start(trace.adds("prepare")).unwrap();
    check.start(trace.adds("check")).unwrap();
    prepare.unref().unwrap();
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
fn a_second_connect_is_ealready_while_connecting_and_eisconn_when_connected() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (_listener, address) = outside();
    let (_other_listener, other) = outside();
    let (tcp, owned) = (Tcp::new(&lp).unwrap(), Rc::new(()));
    tcp.connect(address, trace.tells("first")).unwrap();
    let own = Rc::clone(&owned);
    assert_eq!(tcp.connect(other, move |_, _| drop(own)), Err(Errno::EALREADY));
    run(&lp);
    for address in [address, other] {
        let own = Rc::clone(&owned);
        assert_eq!(tcp.connect(address, move |_, _| drop(own)), Err(Errno::EISCONN));
    }
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
    assert_eq!(server.connect(elsewhere, |_, _| {}), Err(Errno::EISCONN));
    let _peer = connect(address);
    run_until(&lp, || trace.len() == 1);
    assert_eq!(trace.take(), ["connection ok"]);
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
fn while_nobody_answers_the_loop_sleeps() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    server.listen(0, |_, _| {}).unwrap();
    // With the listener's queue full the kernel leaves further ones without an answer. (It takes one more than told.)
    let _first = connect(address);
    run_until(&lp, || server.accept().is_ok());
    server.unref().unwrap();
    let _second = connect(address);

    let tcp = Tcp::new(&lp).unwrap();
    tcp.connect(address, trace.tells("connect")).unwrap();
    tcp.write("x", trace.tells("write")).unwrap();
    assert_idle(&lp, ms(200));
    assert_eq!((trace.take(), tcp.peer_addr()), (vec![], Err(Errno::ENOTCONN)));

    // With room in the queue again, the kernel's next attempt succeeds.
    server.accept().unwrap();
    run_until(&lp, || trace.len() == 2);
    assert_eq!(trace.take(), ["connect ok", "write ok"]);
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
                    Ok(bytes) => client.write(Vec::from(bytes), |_, written| written.unwrap()).unwrap(),
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
