//! Options of sockets: sending small writes at once, and probing idle connections.

mod common;

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

use common::{connect, new_loop, pair, run, wait_until};
use oxuv::{Errno, Keepalive, Loop, Tcp};
use rustix::net::sockopt;

const TIMES: Keepalive = Keepalive { idle: 77, interval: 11, count: 5 };

/// A connected socket, and its peer.
fn socket() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = connect(listener.local_addr().unwrap());
    let peer = listener.accept().unwrap().0;
    (socket, peer)
}

/// A handle with a socket, another descriptor of that socket, to look at, and its peer.
fn handle(lp: &Loop) -> (Tcp, TcpStream, TcpStream) {
    let (socket, peer) = socket();
    let tcp = Tcp::new(lp).unwrap();
    tcp.open(socket.try_clone().unwrap()).unwrap();
    (tcp, socket, peer)
}

fn keepalive_of(socket: &TcpStream) -> Option<Keepalive> {
    sockopt::socket_keepalive(socket).unwrap().then(|| Keepalive {
        idle: sockopt::tcp_keepidle(socket).unwrap().as_secs() as u32,
        interval: sockopt::tcp_keepintvl(socket).unwrap().as_secs() as u32,
        count: sockopt::tcp_keepcnt(socket).unwrap(),
    })
}

#[test]
fn nodelay_is_set_on_the_socket() {
    let lp = new_loop();
    let (tcp, socket, _peer) = handle(&lp);
    assert!(!socket.nodelay().unwrap());
    for on in [true, true, false, false, true] {
        tcp.set_nodelay(on).unwrap();
        assert_eq!(socket.nodelay().unwrap(), on);
    }
}

#[test]
fn nodelay_is_remembered_until_there_is_a_socket() {
    let lp = new_loop();
    for (asked, expected) in [(&[true][..], true), (&[true, false], false), (&[], false)] {
        let (socket, _peer) = socket();
        let tcp = Tcp::new(&lp).unwrap();
        for &on in asked {
            tcp.set_nodelay(on).unwrap();
        }
        tcp.open(socket.try_clone().unwrap()).unwrap();
        assert_eq!(socket.nodelay().unwrap(), expected, "{asked:?}");
    }
}

#[test]
fn keepalive_and_its_times_are_set_on_the_socket() {
    let lp = new_loop();
    let (tcp, socket, _peer) = handle(&lp);
    assert_eq!(keepalive_of(&socket), None);
    let others = Keepalive { idle: 1, interval: 32767, count: 127 };
    for wanted in [Some(TIMES), Some(others), None, Some(TIMES)] {
        tcp.set_keepalive(wanted).unwrap();
        assert_eq!(keepalive_of(&socket), wanted);
    }
}

#[test]
fn keepalive_is_remembered_until_there_is_a_socket() {
    let lp = new_loop();
    for (asked, expected) in [(&[Some(TIMES)][..], Some(TIMES)), (&[Some(TIMES), None], None)] {
        let (socket, _peer) = socket();
        let tcp = Tcp::new(&lp).unwrap();
        for &keepalive in asked {
            tcp.set_keepalive(keepalive).unwrap();
        }
        tcp.open(socket.try_clone().unwrap()).unwrap();
        assert_eq!(keepalive_of(&socket), expected);
    }
}

#[test]
fn numbers_out_of_range_are_einval_without_effect() {
    let lp = new_loop();
    let (tcp, socket, _peer) = handle(&lp);
    let fresh = Tcp::new(&lp).unwrap();
    let bad = [
        Keepalive { idle: 0, ..TIMES },
        Keepalive { interval: 0, ..TIMES },
        Keepalive { count: 0, ..TIMES },
        Keepalive { idle: 32768, ..TIMES },
        Keepalive { interval: 32768, ..TIMES },
        Keepalive { count: 128, ..TIMES },
        Keepalive { idle: u32::MAX, interval: u32::MAX, count: u32::MAX },
    ];
    for before in [None, Some(TIMES)] {
        tcp.set_keepalive(before).unwrap();
        for keepalive in bad {
            assert_eq!(tcp.set_keepalive(Some(keepalive)), Err(Errno::EINVAL), "{keepalive:?}");
            assert_eq!(keepalive_of(&socket), before);
            assert_eq!(fresh.set_keepalive(Some(keepalive)), Err(Errno::EINVAL), "{keepalive:?}");
        }
    }
}

#[test]
fn a_closing_handle_has_no_options() {
    let lp = new_loop();
    let (tcp, _peer) = pair(&lp);
    tcp.close().unwrap();
    for _ in 0..2 {
        assert_eq!(tcp.set_nodelay(true), Err(Errno::EINVAL));
        assert_eq!(tcp.set_keepalive(None), Err(Errno::EINVAL));
        run(&lp);
    }
}

#[test]
fn a_socket_that_connect_makes_gets_what_was_asked_for_before() {
    let lp = new_loop();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for keepalive in [None, Some(TIMES)] {
        let tcp = Tcp::new(&lp).unwrap();
        tcp.set_nodelay(true).unwrap();
        tcp.set_keepalive(keepalive).unwrap();
        tcp.connect(listener.local_addr().unwrap(), |_, connected| connected.unwrap()).unwrap();
        run(&lp);
        let ends = (tcp.local_addr().unwrap().port(), tcp.peer_addr().unwrap().port());
        wait_until(|| has_keepalive_timer(ends) == Some(keepalive.is_some()));
    }
}

/// Whether the kernel's table of connections says that the one between these ports is to be probed some day.
fn has_keepalive_timer((ours, theirs): (u16, u16)) -> Option<bool> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let ends = format!(" 0100007F:{ours:04X} 0100007F:{theirs:04X} ");
    let line = table.lines().find(|line| line.contains(&ends))?;
    Some(line.split_whitespace().nth(5)?.starts_with("02:"))
}

#[test]
fn a_socket_that_has_not_the_option_is_refused_and_closed_and_another_can_follow() {
    let lp = new_loop();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.set_nodelay(true).unwrap();
    let (ours, mut peer) = UnixStream::pair().unwrap();
    assert_eq!(tcp.open(ours).unwrap_err().name(), Some("ENOTSUP"));
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    let (socket, _peer) = socket();
    tcp.open(socket.try_clone().unwrap()).unwrap();
    assert!(socket.nodelay().unwrap() && tcp.is_readable());
}
