//! Datagrams are sent and received.

mod common;

use std::cell::{Cell, RefCell};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::rc::Rc;

use common::{DEADLINE, Trace, new_loop, pattern, run, run_until, turn};
use oxuv::{Errno, Handle, LoopRef, Mode, Poll, Udp, UdpBindFlags};

/// EDESTADDRREQ and EMSGSIZE.
const NO_ADDRESS: Errno = Errno::EDESTADDRREQ;
const TOO_LARGE: Errno = Errno::EMSGSIZE;

fn bound(lp: &LoopRef) -> (Udp, SocketAddr) {
    let udp = Udp::new(lp).unwrap();
    udp.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = udp.local_addr().unwrap();
    (udp, address)
}

/// A socket outside of the loop.
fn outside() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = vec![0; 1 << 16];
    let size = socket.recv(&mut buffer).unwrap();
    buffer.truncate(size);
    buffer
}

/// What a handle has received.
type Heap = Rc<RefCell<Vec<Vec<u8>>>>;

fn keep(udp: &Udp) -> Heap {
    let heap = Heap::default();
    let ours = Rc::clone(&heap);
    udp.receive_start(move |_, datagram| ours.borrow_mut().push(datagram.unwrap().bytes.to_vec())).unwrap();
    heap
}

#[test]
fn a_datagram_arrives_with_the_address_of_its_sender() {
    let (lp, (peer, from)) = (new_loop(), outside());
    let (udp, address) = bound(&lp);
    udp.receive_start(move |udp, datagram| {
        let datagram = datagram.unwrap();
        assert_eq!((datagram.bytes, datagram.from), (&b"hello"[..], Some(from)));
        assert!(!datagram.is_truncated && datagram.error.is_none());
        udp.close().unwrap();
    })
    .unwrap();
    assert!(udp.is_active());
    peer.send_to(b"hello", address).unwrap();
    run(&lp);
}

#[test]
fn a_hundred_datagrams_sent_at_once_arrive_and_are_told_in_order() {
    let (lp, trace, (peer, to)) = (new_loop(), Trace::new(), outside());
    let udp = Udp::new(&lp).unwrap();
    for nth in 0..100_u8 {
        udp.send([nth; 64], to, trace.tells(&nth.to_string())).unwrap();
    }
    assert_eq!((udp.send_queue_count(), udp.send_queue_size(), trace.len()), (100, 6400, 0));
    assert_eq!(udp.try_send(b"later", to), Err(Errno::EAGAIN));
    run(&lp);
    assert_eq!(trace.take(), (0..100).map(|nth| format!("{nth} ok")).collect::<Vec<_>>());
    assert_eq!((udp.send_queue_count(), udp.send_queue_size(), udp.is_active()), (0, 0, false));
    for nth in 0..100 {
        assert_eq!(receive(&peer), [nth; 64]);
    }
}

#[test]
fn what_the_system_refuses_at_first_arrives_later_and_in_order() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (ours, peer) = UnixDatagram::pair().unwrap();
    peer.set_nonblocking(true).unwrap();
    let udp = Udp::new(&lp).unwrap();
    udp.open(ours).unwrap();
    assert!(udp.is_connected());
    let count = 2000_u32;
    for nth in 0..count {
        udp.send(nth.to_le_bytes(), None, trace.tells("sent")).unwrap();
    }
    turn(&lp);
    assert!(trace.len() < count as usize && udp.send_queue_count() > 0, "the system has room for everything");
    let got = RefCell::new(Vec::new());
    run_until(&lp, || {
        let mut bytes = [0; 4];
        while peer.recv(&mut bytes).is_ok() {
            got.borrow_mut().push(u32::from_le_bytes(bytes));
        }
        got.borrow().len() == count as usize
    });
    run(&lp);
    assert_eq!(got.take(), (0..count).collect::<Vec<_>>());
    assert_eq!(trace.take(), vec!["sent ok"; count as usize]);
}

#[test]
fn datagrams_may_be_empty_or_as_large_as_the_system_takes() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (server, address) = bound(&lp);
    let heap = keep(&server);
    let client = Udp::new(&lp).unwrap();
    client.send("", address, trace.tells("empty")).unwrap();
    client.send(pattern(65507), address, trace.tells("large")).unwrap();
    client.send(pattern(65508), address, trace.tells("too large")).unwrap();
    client.send("last", address, trace.tells("last")).unwrap();
    run_until(&lp, || heap.borrow().len() == 3 && trace.len() == 4);
    assert_eq!(heap.take(), [Vec::new(), pattern(65507), b"last".to_vec()]);
    assert_eq!(trace.take(), ["empty ok", "large ok", "too large EMSGSIZE", "last ok"]);
    assert_eq!(client.try_send(&pattern(65508), address), Err(TOO_LARGE));
}

