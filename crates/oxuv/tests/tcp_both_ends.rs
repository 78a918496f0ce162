//! Connections of which one direction ends before the other, and what they cost when nothing happens.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use common::{DEADLINE, Trace, assert_idle, bound, fill, new_loop, outcome, pattern, run, run_until, turn};
use oxuv::{LoopRef, Tcp};

/// A handle that connects to a socket outside.
fn connecting(lp: &LoopRef) -> (Tcp, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp = Tcp::new(lp).unwrap();
    tcp.connect(listener.local_addr().unwrap(), |_, connected| connected.unwrap()).unwrap();
    let peer = listener.accept().unwrap().0;
    peer.set_read_timeout(Some(DEADLINE)).unwrap();
    peer.set_write_timeout(Some(DEADLINE)).unwrap();
    (tcp, peer)
}

const MANY: usize = 4 << 20;
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn we_end_first_and_go_on_reading() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = connecting(&lp);
    tcp.write("question", trace.tells("write")).unwrap();
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    let (line, mut answer) = (trace.clone(), Vec::new());
    tcp.read_start(move |_, read| match read {
        Ok(bytes) => answer.extend_from_slice(bytes),
        Err(error) => line.add(format!("{error:?} {}", answer == pattern(MANY))),
    })
    .unwrap();
    // It answers only when it has read the end.
    let thread = thread::spawn(move || {
        let mut question = String::new();
        peer.read_to_string(&mut question).unwrap();
        peer.write_all(&pattern(MANY)).unwrap();
        question
    });
    run(&lp);
    assert_eq!(trace.take(), ["write ok", "shutdown ok", "EOF true"]);
    assert_eq!(thread.join().unwrap(), "question");
}

#[test]
fn the_peer_ends_first_and_goes_on_reading() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = connecting(&lp);
    peer.write_all(b"question").unwrap();
    peer.shutdown(Shutdown::Write).unwrap();
    let (line, mut question) = (trace.clone(), Vec::new());
    tcp.read_start(move |tcp, read| match read {
        Ok(bytes) => question.extend_from_slice(bytes),
        Err(error) => {
            line.add(format!("{error:?} {}", question == b"question"));
            let line = line.clone();
            tcp.write(pattern(MANY), move |tcp, written| {
                line.add(outcome("write", written));
                tcp.shutdown(line.tells("shutdown")).unwrap();
            })
            .unwrap();
        }
    })
    .unwrap();
    let thread = thread::spawn(move || {
        let mut answer = Vec::new();
        peer.read_to_end(&mut answer).unwrap();
        answer == pattern(MANY)
    });
    run(&lp);
    assert_eq!(trace.take(), ["EOF true", "write ok", "shutdown ok"]);
    assert!(thread.join().unwrap());
}

#[test]
fn both_end_at_about_the_same_time_and_the_run_ends_with_nobody_closed() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let line = trace.clone();
    let serve = move |tcp: &Tcp, name: &'static str| {
        tcp.write("hello", |_, written| written.unwrap()).unwrap();
        tcp.shutdown(line.tells(name)).unwrap();
        let line = line.clone();
        tcp.read_start(move |_, read| line.add(format!("{name} {:?}", read.map(<[u8]>::len)))).unwrap();
    };
    let accepted = serve.clone();
    server
        .listen(1, move |server, _| {
            accepted(&server.accept().unwrap(), "server");
            server.close().unwrap();
        })
        .unwrap();
    let client = Tcp::new(&lp).unwrap();
    client.connect(address, |_, connected| connected.unwrap()).unwrap();
    serve(&client, "client");
    run(&lp);
    let mut lines = trace.take();
    lines.sort();
    let expected = ["client Err(EOF)", "client Ok(5)", "client ok", "server Err(EOF)", "server Ok(5)", "server ok"];
    assert_eq!(lines, expected);
    assert!(!client.is_closing() && !client.is_active());
}

#[test]
fn after_much_traffic_an_idle_connection_costs_nothing() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = connecting(&lp);
    tcp.read_start(|_, _| panic!("nothing is sent")).unwrap();
    turn(&lp);
    // Its send buffer is full and a write waits, so that writability is waited for.
    let total = fill(&tcp) + MANY;
    tcp.write(vec![0; MANY], trace.tells("write")).unwrap();
    let thread = thread::spawn(move || {
        let mut back = vec![0; total];
        peer.read_exact(&mut back).unwrap();
        peer
    });
    run_until(&lp, || trace.len() == 1);
    let _peer = thread.join().unwrap();
    assert_idle(&lp, SECOND);
    assert_eq!((trace.take(), tcp.write_queue_size()), (vec!["write ok".to_string()], 0));
}

#[test]
fn a_connection_that_nobody_reads_costs_nothing_even_with_bytes_waiting_and_the_peer_gone() {
    let lp = new_loop();
    let (tcp, mut peer) = connecting(&lp);
    turn(&lp);
    // It was read before; what comes now waits.
    tcp.read_start(|tcp, _| tcp.read_stop().unwrap()).unwrap();
    peer.write_all(b"x").unwrap();
    run(&lp);
    peer.write_all(b"y").unwrap();
    drop(peer);
    assert_idle(&lp, SECOND);
}
