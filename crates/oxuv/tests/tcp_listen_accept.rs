//! Listening, and taking connections.

mod common;

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use common::{Trace, bound, connect, ms, new_loop, outcome, pair, run, run_until, turn, wait_until};
use oxuv::{BindFlags, Check, Errno, Loop, Mode, Tcp, Timer};

/// A line for each turn.
fn mark_turns(lp: &Loop, trace: &Trace) {
    let check = Check::new(lp).unwrap();
    check.start(trace.adds("check")).unwrap();
    check.unref().unwrap();
}

#[test]
fn each_readiness_gives_one_connection() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server
        .listen(16, move |server, connection| {
            line.add(outcome("connection", connection));
            server.accept().unwrap();
        })
        .unwrap();
    let _peers = [connect(address), connect(address), connect(address)];
    for _ in 0..3 {
        assert_eq!(lp.run(Mode::Once), Ok(true));
        assert_eq!(trace.take(), ["connection ok", "check"]);
    }
    turn(&lp);
    assert_eq!(trace.take(), ["check"]);
}

#[test]
fn a_connection_that_is_not_taken_holds_the_others_back_until_it_is() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server.listen(16, move |_, connection| line.add(outcome("connection", connection))).unwrap();
    let peers = [connect(address), connect(address)];
    run_until(&lp, || trace.len() == 1);
    for _ in 0..5 {
        turn(&lp);
    }
    assert_eq!(trace.take(), ["connection ok"]);

    // It sleeps meanwhile.
    let turns = lp.turns();
    Timer::new(&lp).unwrap().start(ms(30), |timer| timer.owner().stop()).unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert!(lp.turns() - turns <= 2);

    let first = server.accept().unwrap();
    assert_eq!(first.peer_addr(), Ok(peers[0].local_addr().unwrap()));
    assert_eq!(server.accept().unwrap_err(), Errno::EAGAIN);
    run_until(&lp, || trace.len() == 1);
    let second = server.accept().unwrap();
    assert_eq!(second.peer_addr(), Ok(peers[1].local_addr().unwrap()));
}

#[test]
fn with_no_connection_waiting_accept_is_eagain() {
    let lp = new_loop();
    let (server, _) = bound(&lp);
    assert_eq!(server.accept().unwrap_err(), Errno::EAGAIN);
    server.listen(1, |_, _| {}).unwrap();
    assert_eq!(server.accept().unwrap_err(), Errno::EAGAIN);
}

#[test]
fn a_second_accept_in_the_callback_is_eagain() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server
        .listen(16, move |server, _| {
            server.accept().unwrap();
            line.add(outcome("second", server.accept().map(drop)));
            server.close().unwrap();
        })
        .unwrap();
    let _peers = [connect(address), connect(address)];
    run_until(&lp, || server.is_closing());
    assert_eq!(trace.take(), ["second EAGAIN"]);
}

#[test]
fn an_accepted_connection_knows_both_addresses_and_carries_bytes() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let client = Rc::new(RefCell::new(None));
    let slot = Rc::clone(&client);
    server.listen(16, move |server, _| *slot.borrow_mut() = Some(server.accept().unwrap())).unwrap();
    let mut peer = connect(address);
    peer.write_all(b"hello").unwrap();
    run_until(&lp, || client.borrow().is_some());

    let client = client.take().unwrap();
    assert!(client.is_readable() && client.is_writable() && !client.is_active());
    assert_eq!(client.local_addr(), Ok(address));
    assert_eq!(client.peer_addr(), Ok(peer.local_addr().unwrap()));
    let line = trace.clone();
    client.read_start(move |_, read| line.add(String::from_utf8(read.unwrap().to_vec()).unwrap())).unwrap();
    client.write("world", trace.tells("write")).unwrap();
    run_until(&lp, || trace.len() == 2);
    let mut answer = [0; 5];
    peer.read_exact(&mut answer).unwrap();
    assert_eq!((trace.take(), &answer), (["write ok", "hello"].map(String::from).to_vec(), b"world"));
}

#[test]
fn listening_again_sets_the_new_closure() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server.listen(1, move |_, _| line.add("old")).unwrap();
    let line = trace.clone();
    server.listen(16, move |_, _| line.add("new")).unwrap();
    let _peer = connect(address);
    run_until(&lp, || trace.len() > 0);
    assert_eq!(trace.take(), ["new"]);
}

#[test]
fn listening_again_in_the_callback_lets_that_call_end_undisturbed() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server
        .listen(16, move |server, _| {
            let next = line.clone();
            server.listen(16, move |_, _| next.add("second")).unwrap();
            server.accept().unwrap();
            line.add("first");
        })
        .unwrap();
    let _peers = [connect(address), connect(address)];
    run_until(&lp, || trace.len() == 2);
    assert_eq!(trace.take(), ["first", "second"]);
}

#[test]
fn an_address_in_use_is_told_by_listen_and_not_by_bind() {
    let lp = new_loop();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let server = Tcp::new(&lp).unwrap();
    assert_eq!(server.bind(address), Ok(()));
    assert_eq!(server.local_addr(), Err(Errno::EADDRINUSE));
    assert_eq!(server.peer_addr(), Err(Errno::EADDRINUSE));
    assert_eq!(server.listen(1, |_, _| {}), Err(Errno::EADDRINUSE));
    assert!(!server.is_active());

    // Another address will do.
    assert_eq!(server.bind(([127, 0, 0, 1], 0).into()), Ok(()));
    assert_eq!(server.listen(1, |_, _| {}), Ok(()));
}