#[test]
fn what_does_not_fit_into_the_buffer_is_cut_off() {
    let lp = new_loop();
    let (ours, peer) = UnixDatagram::pair().unwrap();
    let udp = Udp::new(&lp).unwrap();
    udp.open(ours).unwrap();
    udp.receive_start(|udp, datagram| {
        let datagram = datagram.unwrap();
        assert!(datagram.is_truncated && datagram.from.is_none());
        assert!(datagram.bytes == &pattern(100_000)[..65536]);
        udp.close().unwrap();
    })
    .unwrap();
    peer.send(&pattern(100_000)).unwrap();
    run(&lp);
}

#[test]
fn several_are_received_at_a_time_each_by_its_own_call() {
    let (lp, (peer, _)) = (new_loop(), outside());
    let udp = Udp::receiving_several(&lp).unwrap();
    udp.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = udp.local_addr().unwrap();
    let heap = keep(&udp);
    let all: Vec<Vec<u8>> = (0..50).map(|nth| pattern(nth * 20)).collect();
    all.iter().for_each(|bytes| assert_eq!(peer.send_to(bytes, address).unwrap(), bytes.len()));
    run_until(&lp, || heap.borrow().len() == all.len());
    assert!(heap.take() == all);
}

#[test]
fn a_closure_that_stops_or_closes_hears_of_no_other_datagram() {
    for close in [false, true] {
        for several in [false, true] {
            let (lp, (peer, _)) = (new_loop(), outside());
            let udp = if several { Udp::receiving_several(&lp) } else { Udp::new(&lp) }.unwrap();
            udp.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
            for _ in 0..5 {
                peer.send_to(b"more", udp.local_addr().unwrap()).unwrap();
            }
            let (calls, count) = (Rc::new(Cell::new(0)), Cell::new(0));
            let ours = Rc::clone(&calls);
            udp.receive_start(move |udp, _| {
                count.set(count.get() + 1);
                ours.set(count.get());
                if close { udp.close().unwrap() } else { udp.receive_stop().unwrap() }
            })
            .unwrap();
            run(&lp);
            assert_eq!(calls.get(), 1);
        }
    }
}

#[test]
fn sends_that_have_not_gone_are_cancelled_by_close() {
    let (lp, trace, (_peer, to)) = (new_loop(), Trace::new(), outside());
    let udp = Udp::new(&lp).unwrap();
    for name in ["one", "two", "three"] {
        udp.send("abc", to, trace.tells(name)).unwrap();
    }
    let last = trace.clone();
    udp.close_then(move |_: &Handle| last.add("closed")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["one ok", "two ECANCELED", "three ECANCELED", "closed"]);
}

#[test]
fn a_handle_may_close_itself_when_a_send_is_told() {
    let (lp, trace, (_peer, to)) = (new_loop(), Trace::new(), outside());
    let udp = Udp::new(&lp).unwrap();
    udp.send("a", to, |udp, sent| {
        sent.unwrap();
        udp.close().unwrap();
    })
    .unwrap();
    udp.send("b", to, trace.tells("second")).unwrap();
    run(&lp);
    // Both had gone in one go when the first was told.
    assert_eq!(trace.take(), ["second ok"]);
}

#[test]
fn what_is_sent_while_a_send_is_told_follows() {
    let (lp, trace, (peer, to)) = (new_loop(), Trace::new(), outside());
    let (udp, next) = (Udp::new(&lp).unwrap(), trace.tells("second"));
    udp.send("first", to, move |udp, _| udp.send("second", to, next).unwrap()).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["second ok"]);
    assert_eq!((receive(&peer), receive(&peer)), (b"first".to_vec(), b"second".to_vec()));
}

#[test]
fn several_are_sent_at_once_without_being_queued() {
    let (lp, (peer, to)) = (new_loop(), outside());
    let udp = Udp::new(&lp).unwrap();
    let datagrams: Vec<_> = (0..50_u8).map(|nth| ([nth; 10], Some(to))).collect();
    assert_eq!(udp.try_send_several(&datagrams), Ok(50));
    (0..50).for_each(|nth| assert_eq!(receive(&peer), [nth; 10]));
    assert_eq!(udp.try_send_several::<&[u8]>(&[]), Err(Errno::EINVAL));
    // None is sent if one of them cannot be.
    assert_eq!(udp.try_send_several(&[(b"a", Some(to)), (b"b", None)]), Err(NO_ADDRESS));
    udp.try_send(b"c", to).unwrap();
    assert_eq!(receive(&peer), b"c");
}

