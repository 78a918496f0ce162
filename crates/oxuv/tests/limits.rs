//! Many connections, and servers at their limit of descriptors.

mod common;

use std::cell::RefCell;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::example::{Example, echo_server, echo_server_limited};
use common::{Trace, connect, guard, in_child, ms, open_descriptors, outcome, processor_time, run_until, wait_until};
use oxuv::{Loop, Mode, Tcp, Timer};
use rustix::net::sockopt::set_socket_linger;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Lets this process, and those that it starts, have this many descriptors. False where that is not allowed.
fn allow_descriptors(wanted: u64) -> bool {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.maximum.is_some_and(|maximum| maximum < wanted) {
        println!("skipped: only {:?} descriptors are allowed, not {wanted}", limit.maximum);
        return false;
    }
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(wanted);
        setrlimit(Resource::Nofile, limit).unwrap();
    }
    true
}

/// Says something and gets it back.
fn talk(peer: &mut TcpStream, nth: usize) -> std::io::Result<()> {
    let message = (nth as u64).to_le_bytes();
    peer.write_all(&message)?;
    let mut back = [0; 8];
    peer.read_exact(&mut back)?;
    assert_eq!(back, message);
    Ok(())
}

/// Closes a connection without a word: the other end gets a reset.
fn reset(peer: TcpStream) {
    set_socket_linger(&peer, Some(Duration::ZERO)).unwrap();
}

/// A number that the kernel tells of a process.
fn status(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The memory that a process has of its own, without the kernel's for it, in bytes.
fn memory_of(process: u32) -> u64 {
    status(process, "VmRSS") * 1024
}

/// How often a process has gone to sleep.
fn sleeps(process: u32) -> u64 {
    status(process, "voluntary_ctxt_switches")
}

/// Whether a process does nothing at all in a second.
fn assert_idle(server: &Example) {
    sleep(ms(100));
    let before = (sleeps(server.id()), processor_time(server.id()));
    sleep(Duration::from_secs(1));
    assert_eq!((sleeps(server.id()), processor_time(server.id())), before, "(sleeps, ticks)");
}

#[test]
fn thousands_of_connections_are_served_and_cost_little_and_nothing_while_idle() {
    const MANY: usize = 9000;
    if !allow_descriptors(MANY as u64 + 4000) {
        return;
    }
    let start = Instant::now();
    let (server, address) = echo_server("tcp_echo");
    let process = server.id().to_string();
    let descriptors = open_descriptors(&process);
    talk(&mut connect(address), 0).unwrap();
    wait_until(|| open_descriptors(&process) == descriptors);
    let memory = memory_of(server.id());

    let mut peers = Vec::new();
    while peers.len() < MANY {
        // In portions, since the listener's queue does not take all of them at once.
        peers.extend((0..500).map(|_| connect(address)));
        for (nth, peer) in peers.iter_mut().enumerate().rev().take(500) {
            talk(peer, nth).unwrap();
        }
    }
    assert_eq!(open_descriptors(&process), descriptors + MANY);
    let each = (memory_of(server.id()) - memory) as f64 / MANY as f64;
    println!("{MANY} connections in {:?}, {each:.0} bytes each", start.elapsed());
    assert!(each < 4096.0, "{each} bytes for an idle connection");
    assert_idle(&server);

    for peer in peers.split_off(MANY / 2) {
        reset(peer);
    }
    wait_until(|| open_descriptors(&process) == descriptors + MANY / 2);
    assert_idle(&server);
    for (nth, peer) in peers.iter_mut().enumerate() {
        talk(peer, nth).unwrap();
    }
    drop(peers);
    wait_until(|| open_descriptors(&process) == descriptors);
    println!("all over after {:?}", start.elapsed());
}

#[test]
fn a_flood_of_connections_at_the_limit_is_shed_and_those_that_were_there_are_served_on() {
    const FLOOD: usize = 2000;
    const LIMIT: u32 = 256;
    if !allow_descriptors(FLOOD as u64 + 11_000) {
        return;
    }
    let (server, address) = echo_server_limited("tcp_echo", LIMIT);
    let process = server.id().to_string();
    let descriptors = open_descriptors(&process);
    let mut peers: Vec<TcpStream> = (0..FLOOD).map(|_| connect(address)).collect();

    // Each is served or turned away; nobody is left to wait.
    let mut served = Vec::new();
    for (nth, mut peer) in peers.drain(..).enumerate() {
        match talk(&mut peer, nth) {
            Ok(()) => served.push(peer),
            Err(error) => assert!(is_an_end(&error), "{error}"),
        }
    }
    println!("{} of {FLOOD} served, {} ticks", served.len(), processor_time(server.id()));
    assert!((200..LIMIT as usize).contains(&served.len()));
    assert!(processor_time(server.id()) < 100, "a second of processor time");
    assert_idle(&server);
    for (nth, peer) in served.iter_mut().enumerate() {
        talk(peer, nth).unwrap();
    }

    // When they go, others are served again.
    for peer in served {
        reset(peer);
    }
    wait_until(|| open_descriptors(&process) == descriptors);
    for round in 0..2 {
        let mut peers: Vec<TcpStream> = (0..200).map(|_| connect(address)).collect();
        for peer in &mut peers {
            talk(peer, round).unwrap();
        }
        drop(peers);
        wait_until(|| open_descriptors(&process) == descriptors);
    }
}

/// Whether this is what one gets who was turned away.
fn is_an_end(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

#[test]
fn without_a_descriptor_to_give_up_a_listener_tries_again_without_spinning() {
    in_child("without_a_descriptor_to_give_up_a_listener_tries_again_without_spinning", 64, || {
        let (lp, trace) = (Loop::new().unwrap(), Trace::new());
        guard(&lp);
        // One made elsewhere, given to the loop when there is none left for a reserve.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let mut peer = connect(address);
        let mut eaten: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        let server = Tcp::new(&lp).unwrap();
        server.open(listener).unwrap();
        let (line, client) = (trace.clone(), Rc::new(RefCell::new(None)));
        let slot = Rc::clone(&client);
        server
            .listen(8, move |server, connection| {
                line.add(outcome("connection", connection));
                if connection.is_ok() {
                    *slot.borrow_mut() = Some(server.accept().unwrap());
                }
            })
            .unwrap();
        let timer = Timer::new(&lp).unwrap();
        timer.start(ms(300), |timer| timer.owner().stop()).unwrap();
        assert_eq!(lp.run(Mode::Default), Ok(true));
        // It asks every 10 milliseconds.
        let lines = trace.take();
        assert!((2..=40).contains(&lines.len()) && lines.iter().all(|line| line == "connection EMFILE"), "{lines:?}");
        assert!(lp.turns() <= 80, "{} turns", lp.turns());

        // The connection was kept waiting all the time.
        eaten.truncate(10);
        run_until(&lp, || client.borrow().is_some());
        let client: Tcp = client.take().unwrap();
        client.write("hello", |_, written| written.unwrap()).unwrap();
        client.shutdown(|_, ended| ended.unwrap()).unwrap();
        server.close().unwrap();
        run_until(&lp, || !lp.is_alive());
        let mut text = String::new();
        peer.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
    });
}