#[test]
fn a_second_bind_is_einval() {
    let lp = new_loop();
    let (server, address) = bound(&lp);
    assert_eq!(server.bind(([127, 0, 0, 1], 0).into()), Err(Errno::EINVAL));
    assert_eq!(server.local_addr(), Ok(address));
}

#[test]
fn several_listeners_share_an_address_if_they_ask_for_it() {
    let lp = new_loop();
    let flags = BindFlags { reuse_port: true, ..BindFlags::default() };
    let (one, two) = (Tcp::new(&lp).unwrap(), Tcp::new(&lp).unwrap());
    one.bind_with(([127, 0, 0, 1], 0).into(), flags).unwrap();
    two.bind_with(one.local_addr().unwrap(), flags).unwrap();
    assert_eq!(one.listen(1, |_, _| {}), Ok(()));
    assert_eq!(two.listen(1, |_, _| {}), Ok(()));
}

#[test]
fn a_closed_listener_refuses_connections_and_drops_the_one_that_waited() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server.listen(16, move |_, _| line.add("connection")).unwrap();
    let mut waiting = connect(address);
    run_until(&lp, || trace.len() == 1);
    server.close().unwrap();
    // Both descriptors are closed with the call.
    assert_eq!(waiting.read(&mut [0]).unwrap(), 0);
    assert!(TcpStream::connect(address).is_err());
    assert_eq!(server.accept().unwrap_err(), Errno::EINVAL);
    run(&lp);
    assert_eq!(trace.take(), ["connection"]);
}

#[test]
fn a_listener_closed_in_its_callback_with_the_connection_taken_leaves_that_open() {
    let lp = new_loop();
    let (server, address) = bound(&lp);
    server
        .listen(16, |server, _| {
            server.accept().unwrap().write("hello", |tcp, _| tcp.close().unwrap()).unwrap();
            server.close().unwrap();
        })
        .unwrap();
    let mut peer = connect(address);
    run(&lp);
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
}

#[test]
fn a_listener_made_elsewhere_can_be_taken_over() {
    let (lp, trace) = (new_loop(), Trace::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = Tcp::new(&lp).unwrap();
    server.open(listener).unwrap();
    let line = trace.clone();
    server.listen(16, move |_, _| line.add("connection")).unwrap();
    let _peer = connect(address);
    run_until(&lp, || trace.len() == 1);
}

#[test]
fn a_listener_that_foreign_hands_shut_down_says_so_once_and_rests() {
    let (lp, trace) = (new_loop(), Trace::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let copy = TcpStream::from(OwnedFd::from(listener.try_clone().unwrap()));
    let server = Tcp::new(&lp).unwrap();
    server.open(listener).unwrap();
    let line = trace.clone();
    server.listen(16, move |_, connection| line.add(outcome("connection", connection))).unwrap();
    turn(&lp);
    copy.shutdown(Shutdown::Both).unwrap();
    run_until(&lp, || trace.len() > 0);
    for _ in 0..5 {
        turn(&lp);
    }
    assert_eq!(trace.take(), ["connection EINVAL"]);
}

#[test]
fn a_peer_that_is_gone_before_its_connection_is_taken_does_no_harm() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server
        .listen(16, move |server, connection| {
            connection.unwrap();
            let line = line.clone();
            server.accept().unwrap().read_start(move |_, read| line.add(outcome("read", read.map(drop)))).unwrap();
        })
        .unwrap();
    drop(connect(address));
    run_until(&lp, || trace.len() == 1);
    assert_eq!(trace.take(), ["read EOF"]);
}

#[test]
fn open_takes_a_socket_once_and_only_a_socket() {
    let lp = new_loop();
    let (tcp, mut peer) = pair(&lp);
    let (other, mut other_peer) = UnixStream::pair().unwrap();
    assert_eq!(tcp.open(other), Err(Errno::EBUSY));
    // The refused socket is closed, the first is not.
    assert_eq!(other_peer.read(&mut [0]).unwrap(), 0);
    assert_eq!(tcp.try_write(b"x"), Ok(1));
    peer.read_exact(&mut [0]).unwrap();

    let fresh = Tcp::new(&lp).unwrap();
    let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    assert_eq!(fresh.open(file), Err(Errno::ENOTSOCK));
    assert_eq!(fresh.local_addr(), Err(Errno::EBADF));
}

#[test]
fn hundreds_of_connections_at_once_are_all_announced() {
    const PEERS: usize = 400;
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let line = trace.clone();
    server
        .listen(4096, move |server, _| {
            line.add("connection");
            server.accept().unwrap().close().unwrap();
        })
        .unwrap();
    let peers = std::thread::spawn(move || {
        let peers: Vec<_> = (0..PEERS).map(|_| connect(address)).collect();
        for mut peer in peers {
            assert_eq!(peer.read(&mut [0]).unwrap(), 0);
        }
    });
    run_until(&lp, || trace.len() == PEERS);
    wait_until(|| peers.is_finished());
    peers.join().unwrap();
    turn(&lp);
    assert_eq!(trace.len(), PEERS);
}