#[test]
fn a_connected_handle_sends_to_and_hears_from_one_address() {
    let (lp, (peer, to), (other, elsewhere)) = (new_loop(), outside(), outside());
    let (udp, address) = bound(&lp);
    assert_eq!(udp.try_send(b"x", None), Err(NO_ADDRESS));
    assert_eq!(udp.send("x", None, |_, _| panic!("it was refused")), Err(NO_ADDRESS));
    assert_eq!((udp.disconnect(), udp.peer_addr()), (Err(Errno::ENOTCONN), Err(Errno::ENOTCONN)));
    udp.connect(to).unwrap();
    assert_eq!((udp.connect(to), udp.is_connected(), udp.peer_addr()), (Err(Errno::EISCONN), true, Ok(to)));
    assert_eq!(udp.try_send(b"x", elsewhere), Err(Errno::EISCONN));
    assert_eq!(udp.try_send(b"x", None), Ok(1));
    assert_eq!(receive(&peer), b"x");
    let heap = keep(&udp);
    other.send_to(b"not heard", address).unwrap();
    peer.send_to(b"heard", address).unwrap();
    run_until(&lp, || !heap.borrow().is_empty());
    assert_eq!(heap.take(), [b"heard"]);
    udp.disconnect().unwrap();
    assert!(!udp.is_connected());
    // Linux takes a port back that it had chosen itself; sending gives the handle another.
    assert_eq!(udp.try_send(b"y", elsewhere), Ok(1));
    assert_eq!(receive(&other), b"y");
    other.send_to(b"heard, too", udp.local_addr().unwrap()).unwrap();
    run_until(&lp, || !heap.borrow().is_empty());
}

#[test]
fn a_refusal_is_told_to_who_receives() {
    let lp = new_loop();
    let (gone, to) = outside();
    drop(gone);
    let udp = Udp::new(&lp).unwrap();
    udp.connect(to).unwrap();
    udp.receive_start(|udp, datagram| {
        assert_eq!(datagram, Err(Errno::ECONNREFUSED));
        udp.close().unwrap();
    })
    .unwrap();
    udp.send("hello?", None, |_, sent| sent.unwrap()).unwrap();
    run(&lp);
}

#[test]
fn with_errors_asked_for_a_refusal_comes_with_the_datagram_and_who_has_refused() {
    let lp = new_loop();
    let (gone, to) = outside();
    drop(gone);
    let udp = Udp::new(&lp).unwrap();
    let flags = UdpBindFlags { receive_errors: true, ..UdpBindFlags::default() };
    udp.bind_with((Ipv4Addr::LOCALHOST, 0).into(), flags).unwrap();
    let trace = Trace::new();
    let ours = trace.clone();
    udp.receive_start(move |udp, datagram| match datagram {
        Ok(datagram) => {
            assert_eq!((datagram.bytes, datagram.error), (&b"hello?"[..], Some(Errno::ECONNREFUSED)));
            assert_eq!(datagram.from.unwrap().ip(), to.ip());
            ours.add("refused");
            udp.close().unwrap();
        }
        Err(error) => ours.add(format!("{error:?}")),
    })
    .unwrap();
    assert_eq!(udp.try_send(b"hello?", to), Ok(6));
    run(&lp);
    assert_eq!(trace.take(), ["ECONNREFUSED", "refused"]);
}

#[test]
fn an_address_in_use_is_told_by_bind() {
    let lp = new_loop();
    let (_udp, address) = bound(&lp);
    let other = Udp::new(&lp).unwrap();
    assert_eq!(other.bind(address), Err(Errno::EADDRINUSE));
    assert_eq!(other.bind((Ipv4Addr::LOCALHOST, 0).into()), Ok(()));
    assert_eq!(other.bind((Ipv4Addr::LOCALHOST, 0).into()), Err(Errno::EINVAL));
    let flags = UdpBindFlags { ipv6_only: true, ..UdpBindFlags::default() };
    assert_eq!(Udp::new(&lp).unwrap().bind_with((Ipv4Addr::LOCALHOST, 0).into(), flags), Err(Errno::EINVAL));
}

#[test]
fn an_address_may_be_shared_by_those_who_ask_for_it() {
    let lp = new_loop();
    let by_address = UdpBindFlags { reuse_address: true, ..UdpBindFlags::default() };
    let by_port = UdpBindFlags { reuse_port: true, ..UdpBindFlags::default() };
    for flags in [by_address, by_port] {
        let (one, two, three) = (Udp::new(&lp).unwrap(), Udp::new(&lp).unwrap(), Udp::new(&lp).unwrap());
        one.bind_with((Ipv4Addr::LOCALHOST, 0).into(), flags).unwrap();
        let address = one.local_addr().unwrap();
        assert_eq!(two.bind_with(address, flags), Ok(()));
        assert_eq!(three.bind(address), Err(Errno::EADDRINUSE));
    }
}

#[test]
fn sending_and_receiving_bind_a_handle_that_is_not_bound() {
    let (lp, (_peer, to)) = (new_loop(), outside());
    for bind in [
        |udp: &Udp, to| udp.try_send(b"x", to).map(drop),
        |udp: &Udp, to| udp.send("x", to, |_, _| {}),
        |udp: &Udp, to| udp.try_send_several(&[("x", Some(to))]).map(drop),
        |udp: &Udp, _| udp.receive_start(|_, _| {}),
        |udp: &Udp, to| udp.connect(to),
    ] {
        let udp = Udp::new(&lp).unwrap();
        assert_eq!(udp.local_addr(), Err(Errno::EBADF));
        bind(&udp, to).unwrap();
        assert_ne!(udp.local_addr().unwrap().port(), 0);
        udp.close().unwrap();
    }
    run(&lp);
}

#[test]
fn a_socket_made_elsewhere_is_taken_over() {
    let (lp, (peer, to), (ours, address)) = (new_loop(), outside(), outside());
    let udp = Udp::new(&lp).unwrap();
    udp.open(ours).unwrap();
    assert_eq!((udp.local_addr(), udp.is_connected()), (Ok(address), false));
    assert_eq!(udp.open(outside().0), Err(Errno::EBUSY));
    assert_eq!(udp.try_send(b"x", to), Ok(1));
    assert_eq!(receive(&peer), b"x");
    let other = Udp::new(&lp).unwrap();
    assert_eq!(other.open(std::fs::File::open("/dev/null").unwrap()), Err(Errno::ENOTSOCK));
    assert_eq!(other.open(UnixStream::pair().unwrap().0), Err(Errno::EPROTOTYPE));
    assert_eq!(other.open(std::net::TcpListener::bind("127.0.0.1:0").unwrap()), Err(Errno::EPROTOTYPE));
    let connected = outside().0;
    connected.connect(to).unwrap();
    other.open(connected).unwrap();
    assert_eq!((other.is_connected(), other.peer_addr()), (true, Ok(to)));
}

#[test]
fn one_descriptor_is_watched_by_one_handle() {
    let lp = new_loop();
    let (socket, _) = outside();
    let poll = Poll::new(&lp, &socket).unwrap();
    poll.start(oxuv::Readiness::READ, |_, _| {}).unwrap();
    // Only one of them may close it: a handle that could not take it closes what it was given.
    let udp = Udp::new(&lp).unwrap();
    assert_eq!(udp.open(socket), Err(Errno::EEXIST));
    poll.close().unwrap();
}

#[test]
fn receiving_twice_and_after_close_is_refused() {
    let lp = new_loop();
    let (udp, to) = bound(&lp);
    udp.receive_start(|_, _| {}).unwrap();
    assert_eq!(udp.receive_start(|_, _| {}), Err(Errno::EALREADY));
    assert_eq!((udp.receive_stop(), udp.receive_stop(), udp.is_active()), (Ok(()), Ok(()), false));
    udp.receive_start(|_, _| {}).unwrap();
    udp.close().unwrap();
    assert_eq!(udp.close(), Err(Errno::EINVAL));
    assert_eq!(udp.receive_start(|_, _| {}), Err(Errno::EINVAL));
    assert_eq!(udp.send("x", to, |_, _| {}), Err(Errno::EINVAL));
    assert_eq!(udp.try_send(b"x", to), Err(Errno::EINVAL));
    assert_eq!((udp.connect(to), udp.bind(to)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
    run(&lp);
    assert_eq!(udp.local_addr(), Err(Errno::EINVAL));
    assert!(lp.run(Mode::NoWait).is_ok());
}

#[test]
fn a_panic_in_a_closure_loses_no_send() {
    let (lp, trace, (peer, to)) = (new_loop(), Trace::new(), outside());
    let udp = Udp::new(&lp).unwrap();
    udp.send("a", to, |_, _| panic!("on purpose")).unwrap();
    udp.send("b", to, trace.tells("b")).unwrap();
    assert_eq!(common::panic_of(|| lp.run(Mode::Default)), "on purpose");
    run(&lp);
    assert_eq!(trace.take(), ["b ok"]);
    assert_eq!((receive(&peer), receive(&peer)), (b"a".to_vec(), b"b".to_vec()));
}

#[test]
fn ipv6_works_where_there_is_ipv6() {
    let lp = new_loop();
    let server = Udp::new(&lp).unwrap();
    let flags = UdpBindFlags { ipv6_only: true, ..UdpBindFlags::default() };
    if server.bind_with(([0, 0, 0, 0, 0, 0, 0, 1], 0).into(), flags).is_err() {
        println!("left out: there is no IPv6 here");
        return;
    }
    let heap = keep(&server);
    let client = Udp::new(&lp).unwrap();
    client.send("six", server.local_addr().unwrap(), |_, sent| sent.unwrap()).unwrap();
    run_until(&lp, || !heap.borrow().is_empty());
    assert!(client.local_addr().unwrap().is_ipv6());
}
